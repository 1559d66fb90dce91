# SPDX-License-Identifier: Apache-2.0
"""The part `prebuilt` of against_torch.py: epilogue/glu against Inductor's kernel and against copies."""
import json, os, statistics, subprocess
import torch
from torch.profiler import ProfilerActivity, profile
from recorded import kernel_times, record_ours

INDUCTOR_SHAPE = (8192, 3072)
OTHER_SHAPES = ["4096x3072", "8192x3000", "8191x3073", "16384x3072", "8192x2048", "8192x8192",
                "4096x14336", "2048x14336", "4096x11008", "5000x5120", "65536x768", "32768x1024",
                "131072x512", "10000x4000", "3333x8888", "1024x28672", "512x65536", "100000x640",
                "7777x7777", "262144x264"]


def prebuilt(args, claims):
    """Compares version 1's pointwise kernel, which accepts any shape, with one specialised for its shape."""
    shapes = ["x".join(map(str, INDUCTOR_SHAPE)), *OTHER_SHAPES]
    out = subprocess.run([f"{args.bin}/gpu_prebuilt", *shapes], check=True, capture_output=True, text=True)
    own = {row["shape"]: row for row in json.loads(out.stdout)}
    fused = torch.compile(lambda g, u: torch.nn.functional.gelu(g, approximate="tanh") * u, dynamic=False)
    sets = [[torch.randn(INDUCTOR_SHAPE, device="cuda", dtype=torch.bfloat16) for _ in range(2)] for _ in range(4)]
    path = os.path.join(args.out, "inductor_glu.json")
    with torch.no_grad():
        for gate, up in sets:
            fused(gate, up)
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as recorded:
            for i in range(40):
                fused(*sets[i % len(sets)])
            torch.cuda.synchronize()
    recorded.export_chrome_trace(path)
    theirs = statistics.median(t for ts in kernel_times(path).values() for t in ts)
    ours_us = own[shapes[0]]["us"]
    claims.add("prebuilt gelu_tanh_and_mul 8192x3072 over Inductor's", ours_us / theirs,
               ours_us <= 1.05 * theirs, **own[shapes[0]], inductor_us=theirs)
    # The fastest copy of the run sets the bound, because copies of odd sizes are slow.
    bytes_per_us = max(row["bytes"] / row["copy_us"] for row in own.values())
    for shape in OTHER_SHAPES:
        ratio = own[shape]["us"] * bytes_per_us / own[shape]["bytes"]
        claims.add(f"prebuilt gelu_tanh_and_mul {shape} over moving its bytes at the copy bandwidth", ratio,
                   ratio <= 1.1, **own[shape])
    for version, kernels in ((1, 4), (2, 2)):
        trace = os.path.join(args.out, f"prebuilt_{version}.json")
        times = record_ours(args, "mlp", trace, "--kernels", f"epilogue/glu@{version}")
        count = sum(map(len, times.values())) / 3
        claims.add(f"mlp --kernels epilogue/glu@{version}: kernels per forward", count, count == kernels,
                   kernels=sorted(times))
