# SPDX-License-Identifier: Apache-2.0
"""Tables of a trace and results of SQL statements."""
from __future__ import annotations

import operator
from importlib import import_module
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple, Union, overload

from . import _html
from ._arrow import Batch
from ._column import Column, sub_range
from ._errors import ClosedError
from ._export import stream_capsule

Row = Dict[str, Any]
_SHOWN_ROWS = 10


class Table(Sequence[Row]):
    """Columns of a trace. They are computed when they are first needed, then kept: a table can be
    used after its trace is closed.

    >>> kernels = epilogue.read("trace.json.gz").kernels
    >>> len(kernels), kernels.columns[:3]
    (21, ['id', 'name', 'kind'])
    >>> kernels[0]["dur_ns"]                       # a row is a dict
    768
    >>> sum(kernels["dur_ns"])                     # a column is a sequence
    703672
    >>> kernels[5:10].to_pandas()                  # a slice is a table, without a copy
    >>> kernels.to_numpy()["dur_ns"].sum()
    703672

    polars, pyarrow and DuckDB read a table through ``__arrow_c_stream__``, without a copy:
    ``polars.DataFrame(kernels)``, ``pyarrow.table(kernels)``.
    """

    def __init__(self, title: str, load: Callable[[], Batch]) -> None:
        self._title = title
        self._load = load
        self._loaded: Optional[Batch] = None
        self._range: Optional[Tuple[int, int]] = None

    @property
    def _batch(self) -> Batch:
        if self._loaded is None:
            self._loaded = self._load()
        return self._loaded

    @property
    def _rows(self) -> Tuple[int, int]:
        """The first row in the batch, and the number of rows."""
        return self._range if self._range is not None else (0, self._batch.length)

    @property
    def columns(self) -> List[str]:
        """The names of the columns. If a statement repeats a name, ``a``, it becomes ``a_1``."""
        return _distinct(self._batch.names)

    def __len__(self) -> int:
        return self._rows[1]

    def column(self, position: int) -> Column:
        """A column by its position."""
        start, length = self._rows
        return Column(self._batch, range(len(self.columns))[position], start, length)

    @overload
    def __getitem__(self, key: int) -> Row: ...

    @overload
    def __getitem__(self, key: slice) -> Table: ...

    @overload
    def __getitem__(self, key: str) -> Column: ...

    def __getitem__(self, key: Union[int, slice, str]) -> Any:
        if isinstance(key, str):
            return self.column(self._position(key))
        start, length = self._rows
        if isinstance(key, slice):
            first, count = sub_range(key, length)
            return self._part(start + first, count)
        key = operator.index(key)
        position = key + length if key < 0 else key
        if not 0 <= position < length:
            raise IndexError(f"row {key} of {length}")
        return next(iter(self._part(start + position, 1)))

    def __iter__(self) -> Iterator[Row]:
        names = self.columns
        for values in self._tuples():
            yield dict(zip(names, values))

    def to_numpy(self) -> Dict[str, Any]:
        """A dict of arrays by column name.

        Numbers are read-only arrays on the memory of the table, without a copy; a column with rows
        without a value is a ``numpy.ma.MaskedArray``. Names are :class:`epilogue.Categories`.
        """
        return {name: self.column(i).to_numpy() for i, name in enumerate(self.columns)}

    def to_pandas(self) -> Any:
        """A ``pandas.DataFrame``: names are categorical, integers with missing values ``Int64``."""
        pandas: Any = import_module("pandas")
        return pandas.DataFrame(
            {name: self.column(i).to_pandas() for i, name in enumerate(self.columns)}
        )

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """A new Arrow C stream in a PyCapsule. ``requested_schema`` is ignored, as Arrow allows."""
        return stream_capsule(self._batch, *self._rows)

    def __repr__(self) -> str:
        try:
            return f"<epilogue.Table {self._title}: {len(self)} rows of {', '.join(self.columns)}>"
        except ClosedError as error:
            return f"<epilogue.Table {self._title}: {error}>"

    def _repr_html_(self) -> str:
        shown = self[:_SHOWN_ROWS]
        return _html.table(self.columns, shown._tuples(), f"{self._title}: {len(self)} rows")

    def _position(self, name: str) -> int:
        names = self.columns
        if name not in names:
            raise KeyError(f'no column "{name}"; columns: {", ".join(names)}')
        return names.index(name)

    def _part(self, start: int, length: int) -> Table:
        part = Table(self._title, self._load)
        part._loaded = self._batch
        part._range = (start, length)
        return part

    def _tuples(self) -> Iterator[Tuple[Any, ...]]:
        columns = [self.column(i).to_list() for i in range(len(self.columns))]
        return zip(*columns)


def _distinct(names: Sequence[str]) -> List[str]:
    found: List[str] = []
    for name in names:
        number = 1
        distinct = name
        while distinct in found:
            distinct = f"{name}_{number}"
            number += 1
        found.append(distinct)
    return found
