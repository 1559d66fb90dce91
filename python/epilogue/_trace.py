# SPDX-License-Identifier: Apache-2.0
"""``Trace``: one trace, or the ranks of a run."""
from __future__ import annotations

import os
from types import TracebackType
from typing import (
    Any, Callable, Dict, List, Literal, Mapping, Optional, Sequence, Type, Union, cast, overload,
)

from . import _handle, _html
from ._check import CheckResult, ExpectationError, rule_list
from ._handle import Handle
from ._library import CHECK_FAILED, JSON, TEXT
from ._result import Result
from ._source import Path, open_source
from ._table import Table
from ._types import (
    AdviseResult, BreakdownResult, ExplainResult, RanksResult, StepsResult, SummaryResult,
    TableResult, TreeResult,
)

TABLES = ("events", "ops", "kernels", "launches", "steps", "annotations", "args", "frames", "collectives")


class Trace:
    """An open trace. Made by :func:`epilogue.read` and :func:`epilogue.record`.

    Several threads may use it at the same time. ``len(trace)`` is the number of its files.

    ``names_file`` and ``json`` of the methods are explained by :meth:`run`.

    >>> trace = epilogue.read("trace.json.gz")
    >>> print(trace.summary())                       # what limits a step, on one screen
    >>> trace.steps().steps[0].kernels               # a number
    >>> trace.kernels.to_pandas()                    # all kernels
    """

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        info = handle.info()
        self._info: List[Dict[str, Any]] = info["files"]
        self._notes: List[str] = info.get("notes", [])
        self._tables: Dict[str, Table] = {}
        # The pytest plugin records what is checked.
        self._on_expect: Optional[Callable[[Result], None]] = None

    # What was read.

    @property
    def files(self) -> List[str]:
        """The names of the files, one per rank."""
        return [str(file["file"]) for file in self._info]

    @property
    def ranks(self) -> List[Optional[int]]:
        """The ranks of the files. ``None`` if a file has none."""
        return [file["rank"] for file in self._info]

    @property
    def notes(self) -> List[str]:
        """What to know about the files, for example that one ends early."""
        of_files = [f"{file['file']}: {note}" for file in self._info for note in file["notes"]]
        return self._notes + of_files

    @property
    def is_closed(self) -> bool:
        return self._handle.is_closed

    def close(self) -> None:
        """Frees the memory. Tables and results that were computed before can still be used."""
        self._handle.close()

    def __enter__(self) -> Trace:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()

    def __len__(self) -> int:
        return len(self._info)

    def __repr__(self) -> str:
        if self.is_closed:
            return f"<epilogue.Trace {', '.join(self.files[:2])}: closed>"
        name = self.files[0] if len(self) == 1 else f"{self.files[0]} and {len(self) - 1} more"
        events = sum(int(file["events"]) for file in self._info)
        return f"<epilogue.Trace {name}: {events} events; print(trace.summary()) shows it>"

    def _repr_html_(self) -> str:
        return _html.preformatted(repr(self) if self.is_closed else self.summary().text)

    # Verbs.

    @overload
    def run(self, verb: Literal["ranks"], **options: Any) -> RanksResult: ...

    @overload
    def run(self, verb: str, **options: Any) -> Any: ...

    def run(self, verb: str, **options: Any) -> Any:
        """Runs any verb of the command with its options: ``trace.run("tree", depth=3)``.

        Every verb has these options. ``names_file`` defines further kernel names
        (docs/explain.md), instead of the names file of :func:`epilogue.read`. ``json=1`` names the
        fields as in schema 1, for one release: use ``result["busy"]`` where types are checked. ``width`` is the width of the text.

        >>> trace.run("explain", names_file="my_kernels.txt").kernels[0].library
        'acme'
        """
        return run_verb([self], verb, options)

    def summary(
        self,
        *,
        names: Optional[str] = None,
        names_file: Optional[Path] = None,
        json: Optional[int] = None,
    ) -> SummaryResult:
        """What limits a step, on one screen.

        ``names`` is ``"raw"``, ``"decoded"`` or ``"both"``: how kernel names are shown.

        >>> trace.summary().regime
        'host_bound'
        """
        result = self.run("summary", names=names, names_file=names_file, json=json)
        return cast(SummaryResult, result)

    def table(
        self,
        *,
        sort: Optional[str] = None,
        limit: Optional[int] = None,
        by_shape: bool = False,
        stats: bool = False,
        names_file: Optional[Path] = None,
        json: Optional[int] = None,
    ) -> TableResult:
        """The profiler table, as PyTorch prints it.

        ``sort`` is a column in PyTorch's names. ``by_shape`` groups by input shapes. ``stats`` adds
        minimum, median and p90 per call.

        >>> trace.table(sort="self_cpu_time_total", limit=5).rows[0].name
        'aten::mm'
        """
        result = self.run(
            "table", sort=sort, limit=limit, by_shape=by_shape, stats=stats, names_file=names_file,
            json=json,
        )
        return cast(TableResult, result)

    def steps(
        self, *, names_file: Optional[Path] = None, json: Optional[int] = None
    ) -> StepsResult:
        """Time, kernels and idle time per step and annotation.

        >>> [step.kernels for step in trace.steps().steps]
        [5, 5, 5]
        """
        return cast(StepsResult, self.run("steps", names_file=names_file, json=json))

    def tree(
        self,
        *,
        step: Optional[int] = None,
        under: Optional[str] = None,
        depth: Optional[int] = None,
        full: bool = False,
        names: Optional[str] = None,
        names_file: Optional[Path] = None,
        json: Optional[int] = None,
    ) -> TreeResult:
        """The operators of one step as a tree, down to the kernels.

        ``step`` is the N of ``ProfilerStep#N``. ``under`` shows the first annotation or operator of
        this name only. ``full`` shows every line of trees over 200 lines.

        >>> print(trace.tree(under="mlp_fwd", depth=2))
        """
        result = self.run(
            "tree", step=step, under=under, depth=depth, full=full, names=names,
            names_file=names_file, json=json,
        )
        return cast(TreeResult, result)

    def breakdown(
        self,
        *,
        critical: bool = False,
        all: bool = False,
        names_file: Optional[Path] = None,
        json: Optional[int] = None,
    ) -> BreakdownResult:
        """Where the GPU time goes, and why the GPU is idle.

        ``critical`` shows the critical path of a step instead, with every part if ``all``.

        >>> trace.breakdown().devices[0].idle_us
        376.353
        """
        result = self.run("breakdown", critical=critical, all=all, names_file=names_file, json=json)
        return cast(BreakdownResult, result)

    def advise(
        self,
        *,
        under: Optional[str] = None,
        all: bool = False,
        against: Union[Trace, Path, None] = None,
        names_file: Optional[Path] = None,
        json: Optional[int] = None,
    ) -> AdviseResult:
        """What would make a step faster, by how much, and why.

        ``under`` analyzes one annotation, step or operator. ``all`` shows all advice, however
        small. ``against`` is a run after the change: the estimate is compared with it.

        >>> [advice.title for advice in trace.advise().advice]
        """
        traces = [self] if against is None else [self, as_trace(against)]
        options = {"under": under, "all": all, "names_file": names_file, "json": json}
        return cast(AdviseResult, run_verb(traces, "advise", options))

    def gemms(
        self, *, names_file: Optional[Path] = None, json: Optional[int] = None
    ) -> TableResult:
        """The GEMMs with sizes, tiles, TFLOP/s and share of the peak.

        >>> trace.gemms().gemms[0].m
        8192
        """
        return cast(TableResult, self.run("table", gemms=True, names_file=names_file, json=json))

    def explain(
        self,
        *,
        names: Optional[str] = None,
        names_file: Optional[Path] = None,
        json: Optional[int] = None,
    ) -> ExplainResult:
        """Decodes the names of all kernels: library, types, tile, layout, epilogue, operators.

        >>> trace.explain().kernels[0].library
        'cublas'
        """
        result = self.run("explain", names=names, names_file=names_file, json=json)
        return cast(ExplainResult, result)

    # Checks.

    def expect(
        self,
        rules: Union[str, Sequence[str]] = (),
        *,
        rules_file: Optional[Path] = None,
        raise_error: bool = True,
        names_file: Optional[Path] = None,
        json: Optional[int] = None,
    ) -> CheckResult:
        """Checks rules. Raises :class:`ExpectationError` with what was found if one is broken.

        ``rules`` is one rule, lines as in a rules file, or a list. ``rules_file`` is a file of rules.

        >>> trace.expect("mlp_fwd: kernels == 5")
        >>> trace.expect(["step: no sync", "step: median gpu_time < 250us"])
        >>> trace.expect("mlp_fwd: kernels == 2", raise_error=False).ok
        False
        """
        __tracebackhide__ = True  # pytest then points at the test.
        options = {
            "rules": rule_list(rules), "rules_file": rules_file, "names_file": names_file,
            "json": json,
        }
        status, text = _handle.run([self._handle], "expect", options, JSON)
        result = CheckResult(_runner([self], "expect", options))
        result._forms[JSON] = text
        if self._on_expect is not None:
            self._on_expect(result)
        if status == CHECK_FAILED and raise_error:
            raise ExpectationError(result)
        return result

    def suggest_rules(self, *, names_file: Optional[Path] = None) -> str:
        """Rules that hold for this trace, to start from: the text of a rules file."""
        options = {"init": True, "names_file": names_file}
        return _handle.run([self._handle], "expect", options, TEXT)[1]

    # Tables.

    @property
    def tables(self) -> Mapping[str, Table]:
        """All tables by name: events, ops, kernels, launches, steps, annotations, args, frames,
        collectives."""
        return {name: self._table(name) for name in TABLES}

    @property
    def events(self) -> Table:
        """All events of the file."""
        return self._table("events")

    @property
    def ops(self) -> Table:
        """Operators and annotations."""
        return self._table("ops")

    @property
    def kernels(self) -> Table:
        """Kernels, copies and memsets.

        >>> sum(trace.kernels["dur_ns"])
        703672
        """
        return self._table("kernels")

    @property
    def launches(self) -> Table:
        """Runtime and driver calls."""
        return self._table("launches")

    def query(
        self, sql: str, *, max_rows: Optional[int] = None, timeout: Optional[int] = None
    ) -> Table:
        """The result of an SQL statement. It runs at once, so that a mistake shows here.

        ``max_rows`` limits the result (1000000), ``timeout`` the time in seconds. A result that was
        cut gives a :class:`TraceWarning`.

        >>> trace.query("select name, sum(dur_ns) ns from kernels group by name order by ns desc")[0]
        """
        batch, notes = self._handle.query(sql, {"max_rows": max_rows, "timeout": timeout})
        _handle.warn_of(notes)
        table = Table("query", lambda: batch)
        table._loaded = batch
        return table

    def _table(self, name: str) -> Table:
        if name not in self._tables:
            handle = self._handle
            self._tables[name] = Table(name, lambda: handle.table(name))
        return self._tables[name]

    # Files.

    def report(
        self,
        path: Path,
        *,
        after: Union[Trace, Path, None] = None,
        force: bool = False,
        names_file: Optional[Path] = None,
    ) -> None:
        """Writes an HTML page that opens offline. ``after`` adds a second trace.

        >>> trace.report("trace.html")
        """
        traces = [self] if after is None else [self, as_trace(after)]
        options = {"output": os.fspath(path), "force": force, "names_file": names_file}
        _handle.run([trace._handle for trace in traces], "report", options, TEXT)

    def save(self, path: Path, *, file: int = 0) -> None:
        """Writes the trace, compressed if the path ends in ``.gz`` or ``.zst``.

        ``file`` selects one of several ranks.

        >>> trace.save("trace.json.gz")
        """
        if not 0 <= file < len(self):
            raise IndexError(f"file {file} of {len(self)}")
        self._handle.save(file, os.fspath(path))


def run_verb(traces: Sequence[Trace], verb: str, options: Dict[str, Any]) -> Result:
    """A result that runs the verb when it is used. It keeps the traces alive until then."""
    return Result(_runner(traces, verb, options))


def _runner(traces: Sequence[Trace], verb: str, options: Dict[str, Any]) -> Callable[[int], str]:
    def run(form: int) -> str:
        return _handle.run([trace._handle for trace in traces], verb, options, form)[1]

    return run


def trace_of(handle: Handle) -> Trace:
    """The trace of a new handle. Warns of its notes."""
    trace = Trace(handle)
    _handle.warn_of(trace.notes)
    return trace


def as_trace(source: Union[Trace, Path]) -> Trace:
    """A trace as it is, or the trace of a path."""
    return source if isinstance(source, Trace) else trace_of(open_source(source, {}))
