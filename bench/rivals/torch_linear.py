# SPDX-License-Identifier: Apache-2.0
"""Multiplies with PyTorch on request of torch_rival.cpp.

Reads "prepare DTYPE ROWS INPUTS OUTPUTS" and answers "yes" or "no"; reads "run CALLS" and answers with the nanoseconds
of one call. Usage: torch_linear.py THREADS
"""

import sys
import time

import torch

TYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}


def prepare(dtype, rows, inputs, outputs):
    x = torch.randn(rows, inputs).to(TYPES[dtype])
    w = torch.randn(outputs, inputs).to(TYPES[dtype])
    try:
        torch.nn.functional.linear(x, w)
    except RuntimeError:
        return None
    return x, w


def run(matrices, calls):
    x, w = matrices
    torch.nn.functional.linear(x, w)
    start = time.perf_counter_ns()
    for _ in range(calls):
        torch.nn.functional.linear(x, w)
    return (time.perf_counter_ns() - start) / calls


def main():
    torch.set_num_threads(int(sys.argv[1]))
    print(f"PyTorch {'.'.join(torch.__version__.split('.')[:2])}", flush=True)
    matrices = None
    with torch.no_grad():
        for line in sys.stdin:
            command, *arguments = line.split()
            if command == "prepare":
                matrices = prepare(arguments[0], *map(int, arguments[1:]))
                print("no" if matrices is None else "yes", flush=True)
            else:
                print(run(matrices, int(arguments[0])), flush=True)


if __name__ == "__main__":
    main()
