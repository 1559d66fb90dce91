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


def prepare(block: _library.Block) -> str:
    """Generates or loads the code of a block for the kernel in C++. Returns a reason if it fails."""
    assert _library.library is not None
    block.struct_size = ctypes.sizeof(block)
    reason: str = _library.library.epi_torch_prepare(ctypes.byref(block)).decode()
    return reason


def _check(status: int) -> None:
    library = _library.library
    assert library is not None
    if status != 0:
        text = library.epi_glu_message() or library.epi_glu_status_text(status)
        raise RuntimeError(f"epilogue::glu_mlp: {text.decode()}")


def _handle(block: _library.Block) -> ctypes.c_void_p:
    block.struct_size = ctypes.sizeof(block)
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


def _is_readable(rows: Tensor) -> bool:
    stride, k = rows.stride(0), rows.shape[1]
    aligned = rows.data_ptr() % 16 == 0 and stride % 8 == 0
    return bool(aligned and rows.stride(1) == 1 and stride >= k)


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
    names = {code: name for name, code in _library.ACTIVATIONS.items()}
    if why(x, gate, up, down, names[activation], gate_bias, up_bias, down_bias) is not None:
        return torch.ops.epilogue.glu_mlp_aten(
            x, gate, up, down, gate_bias, up_bias, down_bias, activation
        )
    n, out = down.shape[1], down.shape[0]
    if up is None:
        gate, up = gate[:n], gate[n:]
        if gate_bias is not None:
            gate_bias, up_bias = gate_bias[:n], gate_bias[n:]
    y = x.new_empty((*x.shape[:-1], out))
    rows = x.reshape(-1, x.shape[-1])
    if rows.shape[0] == 0:
        return y
    if not _is_readable(rows):
        rows = rows.contiguous()
    biases = (
        (gate_bias is not None) * _library.GATE_BIAS
        + (up_bias is not None) * _library.UP_BIAS
        + (down_bias is not None) * _library.DOWN_BIAS
    )
    block = _library.Block(
        device=x.device.index,
        dtype=_library.DTYPES[x.dtype],
        activation=activation,
        biases=biases,
        k=rows.shape[1],
        n=n,
        out=out,
    )
    library = _library.library
    assert library is not None
    handle = _handle(block)
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
