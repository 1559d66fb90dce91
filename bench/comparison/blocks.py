# SPDX-License-Identifier: Apache-2.0
"""The blocks that both sides run, and their results in float64."""
import torch

DEVICE, DTYPE = "cuda", torch.bfloat16


class Glu(torch.nn.Module):
    def __init__(self, dim, hidden, activation="geglu"):
        super().__init__()
        self.gate_proj = torch.nn.Linear(dim, hidden, bias=False)
        self.up_proj = torch.nn.Linear(dim, hidden, bias=False)
        self.down_proj = torch.nn.Linear(hidden, dim, bias=False)
        self.activation = activation

    def act(self, gate):
        if self.activation == "geglu":
            return torch.nn.functional.gelu(gate, approximate="tanh")
        return torch.nn.functional.silu(gate)

    def forward(self, x):
        gate, up = self.gate_proj(x), self.up_proj(x)
        return self.down_proj(self.act(gate) * up)


class Packed(torch.nn.Module):
    """Gate and up as one GEMM over stacked weights, as serving engines do."""

    def __init__(self, glu):
        super().__init__()
        self.glu = glu
        self.weight = torch.cat([glu.gate_proj.weight, glu.up_proj.weight]).detach().contiguous()

    def forward(self, x):
        gate, up = torch.nn.functional.linear(x, self.weight).chunk(2, -1)
        return self.glu.down_proj(self.glu.act(gate) * up)


def exact(module, x):
    wide = x.double()
    if not isinstance(module, Glu):
        return torch.nn.functional.linear(wide, module.weight.double(), module.bias.double())
    gate = wide @ module.gate_proj.weight.double().t()
    up = wide @ module.up_proj.weight.double().t()
    return (module.act(gate) * up) @ module.down_proj.weight.double().t()


def relative_error(got, want):
    return ((got.double() - want).norm() / want.norm()).item()
