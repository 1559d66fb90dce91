# SPDX-License-Identifier: Apache-2.0
"""Functions that open traces, and those that need two traces or none."""
from __future__ import annotations

from typing import Any, Dict, Optional, Sequence, Union, cast

from ._source import Path, Source, open_source
from ._trace import Trace, as_trace, run_verb, trace_of
from ._types import CompareResult, ExplainResult


def read(
    source: Union[Source, Sequence[Path]],
    *,
    step_pattern: Optional[str] = None,
    max_unpacked: Union[int, str, None] = None,
    names_file: Optional[Path] = None,
) -> Trace:
    """Reads a trace: a file, a list of files, a folder of ranks, bytes or an open file.

    Files are ``.json``, ``.json.gz`` or ``.json.zst``. ``step_pattern`` is a regular expression:
    annotations and operators that match it are steps. ``max_unpacked`` is the largest size of a
    decompressed trace, such as ``"2G"``; by default half of the memory. ``names_file`` defines
    further kernel names (docs/explain.md), for all results of the trace.

    Ctrl-C ends a long read. Notes on the file give a :class:`epilogue.TraceWarning`.

    >>> trace = epilogue.read("trace.json.gz")
    >>> ranks = epilogue.read(["rank0.json.gz", "rank1.json.gz"])
    >>> trace = epilogue.read(open("trace.json", "rb"))
    """
    options: Dict[str, Any] = {
        "step_pattern": step_pattern,
        "max_unpacked": None if max_unpacked is None else str(max_unpacked),
        "names_file": names_file,
    }
    return trace_of(open_source(source, options))


def compare(
    a: Union[Trace, Path],
    b: Union[Trace, Path],
    *,
    under: Optional[str] = None,
    names: Optional[str] = None,
    names_file: Optional[Path] = None,
    json: Optional[int] = None,
) -> CompareResult:
    """What changed between two traces, on the GPU and on the CPU.

    ``under`` compares one annotation, step or operator only. :meth:`Trace.run` explains
    ``names_file`` and ``json``.

    >>> epilogue.compare("eager.json", "compiled.json").same_gpu_work
    False
    """
    options = {"under": under, "names": names, "names_file": names_file, "json": json}
    return cast(CompareResult, run_verb([as_trace(a), as_trace(b)], "compare", options))


def explain(
    *names: str, names_file: Optional[Path] = None, json: Optional[int] = None
) -> ExplainResult:
    """Decodes kernel names: library, types, tile, layout, epilogue, operators.

    :meth:`Trace.run` explains ``names_file`` and ``json``.

    >>> epilogue.explain("nvjet_tst_64x8_64x16_1x2_h_bz_bias_TNT").kernels[0].tile
    [64, 8, 64]
    """
    if not names or not all(isinstance(name, str) for name in names):
        raise TypeError("explain() takes kernel names: explain(name, ...)")
    options = {"kernels": list(names), "names_file": names_file, "json": json}
    return cast(ExplainResult, run_verb([], "explain", options))
