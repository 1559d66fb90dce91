# SPDX-License-Identifier: Apache-2.0
"""A trace of the library, and the calls on it."""
from __future__ import annotations

import json
import operator
import os
import sys
import threading
import warnings
from contextlib import ExitStack, contextmanager
from ctypes import byref, c_char_p, c_void_p
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

from ._arrow import ArrowArrayStream, Batch, take_batch
from ._call import Progress, interruptible
from ._errors import ClosedError, TraceWarning
from ._library import ProgressFunction, check, library, take_notes, take_text


class Handle:
    """Owns an ``epi_trace``. A call that runs on another thread delays the end of ``close``."""

    def __init__(self, pointer: int) -> None:
        self._pointer = c_void_p(pointer)
        self._lock = threading.Lock()
        self._users = 0
        self.is_closed = False

    @contextmanager
    def use(self) -> Iterator[int]:
        """The pointer, which stays valid inside the ``with`` block."""
        with self._lock:
            if self.is_closed or not self._pointer.value:
                raise ClosedError("the trace is closed")
            self._users += 1
            pointer = self._pointer.value
        try:
            yield pointer
        finally:
            with self._lock:
                self._users -= 1
                self._free_if_unused()

    def close(self) -> None:
        with self._lock:
            self.is_closed = True
            self._free_if_unused()

    def _free_if_unused(self) -> None:
        if self.is_closed and self._users == 0 and self._pointer.value:
            library().epi_trace_close(byref(self._pointer))

    def __del__(self) -> None:
        self.close()

    def info(self) -> Dict[str, Any]:
        text, message = c_void_p(), c_void_p()
        with self.use() as pointer:
            check(library().epi_trace_info(pointer, byref(text), byref(message)), message)
        found: Dict[str, Any] = json.loads(take_text(text))
        return found

    def save(self, index: int, path: str) -> None:
        name = c_path(path)

        def call() -> None:
            message = c_void_p()
            with self.use() as pointer:
                status = library().epi_trace_save(pointer, index, name, byref(message))
            check(status, message)

        interruptible(call, title=f"writing {path}")

    def table(self, name: str) -> Batch:
        def call() -> Batch:
            stream, message = ArrowArrayStream(), c_void_p()
            with self.use() as pointer:
                status = library().epi_table(pointer, c_text(name), byref(stream), byref(message))
            check(status, message)
            take_text(message)
            return take_batch(stream)

        return interruptible(call, title=f"table {name}")

    def query(self, sql: str, options: Dict[str, Any]) -> Tuple[Batch, List[str]]:
        progress = Progress()
        callback = ProgressFunction(progress)
        statement = c_text(sql)

        def call() -> Tuple[Batch, List[str]]:
            stream, message = ArrowArrayStream(), c_void_p()
            with self.use() as pointer:
                status = library().epi_query(pointer, statement, encode(options), callback, None,
                                             byref(stream), byref(message))
            check(status, message)
            return take_batch(stream), take_notes(message)

        return interruptible(call, progress, "query")


def open_paths(paths: Sequence[str], options: Dict[str, Any]) -> Handle:
    names = (c_char_p * len(paths))(*[c_path(path) for path in paths])
    title = f"reading {paths[0]}" if len(paths) == 1 else f"reading {len(paths)} traces"

    def call(*rest: Any) -> int:
        return int(library().epi_trace_open(names, len(paths), *rest))

    return _open(call, options, title)


def open_memory(data: bytes, name: str, options: Dict[str, Any]) -> Handle:
    def call(*rest: Any) -> int:
        return int(library().epi_trace_open_memory(data, len(data), c_path(name), *rest))

    return _open(call, options, f"reading {name}")


def _open(call: Any, options: Dict[str, Any], title: str) -> Handle:
    progress = Progress()
    callback = ProgressFunction(progress)

    def open_() -> Handle:
        pointer, message = c_void_p(), c_void_p()
        status = call(encode(options), callback, None, byref(pointer), byref(message))
        check(status, message)
        take_text(message)  # The notes are in `info` as well.
        assert pointer.value is not None
        return Handle(pointer.value)

    return interruptible(open_, progress, title, Handle.close)


def run(
    handles: Sequence[Handle], verb: str, options: Dict[str, Any], form: int
) -> Tuple[int, str]:
    """Runs a verb. Returns the status, which is OK or CHECK_FAILED, and the text."""

    def call() -> Tuple[int, str, List[str]]:
        text, message = c_void_p(), c_void_p()
        with ExitStack() as stack:
            pointers = [stack.enter_context(handle.use()) for handle in handles]
            traces = (c_void_p * len(pointers))(*pointers)
            status = int(library().epi_run(traces, len(pointers), c_text(verb), encode(options), form,
                                           byref(text), byref(message)))
        check(status, message)
        return status, take_text(text), take_notes(message)

    status, found, notes = interruptible(call, title=str(verb))
    warn_of(notes)
    return status, found


def c_path(path: str) -> bytes:
    """A path for C. Bytes that are not UTF-8 pass unchanged."""
    if not isinstance(path, str):
        raise TypeError(f"expected a path, got {type(path).__name__}")
    return _without_nul(os.fsencode(path))


def c_text(text: str) -> bytes:
    """A string for C."""
    if not isinstance(text, str):
        raise TypeError(f"expected a string, got {type(text).__name__}")
    return _without_nul(text.encode("utf-8", "surrogateescape"))


def _without_nul(text: bytes) -> bytes:
    if b"\0" in text:
        raise ValueError(f"a NUL character in {text!r}")
    return text


def encode(options: Dict[str, Any]) -> Optional[bytes]:
    """The options that are set, as JSON."""
    chosen = {k: v for k, v in options.items() if v is not None and v is not False}
    return json.dumps(chosen, default=_plain).encode() if chosen else None


def _plain(value: Any) -> Any:
    """Numbers of numpy and paths, which `json` does not know."""
    return os.fspath(value) if isinstance(value, os.PathLike) else operator.index(value)


def warn_of(notes: Sequence[str]) -> None:
    """Warns at the line outside of the package that made the call."""
    if not notes:
        return
    level = 1
    frame = sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("epilogue."):
        frame = frame.f_back
        level += 1
    for note in notes:
        warnings.warn(note, TraceWarning, stacklevel=level)
