# SPDX-License-Identifier: Apache-2.0
"""Hands a batch, or some of its rows, to another library as an Arrow C stream in a PyCapsule.

The structs are new, the buffers are those of the batch. `_alive` keeps the batch and the structs
until the consumer calls `release`; the key is the `private_data` of the struct.
"""
from __future__ import annotations

import ctypes
import itertools
import threading
from ctypes import POINTER, c_char_p, c_void_p, py_object
from typing import Any, Dict, List, Optional, Tuple

from ._arrow import (
    ArrayRelease, ArrowArray, ArrowArrayStream, ArrowSchema, Batch, GetLastError, GetNext, GetSchema,
    SchemaRelease, StreamRelease,
)

_CAPSULE_NAME = b"arrow_array_stream"
_alive: Dict[int, Any] = {}
_keys = itertools.count(1)
_lock = threading.Lock()
_no_schema = SchemaRelease(0)
_no_array = ArrayRelease(0)
_no_stream = StreamRelease(0)


def _keep(*things: Any) -> int:
    with _lock:
        key = next(_keys)
        _alive[key] = things
    return key


def _release_parts(struct: Any) -> None:
    parts = [struct.children[i] for i in range(struct.n_children)]
    if struct.dictionary:
        parts.append(struct.dictionary)
    for part in parts:
        # A consumer that has moved a child out has set its `release` to NULL.
        if part.contents.release:
            part.contents.release(part)


def _release_schema(pointer: Any) -> None:
    schema = pointer.contents
    _release_parts(schema)
    schema.release = _no_schema
    _alive.pop(schema.private_data, None)


def _release_array(pointer: Any) -> None:
    array = pointer.contents
    _release_parts(array)
    array.release = _no_array
    _alive.pop(array.private_data, None)


def _fill_schema(target: Any, source: Any, batch: Batch) -> None:
    children, pointers = _structs(ArrowSchema, int(source.n_children))
    for child, original in zip(children, source.children[: source.n_children]):
        _fill_schema(child, original.contents, batch)
    target.format, target.name = source.format, source.name
    target.metadata, target.flags = source.metadata, source.flags
    target.n_children, target.children = source.n_children, pointers
    dictionary = None
    if source.dictionary:
        dictionary = ArrowSchema()
        _fill_schema(dictionary, source.dictionary.contents, batch)
        target.dictionary = ctypes.pointer(dictionary)
    target.private_data = _keep(batch, children, pointers, dictionary)
    target.release = _RELEASE_SCHEMA


def _fill_array(target: Any, source: Any, batch: Batch, rows: Optional[Tuple[int, int]]) -> None:
    """`rows` is the first row and the number of rows, or None for all."""
    children, pointers = _structs(ArrowArray, int(source.n_children))
    for child, original in zip(children, source.children[: source.n_children]):
        _fill_array(child, original.contents, batch, rows)
    target.length, target.null_count, target.offset = (
        source.length, source.null_count, source.offset)
    if rows is not None:
        # The rows of a struct are those of its children: only the children get the offset.
        target.length = rows[1]
        target.offset = source.offset + (0 if source.n_children else rows[0])
        target.null_count = _count_nulls(source, target.offset, rows[1], batch)
    target.n_buffers, target.buffers = source.n_buffers, source.buffers
    target.n_children, target.children = source.n_children, pointers
    dictionary = None
    if source.dictionary:
        dictionary = ArrowArray()
        _fill_array(dictionary, source.dictionary.contents, batch, None)
        target.dictionary = ctypes.pointer(dictionary)
    target.private_data = _keep(batch, children, pointers, dictionary)
    target.release = _RELEASE_ARRAY


