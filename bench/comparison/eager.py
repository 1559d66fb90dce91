# SPDX-License-Identifier: Apache-2.0
"""The part `eager` of against_torch.py: results, traces and times against PyTorch eager."""
import os, statistics, subprocess
import torch
from recorded import kernel_times, record_ours, table_of
from .blocks import DEVICE, DTYPE, Glu
from .our_program import our_block, ours
from .timing import issue_us, wall_us
from .torch_traces import count_kernels_with_torch, record_torch

GELU_COUNT = 8192 * 3072


def is_gemm(name):
    return "epi" not in name and "at::native" not in name and "triton" not in name


def eager_traces(args, claims, kind, module, x, annotation, per_forward):
    mine, theirs = (os.path.join(args.out, f"{who}_{kind}.json") for who in ("ours", "pytorch"))
    own = record_ours(args, kind, mine)
    their_table = record_torch(module, x, annotation, theirs)
    our_table, other = table_of(args, mine), kernel_times(theirs)
    count = sum(map(len, own.values())) / 3
    claims.add(f"{kind}: kernels per forward in our trace", count, count == per_forward)
    gemms, their_gemms = ({n for n in times if is_gemm(n)} for times in (own, other))
    claims.add(f"{kind}: GEMM kernels that are also in PyTorch's trace", len(gemms & their_gemms),
               gemms <= their_gemms, ours=sorted(gemms), torch=sorted(their_gemms))
    for name in sorted(gemms & their_gemms):
        a, b = statistics.median(own[name]), statistics.median(other[name])
        spread = max(max(own[name]) - min(own[name]), max(other[name]) - min(other[name]), 0.05 * b)
        claims.add(f"{kind}: {name} us, ours over PyTorch's", a / b, abs(a - b) <= spread,
                   ours=sorted(own[name]), torch=sorted(other[name]))
        claims.add(f"{kind}: the same in both profilers' tables", our_table[name] / their_table[name],
                   abs(our_table[name] - their_table[name]) <= spread)
    found = count_kernels_with_torch(mine)
    claims.add(f"{kind}: kernels that PyTorch's trace reader finds in our trace", found,
               found == sum(map(len, own.values())))
    rules = ["aten::t: gpu_time == 0", f"{annotation}: kernels == {per_forward}"]
    for arguments in (["compare", mine, theirs], ["expect", mine, *rules]):
        out = subprocess.run([f"{args.bin}/epilogue", *arguments], capture_output=True, text=True)
        claims.note("\n".join("    " + line for line in (out.stdout + out.stderr).splitlines()[:24]))
    claims.add(f"{kind}: expect on our trace, exit code", out.returncode, out.returncode == 0)


def eager(args, claims):
    linear = torch.nn.Linear(32, 64).to(DEVICE, DTYPE)
    x = torch.randn(1024, 32, device=DEVICE, dtype=DTYPE)
    times = our_block(args, claims, "linear", linear, x, "linear 1024x32x64")["eager"]
    claims.add("linear 1024x32x64: us of host time per forward", times["issue_us"], times["issue_us"] <= 8,
               torch=issue_us(lambda: linear(x)), ours=times)
    eager_traces(args, claims, "linear", linear, x, "linear_fwd", 1)
    for rows, dim, hidden, limit in ((8192, 768, 3072, 1.0), (128, 64, 256, 0.4)):
        mlp = Glu(dim, hidden).to(DEVICE, DTYPE).eval()
        x = torch.randn(rows, dim, device=DEVICE, dtype=DTYPE)
        label = f"mlp {rows}x{dim}x{hidden}"
        times = our_block(args, claims, "geglu", mlp, x, label)["eager"]
        wall = wall_us(lambda: mlp(x))
        claims.add(f"{label}: wall over PyTorch eager's", times["wall_us"] / wall[0],
                   times["wall_us"] <= limit * wall[0], limit=limit, ours=times, torch=wall,
                   torch_issue=issue_us(lambda: mlp(x)))
        if rows == 8192:
            eager_traces(args, claims, "mlp", mlp, x.view(64, 128, 768), "mlp_fwd", 5)
    times = ours(args, "gelu", GELU_COUNT)
    source = torch.randn(GELU_COUNT, device=DEVICE, dtype=DTYPE)
    target = torch.empty_like(source)
    copy = wall_us(lambda: target.copy_(source))
    gelu = wall_us(lambda: torch.nn.functional.gelu(source, approximate="tanh"))
    claims.add("gelu over 25 M bf16: bandwidth over PyTorch's copy", copy[0] / times["gelu_us"],
               copy[0] >= 0.9 * times["gelu_us"], ours=times, torch_copy=copy, torch_gelu=gelu)
