# SPDX-License-Identifier: Apache-2.0
"""Records traces with ``torch.profiler``. torch is imported when a recording starts."""
from __future__ import annotations

import os
from importlib import import_module
from types import TracebackType
from typing import Any, Callable, Optional, Type

from . import _handle
from ._errors import Error, InputError
from ._source import Path
from ._trace import Trace, trace_of


def record(
    fn: Callable[..., Any],
    *args: Any,
    steps: int = 3,
    warmup: int = 3,
    names_file: Optional[Path] = None,
    **profiler_options: Any,
) -> Trace:
    """Calls ``fn(*args)`` under ``torch.profiler`` and returns the trace.

    The first ``warmup`` calls are not recorded. Each of the following ``steps`` calls is a step of
    the trace. GPU work is recorded if torch has a GPU. ``names_file`` is that of
    :func:`epilogue.read`. Other options go to ``torch.profiler.profile``; ``record_shapes`` is true
    unless given. To pass keyword arguments to ``fn``, use a lambda.

    >>> trace = epilogue.record(model, x)
    >>> trace.steps().steps[0].kernels
    """
    name = getattr(fn, "__name__", None) or type(fn).__name__
    options = {"names_file": names_file, **profiler_options}
    with profile(steps=steps, warmup=warmup, name=name, **options) as recording:
        for _ in range(warmup + steps):
            fn(*args)
            recording.step()
    return recording.trace


class profile:
    """Records the code of a ``with`` block. ``trace`` is the result.

    >>> with epilogue.profile() as p:
    ...     train(batch)
    >>> print(p.trace.summary())

    With ``steps``, call ``step()`` after each iteration. The first ``warmup`` of them are not
    recorded. ``names_file`` is that of :func:`epilogue.read`. Other options go to
    ``torch.profiler.profile``.

    >>> with epilogue.profile(steps=3, warmup=3) as p:
    ...     for batch in loader:
    ...         train(batch)
    ...         p.step()
    """

    def __init__(
        self,
        *,
        steps: Optional[int] = None,
        warmup: int = 3,
        name: str = "recording",
        names_file: Optional[Path] = None,
        **profiler_options: Any,
    ) -> None:
        if steps is not None and "schedule" in profiler_options:
            raise TypeError("give either steps or schedule")
        if warmup < 0 or (steps is not None and steps < 1):
            raise ValueError("steps must be at least 1, and warmup at least 0")
        self._torch = _import_torch()
        self._name = name
        self._names_file = names_file
        self._warmup = warmup if steps is not None else 0
        self._steps = steps
        self._count = 0
        self._data: Optional[bytes] = None
        self._trace: Optional[Trace] = None
        self._has_steps = steps is not None or "schedule" in profiler_options
        options = dict(profiler_options)
        if steps is not None:
            options["schedule"] = self._torch.profiler.schedule(
                wait=0, warmup=warmup, active=steps, repeat=1
            )
        options.setdefault("activities", _activities(self._torch))
        options.setdefault("record_shapes", True)
        self._user_handler = options.pop("on_trace_ready", None)
        self._profiler = self._torch.profiler.profile(on_trace_ready=self._save, **options)

    @property
    def trace(self) -> Trace:
        """The recorded trace, after the ``with`` block."""
        if self._trace is None:
            raise Error("the recording has not ended: use `trace` after the `with` block")
        return self._trace

    def step(self) -> None:
        """Marks the end of a step."""
        if not self._has_steps:
            raise Error("step() needs profile(steps=...) or profile(schedule=...)")
        self._count += 1
        if self._count == self._warmup:
            # Work of the warm-up that is still in flight would run inside of the first step.
            _synchronize(self._torch)
        self._profiler.step()

    def __enter__(self) -> profile:
        _synchronize(self._torch)
        self._profiler.__enter__()
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self._profiler.__exit__(kind, error, traceback)
        if error is not None:
            return
        if self._data is None:
            raise InputError(
                f"nothing was recorded: the block ended after {self._count} steps, and the first "
                "that is recorded comes later"
            )
        if self._steps is not None and self._count < self._warmup + self._steps:
            expected = self._warmup + self._steps
            _handle.warn_of([
                f"step() was called {self._count} times instead of {expected}: "
                "the last step is not complete"
            ])
        options = {"names_file": self._names_file}
        self._trace = trace_of(_handle.open_memory(self._data, f"{self._name}.json", options))
        self._data = None

    def _save(self, profiler: Any) -> None:
        import tempfile  # here, because it would slow down `import epilogue`

        # In a schedule that repeats, the last cycle remains. The profiler writes files only.
        with tempfile.TemporaryDirectory(prefix="epilogue-") as folder:
            path = os.path.join(folder, "trace.json")
            profiler.export_chrome_trace(path)
            with open(path, "rb") as file:
                self._data = file.read()
        if self._user_handler is not None:
            self._user_handler(profiler)


def _import_torch() -> Any:
    try:
        torch = import_module("torch")
        import_module("torch.profiler")
    except ImportError as error:
        raise ImportError(
            f"recording a trace needs PyTorch: {error}; epilogue.read() works without it"
        ) from None
    return torch


def _activities(torch: Any) -> Any:
    activity = torch.profiler.ProfilerActivity
    return [activity.CPU] + ([activity.CUDA] if torch.cuda.is_available() else [])


def _synchronize(torch: Any) -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()
