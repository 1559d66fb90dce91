# SPDX-License-Identifier: Apache-2.0
"""The part `rates` of against_torch.py: our fused kernel against a cuBLASLt GEMM of the same size."""
from .our_program import ours

RATES = [512, 1024, 2048, 4096, 8192, 16384]


def rates(args, claims):
    for n, k in ((3072, 768), (14336, 4096)):
        for row in ours(args, "rates", n, k, ",".join(map(str, RATES))):
            ratio = row["library_us"] / row["ours_us"]
            tflops = 4 * row["m"] * n * k / row["ours_us"] * 1e-6
            claims.add(f"gate, up and gelu, {row['m']}x{k}x{n}: rate over a cuBLASLt GEMM alone",
                       ratio, ratio >= 0.95, tflops=round(tflops), ours=row["ours_us"],
                       cublas=row["library_us"])
