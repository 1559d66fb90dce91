# SPDX-License-Identifier: Apache-2.0
"""Arrow's C Data Interface: the structs, and batches that own what a stream returned."""
from __future__ import annotations

import ctypes
from ctypes import CFUNCTYPE, POINTER, c_int, c_int64, c_void_p
from typing import Any, Dict, List, Optional

from ._errors import InternalError


class ArrowSchema(ctypes.Structure):
    """Names and types of columns."""


class ArrowArray(ctypes.Structure):
    """The data of columns."""


class ArrowArrayStream(ctypes.Structure):
    """A sequence of batches with one schema."""


SchemaRelease = CFUNCTYPE(None, POINTER(ArrowSchema))
ArrayRelease = CFUNCTYPE(None, POINTER(ArrowArray))
StreamRelease = CFUNCTYPE(None, POINTER(ArrowArrayStream))
GetSchema = CFUNCTYPE(c_int, POINTER(ArrowArrayStream), POINTER(ArrowSchema))
GetNext = CFUNCTYPE(c_int, POINTER(ArrowArrayStream), POINTER(ArrowArray))
# Returned as a pointer: a callback cannot return `c_char_p`.
GetLastError = CFUNCTYPE(c_void_p, POINTER(ArrowArrayStream))

# Texts are raw pointers: as `c_char_p`, ctypes would copy them on every access.
ArrowSchema._fields_ = [
    ("format", c_void_p),
    ("name", c_void_p),
    ("metadata", c_void_p),
    ("flags", c_int64),
    ("n_children", c_int64),
    ("children", POINTER(POINTER(ArrowSchema))),
    ("dictionary", POINTER(ArrowSchema)),
    ("release", SchemaRelease),
    ("private_data", c_void_p),
]
ArrowArray._fields_ = [
    ("length", c_int64),
    ("null_count", c_int64),
    ("offset", c_int64),
    ("n_buffers", c_int64),
    ("n_children", c_int64),
    ("buffers", POINTER(c_void_p)),
    ("children", POINTER(POINTER(ArrowArray))),
    ("dictionary", POINTER(ArrowArray)),
    ("release", ArrayRelease),
    ("private_data", c_void_p),
]
ArrowArrayStream._fields_ = [
    ("get_schema", GetSchema),
    ("get_next", GetNext),
    ("get_last_error", GetLastError),
    ("release", StreamRelease),
    ("private_data", c_void_p),
]


def text_at(address: Optional[int]) -> str:
    """The text at an address. NULL is the empty text."""
    return ctypes.string_at(address).decode("utf-8", "replace") if address else ""


class Batch:
    """One record batch with its schema. Releases both when the last user is gone."""

    def __init__(self) -> None:
        self.schema = ArrowSchema()
        self.array = ArrowArray()
        # The strings of the dictionaries by column, decoded once.
        self.categories: Dict[int, List[Any]] = {}

    def __del__(self) -> None:
        if self.array.release:
            self.array.release(ctypes.byref(self.array))
        if self.schema.release:
            self.schema.release(ctypes.byref(self.schema))

    @property
    def length(self) -> int:
        return int(self.array.length)

    @property
    def names(self) -> List[str]:
        return [
            text_at(self.schema.children[i].contents.name) for i in range(self.schema.n_children)
        ]

    def buffer(self, array: Any, index: int, size: int) -> memoryview:
        """The first ``size`` bytes of a buffer of ``array``, read-only. The view keeps the batch."""
        address = array.buffers[index] if index < array.n_buffers else None
        if not address or size == 0:
            return memoryview(b"")
        memory = (ctypes.c_char * size).from_address(address)
        memory.owner = self  # type: ignore[attr-defined]
        return memoryview(memory).cast("B").toreadonly()


def take_batch(stream: ArrowArrayStream) -> Batch:
    """Moves the batch out of a stream of the library, and releases the stream."""
    batch = Batch()
    extra = ArrowArray()
    try:
        _call(stream, stream.get_schema, batch.schema)
        _call(stream, stream.get_next, batch.array)
        if batch.array.release:
            _call(stream, stream.get_next, extra)
        if extra.release:
            extra.release(ctypes.byref(extra))
            raise InternalError("the stream has more than one batch", 3)
    finally:
        stream.release(ctypes.byref(stream))
    return batch


def _call(stream: ArrowArrayStream, function: Any, target: ctypes.Structure) -> None:
    code = function(ctypes.byref(stream), ctypes.byref(target))
    if code == 0:
        return
    reason = text_at(stream.get_last_error(ctypes.byref(stream))) or f"error {code}"
    raise InternalError(f"the stream of columns: {reason}", 3)
