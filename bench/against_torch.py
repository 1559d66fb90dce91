#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares Epilogue with PyTorch on one GPU, in one run: results, kernels, times.

    python3 bench/against_torch.py [--bin build/cuda/bin] [--out FOLDER] [--json] [PART...]

Parts: eager (results, traces and times against eager), modes (a table of all modes over the shapes in
comparison/modes.py), sweep (one compiled MLP over many sizes), rates (our fused kernel against a cuBLASLt GEMM of the
same size), prebuilt (epilogue/glu). The default is all of them. Both sides get the same safetensors weights and
inputs and cycle through four input buffers. Times are medians of nine rounds of 20 ms, 50 ms apart. For every shape
but the last, the memory accessed between two uses of a buffer exceeds the L2.
Prints one line per claim and writes traces and figures.json to FOLDER. Exits with 1 if a claim does not hold.
"""
import argparse, json, os, sys
import torch
from comparison.claims import Claims
from comparison.eager import eager
from comparison.modes import modes
from comparison.rates import rates
from comparison.sweep import sweep
from prebuilt_glu import prebuilt

PARTS = {"eager": eager, "modes": modes, "sweep": sweep, "rates": rates, "prebuilt": prebuilt}


@torch.no_grad()
def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=[])
    parser.add_argument("--bin", default="build/cuda/bin")
    parser.add_argument("--out", default="build/against_torch")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of lines")
    parser.add_argument("--quick", action="store_true",
                        help="skip max-autotune for the largest shapes, which takes half a minute each")
    # At its power limit a GPU runs every GEMM at the same speed.
    parser.add_argument("--pause", type=int, default=50,
                        help="milliseconds before each round; 0 measures at the GPU's power limit")
    args = parser.parse_args()
    os.environ["EPI_PAUSE_MS"] = str(args.pause)  # also read by gpu_forward
    os.makedirs(args.out, exist_ok=True)
    torch.manual_seed(0)
    claims = Claims(args.json)
    claims.note(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, CUDA {torch.version.cuda}")
    for part in args.parts or PARTS:
        PARTS[part](args, claims)
    json.dump(claims.figures, open(os.path.join(args.out, "figures.json"), "w"), indent=1)
    if args.json:
        print(json.dumps({"schema": 1, "device": torch.cuda.get_device_name(), "claims": claims.figures}))
    claims.note(f"{len(claims.figures)} claims, {claims.broken} broken")
    sys.exit(1 if claims.broken else 0)


if __name__ == "__main__":
    main()
