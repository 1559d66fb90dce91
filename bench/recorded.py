# SPDX-License-Identifier: Apache-2.0
"""Kernel times from traces written by Epilogue or by PyTorch's profiler."""
import json, subprocess


def kernel_times(path):
    times = {}
    for event in json.load(open(path))["traceEvents"]:
        if event.get("cat") == "kernel":
            times.setdefault(event["name"], []).append(event["dur"])
    return times


def record_ours(args, kind, path, *flags):
    command = [f"{args.bin}/epilogue", "run", kind, "--device", "cuda", "--trace", path, *flags]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return kernel_times(path)


def table_of(args, path):
    command = [f"{args.bin}/epilogue", "table", path, "--json"]
    rows = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["rows"]
    return {row["name"]: row["self_device_us"] / row["calls"] for row in rows
            if row["lane"] == "device" and not row["annotation"]}
