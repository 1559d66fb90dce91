# SPDX-License-Identifier: Apache-2.0
"""Runs gpu_forward on the weights and the input of a PyTorch module."""
import json, os, subprocess, sys
from safetensors.torch import load_file, save_file
from .blocks import DEVICE, exact, relative_error


def ours(args, kind, *rest):
    command = [f"{args.bin}/gpu_forward", kind, *map(str, rest)]
    out = subprocess.run(command, capture_output=True, text=True)
    if out.returncode != 0:
        sys.exit(f"gpu_forward {kind}: {out.stderr}")
    return json.loads(out.stdout)


def save_weights(module, path):
    save_file({k: v.contiguous() for k, v in module.state_dict().items()}, path)


def saved_block(args, module, x, label):
    """Saves the weights and the input. Returns their paths, and the path for the results."""
    paths = [os.path.join(args.out, f"{label}_{name}.safetensors")
             for name in ("weights", "input", "output")]
    save_weights(module, paths[0])
    save_file({"x": x.contiguous()}, paths[1])
    return paths


def our_block(args, claims, kind, module, x, label):
    """Compares our results with PyTorch's and with float64, and returns our times."""
    paths = saved_block(args, module, x, label)
    times = ours(args, kind, *paths)
    results = {name: y.to(DEVICE) for name, y in load_file(paths[-1]).items()}
    for path in paths:
        os.remove(path)
    theirs, exact_result = module(x), exact(module, x)
    their_error = relative_error(theirs, exact_result)
    for mode, got in results.items():
        # Both sides round to bf16 at most once per GEMM and once per pointwise operator. Our error may exceed
        # theirs by at most a tenth. The two results differ only by rounding, and the rounding errors are
        # independent, so they add up like the errors of two measurements.
        error, difference = relative_error(got, exact_result), relative_error(got, theirs.double())
        claims.add(f"{label} {mode}: error against float64 over PyTorch's", error / their_error,
                   error <= 1.1 * their_error, ours=error, torch=their_error,
                   equal=(got == theirs).double().mean().item())
        expected = (error ** 2 + their_error ** 2) ** 0.5
        claims.add(f"{label} {mode}: difference from PyTorch over both errors", difference / expected,
                   difference <= 1.05 * expected)
    return times
