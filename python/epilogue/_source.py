# SPDX-License-Identifier: Apache-2.0
"""Opens what :func:`epilogue.read` takes: paths, bytes and open files."""
from __future__ import annotations

import os
from typing import IO, Any, Dict, Sequence, Union

from . import _handle

Path = Union[str, "os.PathLike[str]"]
Source = Union[Path, bytes, bytearray, memoryview, "IO[bytes]", "IO[str]"]


def open_source(source: Union[Source, Sequence[Path]], options: Dict[str, Any]) -> _handle.Handle:
    """Reads the files of a source. ``options`` are those of ``epi_trace_open``."""
    if isinstance(source, (str, os.PathLike)):
        return _handle.open_paths([os.fspath(source)], options)
    if isinstance(source, (bytes, bytearray, memoryview)):
        return _handle.open_memory(bytes(source), "memory", options)
    if hasattr(source, "read"):
        return _open_file(source, options)
    if isinstance(source, (list, tuple)) and source:
        return _handle.open_paths([os.fspath(path) for path in source], options)
    is_empty = isinstance(source, (list, tuple))
    found = f"an empty {type(source).__name__}" if is_empty else type(source).__name__
    raise TypeError(f"read() takes a path, a list of paths, bytes or an open file, not {found}")


def _open_file(file: Any, options: Dict[str, Any]) -> _handle.Handle:
    data = file.read()
    if isinstance(data, str):
        data = data.encode("utf-8", "surrogateescape")
    if not isinstance(data, (bytes, bytearray)):
        raise TypeError(f"the file's read() must return bytes, not {type(data).__name__}")
    name = getattr(file, "name", None)
    return _handle.open_memory(bytes(data), name if isinstance(name, str) else "memory", options)
