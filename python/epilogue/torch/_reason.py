# SPDX-License-Identifier: Apache-2.0
"""Why the custom kernels do not apply to a block."""
from __future__ import annotations

import functools
from typing import Any, Optional

import torch

from . import _library
from ._library import ACTIVATIONS, DTYPES, make_block, prepare

Tensor = Any  # torch.Tensor

_MAX_DIM = 16  # of x: kMaxDim in epilogue/torch/glu_operator.cpp


def unknown_activation(activation: str) -> ValueError:
    names = ", ".join(sorted(ACTIVATIONS))
    return ValueError(f"unknown activation {activation!r}: choose one of {names}")


def activation_code(activation: str) -> int:
    """The number of an activation in epilogue/glu.h."""
    if activation not in ACTIVATIONS:
        raise unknown_activation(activation)
    return ACTIVATIONS[activation]


def dtype_reason(subject: str, dtype: Any) -> str:
    return f"{subject} {str(dtype)[6:]}: the kernels need bfloat16 or float16"


@functools.lru_cache(maxsize=None)
def device_reason(index: int) -> Optional[str]:
    """Why no kernel runs on a CUDA device."""
    if _library.kernel_error:
        return _library.kernel_error
    major, minor = torch.cuda.get_device_capability(index)
    if (major, minor) == (9, 0):
        return None
    name = torch.cuda.get_device_name(index)
    return f"{name} has compute capability {major}.{minor}: the kernels need 9.0 (Hopper)"


def why(
    x: Tensor,
    gate: Tensor,
    up: Optional[Tensor],
    down: Tensor,
    activation: str = "silu",
    gate_bias: Optional[Tensor] = None,
    up_bias: Optional[Tensor] = None,
    down_bias: Optional[Tensor] = None,
) -> Optional[str]:
    """Returns why ``glu_mlp`` runs ATen for these arguments, or None if the custom kernels run.

    For stacked weights pass them as ``gate``, and None as ``up``. The first call for a kind of block
    generates or loads its code.

    >>> epilogue.torch.why(x.float(), gate.float(), up.float(), down.float())
    'x is float32: the kernels need bfloat16 or float16'
    """
    code = activation_code(activation)
    if x.device.type != "cuda":
        return f"x is on {x.device}: the kernels need a CUDA GPU"
    if x.dtype not in DTYPES:
        return dtype_reason("x is", x.dtype)
    reason = device_reason(x.device.index)
    if reason is not None:
        return reason
    if x.dim() > _MAX_DIM:
        return f"x has {x.dim()} dimensions: at most {_MAX_DIM} are supported"
    for name, size in (("k", x.shape[-1]), ("n", down.shape[1]), ("out", down.shape[0])):
        if size < 8 or size % 8 != 0:
            return f"{name} is {size}: the kernels need multiples of 8"
    named = {"gate": gate, "up": up, "down": down, "gate_bias": gate_bias, "up_bias": up_bias,
             "down_bias": down_bias}
    for name, tensor in named.items():
        if tensor is None:
            continue
        if not tensor.is_contiguous():
            return f"{name} is not contiguous"
        if tensor.data_ptr() % 16 != 0:
            return f"{name} is not aligned to 16 bytes"
    has_up_bias = up_bias is not None if up is not None else gate_bias is not None
    biases = (gate_bias is not None, has_up_bias, down_bias is not None)
    sizes = (x.shape[-1], down.shape[1], down.shape[0])
    return prepare(make_block(x.device.index, x.dtype, code, *sizes, *biases)) or None
