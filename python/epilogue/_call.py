# SPDX-License-Identifier: Apache-2.0
"""Calls that Ctrl-C can end.

Python handles signals between its own instructions, so a C call on the main thread would delay
Ctrl-C until it returns. Long calls therefore run on a thread of their own while the caller waits.
"""
from __future__ import annotations

import sys
import threading
import time
from typing import Callable, Generic, Optional, TypeVar

from ._errors import Error

T = TypeVar("T")

SHOW_AFTER_S = 1.0
CANCEL_S = 1.0


class Progress:
    """What the callback of a call reports, and whether the call shall end."""

    def __init__(self) -> None:
        self.fraction = 0.0
        self.is_cancelled = False

    def __call__(self, user: object, fraction: float) -> int:
        self.fraction = fraction
        return int(self.is_cancelled)


class _Worker(threading.Thread, Generic[T]):
    def __init__(self, function: Callable[[], T]) -> None:
        super().__init__(name="epilogue", daemon=True)
        self.function = function
        self.result: Optional[T] = None
        self.error: Optional[BaseException] = None
        self.done = threading.Event()

    def run(self) -> None:
        try:
            self.result = self.function()
        except BaseException as error:  # Raised again in the caller.
            self.error = error
        finally:
            self.done.set()

    def finish(self) -> bool:
        """Waits for the end of a cancelled call. False if it takes too long: a single function of
        SQLite cannot be cancelled."""
        return self.done.wait(CANCEL_S)


def interruptible(
    function: Callable[[], T],
    progress: Optional[Progress] = None,
    title: str = "",
    discard: Optional[Callable[[T], None]] = None,
) -> T:
    """Runs ``function`` on another thread. Ctrl-C ends the wait with ``KeyboardInterrupt``.

    With ``progress``, the call is cancelled first, and a result that came too late goes to
    ``discard``. Without it, the call cannot be cancelled: it ends in the background.
    """
    __tracebackhide__ = True  # pytest then points at the test
    worker = _Worker(function)
    line = _Line(title, progress)
    worker.start()
    try:
        while not worker.done.wait(line.interval):
            line.update()
    except BaseException:
        if progress is not None:
            progress.is_cancelled = True
            if worker.finish() and discard is not None and worker.result is not None:
                discard(worker.result)
        raise
    finally:
        line.clear()
    if worker.error is not None:
        # Frames of the other thread do not help with an error of the library.
        is_ours = isinstance(worker.error, Error)
        raise worker.error.with_traceback(None if is_ours else worker.error.__traceback__)
    return worker.result  # type: ignore[return-value]


class _Line:
    """The progress line on standard error: after one second, and only if it is a terminal."""

    def __init__(self, title: str, progress: Optional[Progress]) -> None:
        self.title = title
        self.progress = progress
        self.start = time.monotonic()
        self.is_shown = False
        self.interval: Optional[float] = 0.1 if title and _is_terminal() else None

    def update(self) -> None:
        elapsed = time.monotonic() - self.start
        if elapsed < SHOW_AFTER_S:
            return
        known = self.progress is not None and self.progress.fraction > 0
        done = f"{self.progress.fraction:4.0%}" if known and self.progress else f"{elapsed:.0f} s"
        sys.stderr.write(f"\r{self.title} {done}")
        sys.stderr.flush()
        self.is_shown = True

    def clear(self) -> None:
        if self.is_shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def _is_terminal() -> bool:
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):  # No standard error, or a closed one.
        return False
