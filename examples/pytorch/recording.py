# SPDX-License-Identifier: Apache-2.0
"""Flags and recording, shared by the programs in this folder."""
import argparse
import os
import sys

import torch
from torch.profiler import ProfilerActivity, profile, record_function, schedule

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}


def parser(about):
    flags = argparse.ArgumentParser(description=about)
    flags.add_argument("--dtype", choices=DTYPES, help="f32 (default on the CPU), bf16 (default on CUDA) or f16")
    flags.add_argument("--device", choices=["auto", "cpu", "cuda"], default="auto", help="auto uses the GPU if there is one")
    flags.add_argument("--steps", type=steps, default="1,1,3", metavar="N,N,N", help="wait,warmup,active (1,1,3)")
    flags.add_argument("--warmup", type=positive, default=3, metavar="N", help="forwards before recording starts (3)")
    flags.add_argument("--trace", metavar="FILE", help="write the trace (.json or .json.gz) and, beside it, its table")
    return flags


def add_compile(flags):
    flags.add_argument("--compile", action="store_true", help="use torch.compile")
    flags.add_argument("--mode", help="mode of torch.compile; reduce-overhead replays CUDA graphs")


def sizes(flags, **defaults):
    """Adds a flag per size, in both spellings: --in-dim and --in_dim."""
    for name, value in defaults.items():
        words = sorted({"--" + name.replace("_", "-"), "--" + name})
        flags.add_argument(*words, type=positive, default=value, metavar="N", help=f"({value})")


def positive(text):
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text}: must be an integer of at least 1")
    return int(text)


def steps(text):
    numbers = text.split(",")
    if len(numbers) != 3 or not all(number.isdecimal() for number in numbers) or int(numbers[2]) < 1:
        raise argparse.ArgumentTypeError(f"{text}: needs three numbers, wait,warmup,active, the last at least 1")
    return [int(number) for number in numbers]


def parse(flags):
    """Parses the arguments and fills in the device and the dtype. Exits with 2 if they cannot run here."""
    args = flags.parse_args()
    if args.device == "auto":
        args.device = "cuda" if torch.cuda.is_available() else "cpu"
    if args.device == "cuda" and not torch.cuda.is_available():
        flags.error("--device cuda: PyTorch did not find a GPU")
    args.dtype = DTYPES[args.dtype or ("bf16" if args.device == "cuda" else "f32")]
    if args.dtype == torch.float16 and args.device == "cpu" and not hasattr(torch, "compile"):
        flags.error("--dtype f16: PyTorch 1 has no f16 GEMM on the CPU")
    if args.trace and not os.path.isdir(os.path.dirname(os.path.abspath(args.trace))):
        flags.error(f"--trace {args.trace}: the folder does not exist")
    if getattr(args, "mode", None) and not args.compile:
        flags.error(f"--mode {args.mode}: needs --compile")
    if getattr(args, "compile", False) and not hasattr(torch, "compile"):
        flags.error(f"--compile: needs PyTorch 2.0 or later, found {torch.__version__}")
    return args


def compiled(function, args):
    return torch.compile(function, mode=args.mode) if args.compile else function


def record(annotation, function, args):
    """Runs `function` on the profiler's schedule, annotates each call, prints the table and writes the trace."""
    with torch.no_grad():
        for _ in range(args.warmup):
            function()
        wait, warmup, active = args.steps
        activities = [ProfilerActivity.CPU]
        if args.device == "cuda":
            activities.append(ProfilerActivity.CUDA)
            torch.cuda.synchronize()
        with profile(
            activities=activities,
            record_shapes=True,
            schedule=schedule(wait=wait, warmup=warmup, active=active),
        ) as profiler:
            for _ in range(wait + warmup + active):
                with record_function(annotation):
                    function()
                profiler.step()
    sort = "cuda_time_total" if args.device == "cuda" else "self_cpu_time_total"
    table = profiler.key_averages().table(sort_by=sort, row_limit=100)
    print(table)
    if args.trace:
        profiler.export_chrome_trace(args.trace)
        name = args.trace[: -len(".gz")] if args.trace.endswith(".gz") else args.trace
        with open(name[: -len(".json")] + ".txt" if name.endswith(".json") else name + ".txt", "w") as file:
            file.write(table + "\n")
        print(args.trace, file=sys.stderr)
