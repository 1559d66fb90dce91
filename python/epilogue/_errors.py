# SPDX-License-Identifier: Apache-2.0
"""Exceptions. The messages are those of the command ``epilogue``."""
from __future__ import annotations


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


class TraceWarning(UserWarning):
    """A note on the input: the file is incomplete, or a limit cut a result."""
