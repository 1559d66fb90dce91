# SPDX-License-Identifier: Apache-2.0
"""Exceptions. The messages are those of the command ``epilogue``."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._result import Result


class Error(Exception):
    """Something went wrong. ``status`` is the exit code that the command would have.

    >>> import epilogue
    >>> try:
    ...     epilogue.read("missing.json")
    ... except epilogue.Error as error:
    ...     print(error, error.status)
    missing.json: No such file or directory 2
    """

    def __init__(self, message: str, status: int = 2) -> None:
        super().__init__(message)
        self.status = status


class InputError(Error):
    """A file cannot be read, an option or a statement is invalid, or memory or disk ran out."""


class ClosedError(Error, ValueError):
    """A trace was used after ``close()``."""


class LibraryError(Error, ImportError):
    """``libepilogue_trace.so`` cannot be loaded."""


class InternalError(Error):
    """A bug in Epilogue."""


class ExpectationError(AssertionError):
    """A rule of :meth:`Trace.expect` is broken. The message lists what was found.

    ``result`` has the details: ``error.result.rules[0].found``.
    """

    def __init__(self, result: Result) -> None:
        super().__init__("not all rules hold\n" + result.text.rstrip("\n"))
        self.result = result

    def __reduce__(self) -> Any:
        # A process that receives the error has no trace: the result keeps its forms.
        return ExpectationError, (self.result.detached(),)


class TraceWarning(UserWarning):
    """A note on the input: the file is incomplete, or a limit cut a result."""
