# SPDX-License-Identifier: Apache-2.0
"""Records a trace of the block under test: python record_mlp.py mlp.json"""
import sys

import torch
from torch.profiler import ProfilerActivity, profile, record_function, schedule


class Mlp(torch.nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.gate = torch.nn.Linear(dim, hidden, bias=False)
        self.up = torch.nn.Linear(dim, hidden, bias=False)
        self.down = torch.nn.Linear(hidden, dim, bias=False)

    def forward(self, x):
        return self.down(torch.nn.functional.gelu(self.gate(x), approximate="tanh") * self.up(x))


def main(path):
    device = "cuda" if torch.cuda.is_available() else "cpu"
    activities = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if device == "cuda" else [])
    mlp = Mlp(768, 3072).to(device, torch.bfloat16)
    x = torch.randn(64, 128, 768, device=device, dtype=torch.bfloat16)
    with torch.no_grad(), profile(
        activities=activities,
        record_shapes=True,
        schedule=schedule(wait=1, warmup=1, active=3),
        on_trace_ready=lambda p: p.export_chrome_trace(path),
    ) as profiler:
        for _ in range(5):
            with record_function("mlp_fwd"):
                mlp(x)
            profiler.step()


if __name__ == "__main__":
    main(sys.argv[1])
