# SPDX-License-Identifier: Apache-2.0
"""Reads PyTorch profiler traces: what limits a step, what changed, and checks for tests.

>>> import epilogue
>>> trace = epilogue.read("trace.json.gz")        # or epilogue.record(model, x)
>>> print(trace.summary())
>>> trace.kernels.to_pandas()
>>> trace.expect("step: no sync")
>>> print(epilogue.compare("eager.json", "compiled.json"))

``docs/python.md`` is a walk-through.
"""
from __future__ import annotations

from pkgutil import extend_path
from typing import Any

from ._check import ExpectationError
from ._column import Categories, Column
from ._errors import ClosedError, Error, InputError, InternalError, LibraryError, TraceWarning
from ._read import compare, explain, read
from ._record import profile, record
from ._result import Record, Result
from ._table import Table
from ._trace import Trace

__all__ = [
    "Categories",
    "ClosedError",
    "Column",
    "Error",
    "ExpectationError",
    "InputError",
    "InternalError",
    "LibraryError",
    "Record",
    "Result",
    "Table",
    "Trace",
    "TraceWarning",
    "compare",
    "explain",
    "profile",
    "read",
    "record",
    "version",
]

# epilogue.torch comes from another wheel, which may be installed in another folder.
__path__ = extend_path(__path__, __name__)

version: str

# Tracebacks and help show `epilogue.InputError`, not the file that defines it.
for _name in __all__:
    if isinstance(globals().get(_name), type):
        globals()[_name].__module__ = __name__


def __getattr__(name: str) -> Any:
    # The version is that of the library, which is loaded when it is first needed.
    if name in ("version", "__version__"):
        from ._library import version as library_version

        return library_version()
    raise AttributeError(f"module 'epilogue' has no attribute {name!r}")