def _count_nulls(source: Any, first: int, length: int, batch: Batch) -> int:
    """Arrow allows -1 for "unknown". DuckDB takes it for 0 in columns with a dictionary."""
    if source.null_count == 0:
        return 0
    bits = batch.buffer(source, 0, (first + length + 7) // 8)
    if len(bits) == 0:
        return 0
    valid = int.from_bytes(bits, "little") >> first & ((1 << length) - 1)
    return length - bin(valid).count("1")


def _structs(kind: Any, count: int) -> Tuple[List[Any], Any]:
    structs = [kind() for _ in range(count)]
    pointers = (POINTER(kind) * count)(*[ctypes.pointer(struct) for struct in structs])
    return structs, ctypes.cast(pointers, POINTER(POINTER(kind)))


class _Source:
    """The state of one stream: its only batch is sent once."""

    def __init__(self, batch: Batch, start: int, length: int) -> None:
        self.batch = batch
        self.rows = (start, length)
        self.is_sent = not batch.array.release


def _clear(target: Any) -> None:
    """The consumer gives memory with any content."""
    ctypes.memset(target, 0, ctypes.sizeof(target.contents))


def _get_schema(stream: Any, target: Any) -> int:
    source: _Source = _alive[stream.contents.private_data][0]
    _clear(target)
    _fill_schema(target.contents, source.batch.schema, source.batch)
    return 0


def _get_next(stream: Any, target: Any) -> int:
    source: _Source = _alive[stream.contents.private_data][0]
    _clear(target)  # Without `release`, it is the end of the stream.
    if source.is_sent:
        return 0
    source.is_sent = True
    _fill_array(target.contents, source.batch.array, source.batch, source.rows)
    return 0


def _get_last_error(stream: Any) -> Optional[int]:
    return None


def _release_stream(pointer: Any) -> None:
    stream = pointer.contents
    stream.release = _no_stream
    _alive.pop(stream.private_data, None)


_api = ctypes.pythonapi
_Destructor = ctypes.PYFUNCTYPE(None, c_void_p)
_new_capsule = ctypes.PYFUNCTYPE(py_object, c_void_p, c_char_p, _Destructor)(
    ("PyCapsule_New", _api))
_capsule_pointer = ctypes.PYFUNCTYPE(c_void_p, c_void_p, c_char_p)(("PyCapsule_GetPointer", _api))
_fetch_error = ctypes.PYFUNCTYPE(None, POINTER(c_void_p), POINTER(c_void_p), POINTER(c_void_p))(
    ("PyErr_Fetch", _api))
_restore_error = ctypes.PYFUNCTYPE(None, c_void_p, c_void_p, c_void_p)(("PyErr_Restore", _api))


def _destroy_capsule(capsule: int) -> None:
    # A capsule may go away while an exception passes through its frame. Python code must not run
    # with that exception set.
    error = (c_void_p(), c_void_p(), c_void_p())
    _fetch_error(*error)
    address = _capsule_pointer(capsule, _CAPSULE_NAME)
    stream = ArrowArrayStream.from_address(address)
    if stream.release:
        stream.release(ctypes.byref(stream))
    _alive.pop(-address, None)
    _restore_error(*error)


# The functions as C sees them. They must stay alive for as long as a consumer may call them.
_RELEASE_SCHEMA = SchemaRelease(_release_schema)
_RELEASE_ARRAY = ArrayRelease(_release_array)
_GET_SCHEMA = GetSchema(_get_schema)
_GET_NEXT = GetNext(_get_next)
_GET_LAST_ERROR = GetLastError(_get_last_error)
_RELEASE_STREAM = StreamRelease(_release_stream)
_DESTROY_CAPSULE = _Destructor(_destroy_capsule)


def stream_capsule(batch: Batch, start: int, length: int) -> Any:
    """A PyCapsule with a new stream of the rows. Releases the stream if nobody consumes it."""
    stream = ArrowArrayStream()
    stream.get_schema, stream.get_next = _GET_SCHEMA, _GET_NEXT
    stream.get_last_error, stream.release = _GET_LAST_ERROR, _RELEASE_STREAM
    stream.private_data = _keep(_Source(batch, start, length))
    address = ctypes.addressof(stream)
    # The struct itself lives as long as the capsule. Its key is not one of `_keys`: these are > 0.
    _alive[-address] = stream
    return _new_capsule(address, _CAPSULE_NAME, _DESTROY_CAPSULE)
