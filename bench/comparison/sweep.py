# SPDX-License-Identifier: Apache-2.0
"""The part `sweep` of against_torch.py: one compiled MLP over many numbers of rows."""
import os
import torch
from .blocks import DEVICE, DTYPE, Glu
from .our_program import ours, save_weights
from .timing import wall_us

SWEEP = [1, 2, 3, 7, 16, 33, 64, 100, 128, 512, 1000, 2048, 4096, 8192]


def sweep(args, claims):
    mlp = Glu(768, 3072).to(DEVICE, DTYPE).eval()
    path = os.path.join(args.out, "sweep.safetensors")
    save_weights(mlp, path)
    result = ours(args, "sweep", path, ",".join(map(str, SWEEP)))
    os.remove(path)
    torch._dynamo.reset()
    dynamic = torch.compile(mlp, dynamic=True)
    claims.note("            M   ours compiled us   torch.compile(dynamic=True) us")
    for row in result["sizes"]:
        x = torch.randn(row["m"], 768, device=DEVICE, dtype=DTYPE)
        theirs = wall_us(lambda: dynamic(x))
        claims.note(f"       {row['m']:6d}   {row['wall_us']:16.1f}   {theirs[0]:18.1f}")
        # Eager's error is 1.0 * 2^-8 and ours 0.6 * 2^-8 (see `modes`), 1.17 * 2^-8 combined.
        claims.add(f"M {row['m']}: difference from eager over bf16 rounding", row["difference"] * 256,
                   row["difference"] <= 1.3 * 2 ** -8, ours=row["wall_us"], torch=theirs)
    claims.add("recompiles over all M", result["recompiles"], result["recompiles"] == 0)
