# SPDX-License-Identifier: Apache-2.0
"""Loads ``libepilogue_glu.so`` (epilogue/glu.h) with ctypes."""
from __future__ import annotations

import ctypes
import glob
import os
from ctypes import (
    POINTER,
    Structure,
    c_char_p,
    c_int,
    c_int32,
    c_int64,
    c_uint32,
)
from typing import Any, Optional, Tuple

import torch

# The values of epi_glu_activation.
ACTIVATIONS = {"gelu_tanh": 0, "silu": 1, "gelu": 2, "relu": 3}
NAMES = {code: name for name, code in ACTIVATIONS.items()}
GATE_BIAS, UP_BIAS, DOWN_BIAS = 1, 2, 4  # epi_glu_bias
DTYPES = {torch.bfloat16: 0, torch.float16: 1}  # epi_glu_dtype


class Block(Structure):
    """``epi_glu_block``."""

    _fields_ = [
        ("struct_size", c_uint32),
        ("device", c_int32),
        ("dtype", c_int),
        ("activation", c_int),
        ("biases", c_uint32),
        ("k", c_int64),
        ("n", c_int64),
        ("out", c_int64),
    ]


def make_block(
    device: int,
    dtype: Any,
    activation: int,
    k: int,
    n: int,
    out: int,
    has_gate_bias: bool,
    has_up_bias: bool,
    has_down_bias: bool,
) -> Block:
    biases = has_gate_bias * GATE_BIAS + has_up_bias * UP_BIAS + has_down_bias * DOWN_BIAS
    return Block(ctypes.sizeof(Block), device, DTYPES[dtype], activation, biases, k, n, out)


def _path() -> str:
    chosen = os.environ.get("EPILOGUE_GLU_LIBRARY")
    return chosen or os.path.join(os.path.dirname(__file__), "_lib", "libepilogue_glu.so")


def _load_nvrtc() -> None:
    """Loads the NVRTC of PyTorch's packages, which is not on the loader's path."""
    site_packages = os.path.dirname(os.path.dirname(os.path.abspath(torch.__file__)))
    folders = os.path.join(site_packages, "nvidia", "*", "lib")
    for major in (13, 12):
        for path in glob.glob(os.path.join(folders, f"libnvrtc.so.{major}")):
            try:
                ctypes.CDLL(path)
                return
            except OSError:  # of another platform
                continue


def _declare(library: ctypes.CDLL) -> None:
    library.epi_torch_register.restype = c_char_p
    library.epi_torch_register.argtypes = []
    library.epi_torch_prepare.restype = c_char_p
    library.epi_torch_prepare.argtypes = [POINTER(Block)]


def _load() -> Tuple[Optional[ctypes.CDLL], str]:
    path = _path()
    try:
        _load_nvrtc()
        library = ctypes.CDLL(path)
        _declare(library)
    except (OSError, AttributeError) as error:
        return None, f"{path} cannot be loaded ({error})"
    return library, ""


# kernel_error: why no device runs the CUDA kernels, or nothing.
library, kernel_error = _load()


def register_kernels() -> None:
    """Registers the CUDA kernels of the operators. Sets kernel_error if PyTorch refuses them."""
    global kernel_error
    if library is not None:
        kernel_error = library.epi_torch_register().decode()


def prepare(block: Block) -> str:
    """Generates or loads the code of such blocks. Returns why that is not possible, or nothing."""
    assert library is not None
    reason: str = library.epi_torch_prepare(ctypes.byref(block)).decode()
    return reason
