#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sums up the collectives of a folder of traces, as an independent check of collectives_test.cpp.

    python3 tests/analysis/collectives_of_ranks.py FOLDER

A kernel belongs to the innermost annotation `nccl:...` around the call with its correlation id. Prints, for each
annotation, the number of kernels, the bytes of its inputs, and the time of the kernels in microseconds.
"""
import gzip
import json
import math
import pathlib
import sys

BYTES = {"float": 4, "double": 8, "c10::Half": 2, "c10::BFloat16": 2, "long": 8, "long int": 8, "int": 4,
         "signed char": 1, "unsigned char": 1, "bool": 1}


def sums_of(path, sums):
    opened = gzip.open(path, "rt") if path.suffix == ".gz" else open(path, encoding="utf-8")
    with opened as file:
        events = [event for event in json.load(file)["traceEvents"] if event.get("ph") == "X"]
    calls = {event["args"]["correlation"]: event for event in events
             if event.get("cat") == "cuda_runtime" and "correlation" in event.get("args", {})}
    annotations = [event for event in events if event["name"].startswith("nccl:")]
    for kernel in events:
        if kernel.get("cat") != "kernel" or not kernel["name"].startswith("nccl"):
            continue
        call = calls[kernel["args"]["correlation"]]
        around = [a for a in annotations if a["tid"] == call["tid"] and a["ts"] <= call["ts"]
                  and call["ts"] + call["dur"] <= a["ts"] + a["dur"]]
        annotation = min(around, key=lambda event: event["dur"])
        inputs = zip(annotation["args"]["Input Dims"], annotation["args"]["Input type"])
        entry = sums.setdefault(annotation["name"], [0, 0, 0])
        entry[0] += 1
        entry[1] += sum(math.prod(dims) * BYTES[kind] for dims, kind in inputs)
        entry[2] += kernel["dur"]


def main():
    sums = {}
    for path in sorted(pathlib.Path(sys.argv[1]).iterdir()):
        sums_of(path, sums)
    for name, (count, size, time) in sorted(sums.items()):
        print(name, count, size, time)


if __name__ == "__main__":
    main()
