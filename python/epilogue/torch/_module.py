# SPDX-License-Identifier: Apache-2.0
"""The gated MLP as a module, with the parameter names of Hugging Face's."""
from __future__ import annotations

from typing import Any, Optional

import torch

from ._library import ACTIVATIONS
from ._operator import activate, glu_mlp
from ._reason import unknown_activation
from ._recognize import (
    SEPARATE,
    activation_name,
    are_plain,
    are_untouched,
    find_layout,
    why_not_gated_mlp,
)



class GluMlp(torch.nn.Module):  # type: ignore[misc]
    """``down_proj(activation(gate_proj(x)) * up_proj(x))``, for any leading dimensions of ``x``.

    The activation is ``silu``, ``gelu`` (erf), ``gelu_tanh`` or ``relu``. ``out_size`` is
    ``hidden_size`` unless given. The projections are plain ``torch.nn.Linear`` modules. If one gets
    a hook, an adapter or a parametrization, the block runs its three projections instead of the
    operator.

    >>> mlp = epilogue.torch.GluMlp(4096, 14336, device="cuda", dtype=torch.bfloat16)
    >>> y = mlp(x)
    """

    _epilogue_glu_mlp = True  # patch() has nothing to change here.

    def __init__(
        self,
        hidden_size: int,
        intermediate_size: int,
        out_size: Optional[int] = None,
        activation: str = "silu",
        bias: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if activation not in ACTIVATIONS:
            raise unknown_activation(activation)
        super().__init__()
        options = {"bias": bias, "device": device, "dtype": dtype}
        out_size = hidden_size if out_size is None else out_size
        self.gate_proj = torch.nn.Linear(hidden_size, intermediate_size, **options)
        self.up_proj = torch.nn.Linear(hidden_size, intermediate_size, **options)
        self.down_proj = torch.nn.Linear(intermediate_size, out_size, **options)
        self.activation = activation

    @classmethod
    def from_mlp(cls, module: Any) -> GluMlp:
        """A block with the parameters of an existing gated MLP, which are shared, not copied.

        Raises ``ValueError`` if the operator does not compute what ``module`` computes.
        """
        layout = find_layout(module)
        if layout != SEPARATE:
            names = ", ".join(SEPARATE.projections)
            raise ValueError(f"{type(module).__name__} does not have {names}")
        reason = why_not_gated_mlp(module, layout)
        if reason is not None:
            raise ValueError(f"{type(module).__name__} cannot be converted: {reason}")
        gate, down = module.gate_proj.weight, module.down_proj.weight
        activation = activation_name(module.act_fn)
        assert activation is not None
        # The meta device: the parameters are replaced below, so they need no memory.
        block = cls(gate.shape[1], gate.shape[0], down.shape[0], activation, device="meta")
        for name in SEPARATE.projections:
            linear, source = getattr(block, name), getattr(module, name)
            linear.weight, linear.bias = source.weight, source.bias
        return block.train(module.training)  # type: ignore[no-any-return]

    def forward(self, x: Any) -> Any:
        gate, up, down = self.gate_proj, self.up_proj, self.down_proj
        if type(gate) is type(up) is type(down) is torch.nn.Linear and are_untouched(
            (gate, up, down)
        ):
            tensors = (gate.weight, up.weight, down.weight, gate.bias, up.bias, down.bias)
            if are_plain((x, *tensors)):
                return glu_mlp(x, *tensors[:3], self.activation, *tensors[3:])
        return down(activate(gate(x), self.activation) * up(x))

    def extra_repr(self) -> str:
        return f"activation={self.activation!r}"
