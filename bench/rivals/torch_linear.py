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
    """A call without arguments that multiplies once, or None."""
    x = torch.randn(rows, inputs)
    w = torch.randn(outputs, inputs)
    try:
        if dtype == "i8":
            layer = torch.nn.Sequential(torch.nn.Linear(inputs, outputs, bias=False))
            layer = torch.ao.quantization.quantize_dynamic(layer, {torch.nn.Linear}, dtype=torch.qint8)
            multiply = lambda: layer(x)
        else:
            x, w = x.to(TYPES[dtype]), w.to(TYPES[dtype])
            multiply = lambda: torch.nn.functional.linear(x, w)
        multiply()
    except RuntimeError:
        return None
    return multiply


def run(multiply, calls):
    multiply()
    start = time.perf_counter_ns()
    for _ in range(calls):
        multiply()
    return (time.perf_counter_ns() - start) / calls


def main():
    torch.set_num_threads(int(sys.argv[1]))
    print(f"PyTorch {'.'.join(torch.__version__.split('.')[:2])}", flush=True)
    multiply = None
    with torch.no_grad():
        for line in sys.stdin:
            command, *arguments = line.split()
            if command == "prepare":
                multiply = prepare(arguments[0], *map(int, arguments[1:]))
                print("no" if multiply is None else "yes", flush=True)
            else:
                print(run(multiply, int(arguments[0])), flush=True)


if __name__ == "__main__":
    main()
