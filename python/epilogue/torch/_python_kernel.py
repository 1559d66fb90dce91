# SPDX-License-Identifier: Apache-2.0
"""The CUDA kernel of the operator in Python, where PyTorch refuses the one in C++: slower."""
from __future__ import annotations

import ctypes
from typing import Any, Dict, Optional, Tuple

import torch

from . import _library
from ._reason import why

Tensor = Any  # torch.Tensor

_handles: Dict[Tuple[int, ...], ctypes.c_void_p] = {}


def _check(status: int) -> None:
    library = _library.library
    assert library is not None
    if status != 0:
        text = library.epi_glu_message() or library.epi_glu_status_text(status)
        raise RuntimeError(f"epilogue::glu_mlp: {text.decode()}")


def _handle(block: _library.Block) -> ctypes.c_void_p:
    key = tuple(int(getattr(block, field[0])) for field in block._fields_)
    if key not in _handles:
        assert _library.library is not None
        handle = ctypes.c_void_p()
        _check(_library.library.epi_glu_create(ctypes.byref(block), ctypes.byref(handle)))
        _check(_library.library.epi_glu_prepare(handle))
        _handles[key] = handle
    return _handles[key]


def _pointer(tensor: Optional[Tensor]) -> Optional[int]:
    return None if tensor is None else int(tensor.data_ptr())


def check_arguments(x: Tensor, tensors: Dict[str, Optional[Tensor]]) -> None:
    """The checks and messages of epilogue/torch/glu_operator.cpp."""
    for name, tensor in tensors.items():
        if tensor is None:
            continue
        if tensor.device != x.device:
            raise RuntimeError(
                f"Expected all tensors to be on the same device, but x and {name} are on different "
                "devices (epilogue::glu_mlp)"
            )
        if tensor.dtype != x.dtype:
            raise RuntimeError(f"epilogue::glu_mlp: expected x and {name} to have the same dtype")
    gate, down = tensors["gate"], tensors["down"]
    assert gate is not None and down is not None
    if x.dim() < 1 or gate.dim() != 2 or down.dim() != 2:
        raise RuntimeError(
            "epilogue::glu_mlp: x must have at least 1 dimension, weights 2"
        )
    k, n, out = x.shape[-1], down.shape[1], down.shape[0]
    rows = 2 * n if tensors["up"] is None else n
    expected = {"gate": [rows, k], "up": [n, k], "gate_bias": [rows], "up_bias": [n], "down_bias": [out]}
    for name, shape in expected.items():
        tensor = tensors[name]
        if tensor is not None and list(tensor.shape) != shape:
            raise RuntimeError(
                f"epilogue::glu_mlp: {name} has shape {list(tensor.shape)}, expected {shape}"
            )


def _rows_of(x: Tensor) -> Tensor:
    """x as a matrix that the kernel can read: a copy, if rows are not aligned or not dense."""
    rows = x.reshape(-1, x.shape[-1])
    stride = rows.stride(0)
    is_dense = rows.stride(1) == 1 and stride >= rows.shape[1] and stride % 8 == 0
    if is_dense and rows.data_ptr() % 16 == 0:
        return rows
    return torch.empty(rows.shape, dtype=x.dtype, device=x.device).copy_(rows)


def glu_mlp(
    x: Tensor,
    gate: Tensor,
    up: Optional[Tensor],
    down: Tensor,
    gate_bias: Optional[Tensor],
    up_bias: Optional[Tensor],
    down_bias: Optional[Tensor],
    activation: int,
) -> Tensor:
    check_arguments(
        x,
        {"gate": gate, "up": up, "down": down, "gate_bias": gate_bias, "up_bias": up_bias,
         "down_bias": down_bias},
    )
    arguments = (x, gate, up, down, gate_bias, up_bias, down_bias)
    if why(*arguments[:4], _library.NAMES[activation], *arguments[4:]) is not None:
        return torch.ops.epilogue.glu_mlp_aten(*arguments, activation)
    n, out = down.shape[1], down.shape[0]
    if up is None:
        gate, up = gate[:n], gate[n:]
        if gate_bias is not None:
            gate_bias, up_bias = gate_bias[:n], gate_bias[n:]
    y = x.new_empty((*x.shape[:-1], out))
    if y.numel() == 0:
        return y
    rows = _rows_of(x)
    library = _library.library
    assert library is not None
    handle = _handle(
        _library.make_block(
            x.device.index, x.dtype, activation, rows.shape[1], n, out,
            gate_bias is not None, up_bias is not None, down_bias is not None,
        )
    )
    size = library.epi_glu_workspace_bytes(handle, rows.shape[0], 0)
    workspace = torch.empty(size, dtype=torch.uint8, device=x.device)
    call = _library.Call(
        struct_size=ctypes.sizeof(_library.Call),
        stream=torch.cuda.current_stream(x.device).cuda_stream,
        m=rows.shape[0],
        x=_pointer(rows),
        x_stride=rows.stride(0),
        gate=_pointer(gate),
        up=_pointer(up),
        down=_pointer(down),
        gate_bias=_pointer(gate_bias),
        up_bias=_pointer(up_bias),
        down_bias=_pointer(down_bias),
        y=_pointer(y),
        workspace=_pointer(workspace),
        workspace_bytes=size,
    )
    _check(library.epi_glu_run(handle, ctypes.byref(call)))
    return y
