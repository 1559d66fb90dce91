# SPDX-License-Identifier: Apache-2.0
"""The gated MLP of the two programs 03_*.py, and its input."""
import torch
from torch.nn import functional as F

ACTIVATIONS = {
    "geglu": lambda x: F.gelu(x, approximate="tanh"),
    "geglu_erf": F.gelu,
    "swiglu": F.silu,
}


class GluMlp(torch.nn.Module):
    def __init__(self, args):
        super().__init__()
        options = {"bias": False, "device": args.device, "dtype": args.dtype}
        self.gate_proj = torch.nn.Linear(args.dim, args.hidden, **options)
        self.up_proj = torch.nn.Linear(args.dim, args.hidden, **options)
        self.down_proj = torch.nn.Linear(args.hidden, args.dim, **options)
        self.activation = ACTIVATIONS[args.activation]

    def forward(self, x):
        gate = self.gate_proj(x)
        up = self.up_proj(x)
        return self.down_proj(self.activation(gate) * up)


def random_input(args):
    return torch.randn(args.batch, args.seq, args.dim, device=args.device, dtype=args.dtype)
