# SPDX-License-Identifier: Apache-2.0
"""Functions that open traces, and those that need two traces or none."""
from __future__ import annotations

import os
from typing import IO, Any, Dict, Optional, Sequence, Union

from . import _handle
from ._result import Result
from ._trace import Path, Trace, as_trace, run_verb

Source = Union[Path, bytes, bytearray, memoryview, "IO[bytes]", "IO[str]"]


def read(
    source: Union[Source, Sequence[Path]],
    *,
    step_pattern: Optional[str] = None,
    max_unpacked: Union[int, str, None] = None,
) -> Trace:
    """Reads a trace: a file, a list of files, a folder of ranks, bytes or an open file.

    Files are ``.json``, ``.json.gz`` or ``.json.zst``. ``step_pattern`` is a regular expression:
    annotations and operators that match it are steps. ``max_unpacked`` is the largest size of a
    decompressed trace, such as ``"2G"``; by default half of the memory.

    Ctrl-C ends a long read. Notes on the file give a :class:`epilogue.TraceWarning`.

    >>> trace = epilogue.read("trace.json.gz")
    >>> ranks = epilogue.read(["rank0.json.gz", "rank1.json.gz"])
    >>> trace = epilogue.read(open("trace.json", "rb"))
    """
    options: Dict[str, Any] = {
        "step_pattern": step_pattern,
        "max_unpacked": None if max_unpacked is None else str(max_unpacked),
    }
    trace = Trace(_open(source, options))
    _handle.warn_of(trace.notes)
    return trace


def _open(source: Any, options: Dict[str, Any]) -> _handle.Handle:
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


def compare(
    a: Union[Trace, Path],
    b: Union[Trace, Path],
    *,
    under: Optional[str] = None,
    names: Optional[str] = None,
) -> Result:
    """What changed between two traces, on the GPU and on the CPU.

    ``under`` compares one annotation, step or operator only.

    >>> epilogue.compare("eager.json", "compiled.json").same_gpu_work
    False
    """
    return run_verb([as_trace(a), as_trace(b)], "compare", {"under": under, "names": names})


def explain(*names: str) -> Result:
    """Decodes kernel names: library, types, tile, layout, epilogue, operators.

    >>> epilogue.explain("nvjet_tst_64x8_64x16_1x2_h_bz_bias_TNT").kernels[0].tile
    [64, 8, 64]
    """
    if not names or not all(isinstance(name, str) for name in names):
        raise TypeError("explain() takes kernel names: explain(name, ...)")
    return run_verb([], "explain", {"kernels": list(names)})
