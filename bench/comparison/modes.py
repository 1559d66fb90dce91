# SPDX-License-Identifier: Apache-2.0
"""The part `modes` of against_torch.py: all modes of both sides over several shapes, and Triton."""
import json, os, statistics, tempfile
import torch
from recorded import kernel_times, record_ours
from triton_glu import TritonGlu
from .blocks import DEVICE, DTYPE, Glu, exact, relative_error
from .our_program import our_block, ours, save_weights, saved_block
from .timing import wall_us
from .torch_modes import measure_torch
from .torch_traces import record_torch

# Rows, width, hidden width, activation, and the maximum of our time over that of PyTorch's best mode.
SHAPES = [(8192, 768, 3072, "geglu", 0.78), (8192, 2048, 16384, "geglu", 0.90),
          (4096, 4096, 14336, "swiglu", 0.96), (16, 4096, 14336, "swiglu", 0.95),
          (1, 4096, 14336, "swiglu", 0.97), (128, 64, 256, "geglu", 0.8)]
MAX_OF_TRITON = 0.98  # maximum of our time over Triton's fused kernel plus cuBLAS for down, for many rows


def modes(args, claims):
    for rows, dim, hidden, activation, limit in SHAPES:
        mlp = Glu(dim, hidden, activation).to(DEVICE, DTYPE).eval()
        x = torch.randn(rows, dim, device=DEVICE, dtype=DTYPE)
        label = f"{activation} {rows}x{dim}x{hidden}"
        times = our_block(args, claims, activation, mlp, x, label)
        for name, figure in times.items():
            claims.note(f"       {label} ours {name}: wall {figure['wall_us']:.1f} us, issue "
                        f"{figure['issue_us']:.1f} us, first call {figure['first_call_ms']:.0f} ms")
        theirs = measure_torch(mlp, x, label, claims, args.quick)
        best = min(figure["wall_us"] for figure in theirs.values())
        fastest = min(("compile", "graph"), key=lambda mode: times[mode]["wall_us"])
        ratio = times[fastest]["wall_us"] / best
        claims.add(f"{label}: ours ({fastest}) over PyTorch's best", ratio, ratio <= limit,
                   limit=limit, best=best, ours=times, torch=theirs)
        if rows >= 4096:
            triton_claim(args, claims, mlp, x, label, activation)
        if dim == 768:
            ratio = times["pointwise"]["wall_us"] / best
            claims.add(f"{label}: ours with cuBLASLt's GEMMs (4 kernels) over PyTorch's best",
                       ratio, ratio <= 1.02)
            host_claims(args, claims, label, times, mlp)
            fused_kernel(args, claims, mlp, x)
            matmul_add(args, claims)


def triton_claim(args, claims, mlp, x, label, activation):
    """Measures ours before and after Triton, because the GPU's clock depends on its temperature."""
    triton = TritonGlu(mlp, x, lambda body: wall_us(body, 2)[0])
    error = relative_error(triton(x), exact(mlp, x))
    paths = saved_block(args, mlp, x, label)
    ours_us = lambda: ours(args, activation, *paths)["compile"]["wall_us"]
    before, theirs, after = ours_us(), wall_us(lambda: triton(x)), ours_us()
    for path in paths:
        os.remove(path)
    ratio = (before + after) / 2 / theirs[0]
    claims.add(f"{label}: ours over Triton's fused kernel and cuBLAS", ratio, ratio <= MAX_OF_TRITON,
               ours=[before, after], triton=theirs, error=error, config=triton.config)


def host_claims(args, claims, label, times, mlp):
    for mode, limit in (("compile", 25), ("graph", 6)):
        issue = times[mode]["issue_us"]
        claims.add(f"{label} {mode}: us of host time per forward", issue, issue <= limit, limit=limit)
    path = os.path.join(args.out, "first.safetensors")
    save_weights(mlp, path)
    with tempfile.TemporaryDirectory() as cache:
        os.environ["EPILOGUE_CACHE"] = cache
        fresh, cached = ours(args, "first", path), ours(args, "first", path)
        del os.environ["EPILOGUE_CACHE"]
    os.remove(path)
    first = fresh["first_call_ms"]
    claims.add(f"{label}: ms of the first compiled call", first,
               first <= 400 and not fresh["from_cache"], limit=400)
    claims.add(f"{label}: ms of the first call with cached code", cached["first_call_ms"],
               cached["from_cache"] and cached["first_call_ms"] <= 40, limit=40)


def matmul_add(args, claims):
    path = os.path.join(args.out, "ours_matmul_add.json")
    own = record_ours(args, "matmul-add", path, "--compile")
    count = sum(map(len, own.values())) / 3
    copies = sum(event.get("cat") == "gpu_memcpy" for event in json.load(open(path))["traceEvents"])
    claims.add("matmul-add --compile: kernels and copies per forward", count + copies / 3,
               count == 1 and copies == 0, kernels=sorted(own))


def fused_kernel(args, claims, mlp, x):
    path = os.path.join(args.out, "ours_compiled.json")
    own = record_ours(args, "mlp", path, "--compile", "--fuse", "pointwise")
    count = sum(map(len, own.values())) / 3
    claims.add("mlp --fuse pointwise: kernels per forward", count, count == 4)
    torch._dynamo.reset()
    other_path = os.path.join(args.out, "pytorch_compiled.json")
    record_torch(torch.compile(mlp), x.view(64, 128, 768), "mlp_fwd", other_path)
    other = kernel_times(other_path)
    a = statistics.median(t for n, ts in own.items() if n.startswith("epi_poi") for t in ts)
    b = statistics.median(t for n, ts in other.items() if n.startswith("triton_poi") for t in ts)
    claims.add("the fused pointwise kernel over Inductor's", a / b, a <= 1.05 * b, ours=a, torch=b)
