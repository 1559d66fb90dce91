# SPDX-License-Identifier: Apache-2.0
"""Loads ``libepilogue_trace.so`` and declares its functions (epilogue/trace.h)."""
from __future__ import annotations

import ctypes
import os
import threading
from ctypes import POINTER, c_char_p, c_double, c_int, c_size_t, c_void_p
from typing import Any, List, Optional

from ._arrow import ArrowArrayStream
from ._errors import Error, InputError, InternalError, LibraryError

ABI = 1
SONAME = "libepilogue_trace.so.0"

OK, CHECK_FAILED, INVALID, BUG, CANCELLED = range(5)
TEXT, JSON, MARKDOWN = range(3)

ProgressFunction = ctypes.CFUNCTYPE(c_int, c_void_p, c_double)

_lock = threading.Lock()
_loaded: Optional[ctypes.CDLL] = None


def library() -> ctypes.CDLL:
    """The library, loaded on the first call: ``import epilogue`` alone loads nothing."""
    global _loaded
    if _loaded is None:
        with _lock:
            if _loaded is None:
                _loaded = _load(_candidate())
    return _loaded


def _candidate() -> str:
    chosen = os.environ.get("EPILOGUE_LIBRARY")
    if chosen:
        return chosen
    beside = os.path.join(os.path.dirname(__file__), "_lib", "libepilogue_trace.so")
    return beside if os.path.exists(beside) else SONAME


def _load(path: str) -> ctypes.CDLL:
    try:
        loaded = ctypes.CDLL(path)
        abi = int(loaded.epi_trace_abi())
    except (OSError, AttributeError) as error:
        raise LibraryError(
            f"cannot load the trace reader: {error}; install the wheel, or set EPILOGUE_LIBRARY to "
            "the path of libepilogue_trace.so"
        ) from None
    if abi != ABI:
        raise LibraryError(f"{path}: has ABI {abi}, this package needs ABI {ABI}")
    _declare(loaded)
    return loaded


def _declare(loaded: ctypes.CDLL) -> None:
    # Texts are returned as `c_void_p`: ctypes would turn `c_char_p` into bytes and lose the pointer
    # that `epi_free` needs.
    text = POINTER(c_void_p)
    stream = POINTER(ArrowArrayStream)

    def function(name: str, result: Any, *arguments: Any) -> None:
        declared = getattr(loaded, name)
        declared.restype = result
        declared.argtypes = list(arguments)

    progress = (ProgressFunction, c_void_p)
    function("epi_trace_version", c_char_p)
    function("epi_trace_open", c_int, POINTER(c_char_p), c_size_t, c_char_p, *progress, text, text)
    function("epi_trace_open_memory", c_int, c_void_p, c_size_t, c_char_p, c_char_p, *progress,
             text, text)
    function("epi_trace_close", None, text)
    function("epi_trace_count", c_size_t, c_void_p)
    function("epi_trace_info", c_int, c_void_p, text, text)
    function("epi_trace_save", c_int, c_void_p, c_size_t, c_char_p, text)
    function("epi_run", c_int, POINTER(c_void_p), c_size_t, c_char_p, c_char_p, c_int, text, text)
    function("epi_table", c_int, c_void_p, c_char_p, stream, text)
    function("epi_query", c_int, c_void_p, c_char_p, c_char_p, *progress, stream, text)
    function("epi_free", None, c_void_p)


def take_text(pointer: c_void_p) -> str:
    """Copies a string of the library and frees it. NULL is the empty string."""
    if not pointer.value:
        return ""
    try:
        # Names in a trace are bytes of any kind. `replace` shows invalid ones as U+FFFD.
        return ctypes.string_at(pointer.value).decode("utf-8", "replace")
    finally:
        library().epi_free(pointer)
        pointer.value = None


def take_notes(message: c_void_p) -> List[str]:
    """The notes of a call that succeeded."""
    return [line for line in take_text(message).splitlines() if line]


def check(status: int, message: c_void_p) -> None:
    """Raises the exception of a status. A failed check is not an error: its text is complete."""
    if status in (OK, CHECK_FAILED):
        return
    text = take_text(message) or f"status {status}"
    if status == BUG:
        raise InternalError(text, status)
    if status == CANCELLED:
        raise Error(text, status)
    raise InputError(text, status)


def version() -> str:
    """The version of the library, such as ``0.2.0``."""
    found: bytes = library().epi_trace_version()
    return found.decode()
