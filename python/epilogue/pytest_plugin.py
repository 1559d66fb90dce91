# SPDX-License-Identifier: Apache-2.0
"""pytest plugin: records a callable and checks what it runs.

    def test_mlp(expect_trace):
        trace = expect_trace(mlp, x)
        trace.expect("step: kernels == 5")

A broken rule fails the test with what was found. ``expect_trace.rules(trace, "mlp.rules")`` checks
the rules of a file beside the test; ``pytest --epilogue-update`` writes it. With ``--junitxml``, the
report has the measures of the steps and the value that each rule found as properties.
"""
from __future__ import annotations

import os
import statistics
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Optional, Sequence, Union

import pytest

# The package is imported by the fixture only: tests without it stay as fast as before.
if TYPE_CHECKING:
    from epilogue import Result, Trace

_MEASURES = ("kernels", "launches", "gpu_us", "cpu_us", "idle_us", "busy_share")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("epilogue")
    group.addoption(
        "--epilogue-update",
        action="store_true",
        help="write the rules that hold to the files of expect_trace.rules()",
    )


@pytest.fixture
def expect_trace(request: pytest.FixtureRequest) -> ExpectTrace:
    """Records a callable: ``trace = expect_trace(fn, *args, steps=3, warmup=3)``."""

    # Not the fixture `record_property`, which warns about pytest's default JUnit family.
    def record_property(name: str, value: object) -> None:
        request.node.user_properties.append((name, value))

    return ExpectTrace(
        folder=request.path.parent,
        is_update=bool(request.config.getoption("--epilogue-update")),
        record_property=record_property,
    )


class ExpectTrace:
    """The fixture ``expect_trace``."""

    def __init__(
        self, folder: Path, is_update: bool, record_property: Callable[[str, object], None]
    ) -> None:
        self._folder = folder
        self._is_update = is_update
        self._record_property = record_property

    def __call__(
        self,
        fn: Callable[..., Any],
        *args: Any,
        names_file: Union[str, Path, None] = None,
        **options: Any,
    ) -> Trace:
        """Records ``fn(*args)`` with the options of :func:`epilogue.record`. ``names_file`` is
        relative to the test."""
        import epilogue

        names_file = names_file and self._folder / names_file
        return self._watch(epilogue.record(fn, *args, names_file=names_file, **options))

    def read(
        self,
        source: Any,
        *,
        step_pattern: Optional[str] = None,
        names_file: Union[str, Path, None] = None,
    ) -> Trace:
        """Reads a trace that was recorded otherwise. Paths are relative to the test."""
        import epilogue

        if isinstance(source, (list, tuple)):
            source = [self._folder / path for path in source]
        elif isinstance(source, (str, Path)):
            source = self._folder / source
        names_file = names_file and self._folder / names_file
        trace = epilogue.read(source, step_pattern=step_pattern, names_file=names_file)
        return self._watch(trace)

    def rules(self, trace: Trace, file: str) -> None:
        """Checks the rules of a file beside the test. ``--epilogue-update`` writes the file."""
        __tracebackhide__ = True
        path = (self._folder / file).resolve()
        if self._is_update:
            _write_whole(path, trace.suggest_rules())
        if not path.exists():
            pytest.fail(f"{path}: no such file; pytest --epilogue-update writes it", pytrace=False)
        trace.expect(rules_file=path)

    def _watch(self, trace: Trace) -> Trace:
        trace._on_expect = self._record_rules
        for position, result in enumerate(_files(trace.steps())):
            rank = trace.ranks[position]
            file = f"file{position}." if rank is None else f"rank{rank}."
            self._record_steps(result.get("steps", []), file if len(trace) > 1 else "")
        return trace

    def _record_steps(self, steps: Sequence[Any], file: str) -> None:
        prefix = f"epilogue.{file}"
        for measure in _MEASURES:
            values = [step[measure] for step in steps if step[measure] is not None]
            if values:
                self._record_property(f"{prefix}step.{measure}", statistics.median(values))

    def _record_rules(self, result: Result) -> None:
        for file in _files(result):
            for rule in file["rules"]:
                self._record_property(f"epilogue.rule {rule['rule']}", rule["found"])


def _write_whole(path: Path, text: str) -> None:
    """Replaces a file at once, so that an interrupted run does not leave half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
    finally:
        if temporary.exists():
            temporary.unlink()


def _files(result: Result) -> Sequence[Any]:
    """The objects of the files: several inputs have a list of them."""
    files = result.json.get("files")
    return files if isinstance(files, list) else [result.json]
