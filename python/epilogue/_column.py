# SPDX-License-Identifier: Apache-2.0
"""One column of a table, on the memory of an Arrow array."""
from __future__ import annotations

from importlib import import_module
from struct import calcsize
from typing import Any, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union, overload

from ._arrow import Batch, text_at
from ._errors import InternalError

# Arrow's format of a number, and the same for `memoryview.cast` and for numpy.
_NUMBERS = {
    "c": ("b", "int8"), "C": ("B", "uint8"), "s": ("h", "int16"), "S": ("H", "uint16"),
    "i": ("i", "int32"), "I": ("I", "uint32"), "l": ("q", "int64"), "L": ("Q", "uint64"),
    "f": ("f", "float32"), "g": ("d", "float64"),
}
# Arrow's format of a string, and of its offsets.
_TEXTS = {"u": "i", "z": "i", "U": "q", "Z": "q"}


class Categories(NamedTuple):
    """A column of names: ``categories[codes[i]]`` is the name of row ``i``.

    Code -1 means that the row has no name.

    >>> name = trace.kernels["name"].to_numpy()
    >>> name.categories[name.codes]        # the names as one array of objects
    """

    codes: Any
    categories: Any


class Column(Sequence[Any]):
    """A column: a read-only sequence of ``int``, ``float``, ``str``, ``bytes`` or ``None``.

    >>> sum(trace.kernels["dur_ns"])
    2111016
    """

    def __init__(self, batch: Batch, index: int, start: int, length: int) -> None:
        self._batch = batch
        self._index = index
        self._start = start
        self._length = length
        self._schema = batch.schema.children[index].contents
        # Some producers send no batch at all if there are no rows.
        self._array = batch.array.children[index].contents if batch.array.n_children else None
        self.name = batch.names[index]

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, key: int) -> Any: ...

    @overload
    def __getitem__(self, key: slice) -> Column: ...

    def __getitem__(self, key: Union[int, slice]) -> Any:
        if isinstance(key, slice):
            start, length = sub_range(key, self._length)
            return Column(self._batch, self._index, self._start + start, length)
        position = key + self._length if key < 0 else key
        if not 0 <= position < self._length:
            raise IndexError(f"row {key} of {self._length}")
        return Column(self._batch, self._index, self._start + position, 1).to_list()[0]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.to_list())

    def __repr__(self) -> str:
        return f"<epilogue.Column {self.name}: {self._length} rows>"

    @property
    def is_names(self) -> bool:
        """True if the column has codes and categories."""
        return bool(self._schema.dictionary)

    def to_list(self) -> List[Any]:
        """The values as Python objects.

        >>> trace.kernels["dur_ns"].to_list()[:2]
        [768, 55712]
        """
        values = self._plain_list()
        valid = self._validity()
        if self.is_names:
            names = self._categories()
            count = len(names)
            values = [names[code] if 0 <= code < count else None for code in values]
        if valid is None:
            return values
        return [value if _bit(valid, self._first + i) else None for i, value in enumerate(values)]

    def memory(self) -> memoryview:
        """The numbers, or the codes of names, without a copy. Rows without a value hold 0 or any
        other number."""
        code, _ = self._number()
        size = calcsize(code)
        data: Any = self._buffer(1, (self._first + self._length) * size)
        view: memoryview = data[self._first * size :].cast(code)
        return view

    def to_numpy(self) -> Any:
        """The column for numpy.

        Numbers are a read-only array on the memory of the table, without a copy. If rows have no
        value, it is a ``numpy.ma.MaskedArray`` on the same memory. Names are :class:`Categories`;
        a row without a name has the code -1. Other strings are an array of objects.
        """
        numpy: Any = import_module("numpy")
        valid = self._validity()
        if self.is_names:
            codes = self._numbers(numpy)
            if valid is not None:
                codes = numpy.where(self._valid_rows(numpy, valid), codes, codes.dtype.type(-1))
            return Categories(codes, _objects(numpy, self._categories()))
        if self._format not in _NUMBERS:
            return _objects(numpy, self.to_list())
        values = self._numbers(numpy)
        if valid is None:
            return values
        return numpy.ma.MaskedArray(values, mask=~self._valid_rows(numpy, valid))

    def to_pandas(self) -> Any:
        """The column as a pandas array: ``Categorical``, ``Int64`` if rows have no value, or plain."""
        numpy: Any = import_module("numpy")
        pandas: Any = import_module("pandas")
        values = self.to_numpy()
        if isinstance(values, Categories):
            return pandas.Categorical.from_codes(values.codes, values.categories)
        if not isinstance(values, numpy.ma.MaskedArray):
            return values
        if values.dtype.kind == "f":
            return values.filled(numpy.nan)
        return pandas.arrays.IntegerArray(
            values.data.astype("int64"), numpy.ma.getmaskarray(values).copy()
        )

    # The rest reads Arrow's layout.

    @property
    def _format(self) -> str:
        return text_at(self._schema.format)

    @property
    def _first(self) -> int:
        """Position of the first row in the buffers."""
        array = self._array
        return self._start + (int(array.offset + self._batch.array.offset) if array else 0)

    def _number(self) -> Tuple[str, str]:
        if self._format not in _NUMBERS:
            raise TypeError(f'column "{self.name}" has no numbers')
        return _NUMBERS[self._format]

    def _buffer(self, index: int, size: int) -> memoryview:
        if self._array is None:
            return memoryview(b"")
        return self._batch.buffer(self._array, index, size)

    def _validity(self) -> Optional[memoryview]:
        """One bit per row, or None if every row has a value."""
        if self._array is None or self._array.null_count == 0 or self._format == "n":
            return None
        bits = self._buffer(0, (self._first + self._length + 7) // 8)
        return bits if len(bits) else None

    def _valid_rows(self, numpy: Any, valid: memoryview) -> Any:
        bits = numpy.unpackbits(numpy.frombuffer(valid, dtype="uint8"), bitorder="little")
        return bits[self._first : self._first + self._length].astype(bool)

    def _numbers(self, numpy: Any) -> Any:
        _, dtype = self._number()
        return numpy.frombuffer(self.memory(), dtype=dtype)

    def _plain_list(self) -> List[Any]:
        if self._length == 0:
            return []
        if self._format in _NUMBERS:
            return self.memory().tolist()
        if self._format == "n":
            return [None] * self._length
        if self._format == "b":
            bits = self._buffer(1, (self._first + self._length + 7) // 8)
            return [_bit(bits, self._first + i) for i in range(self._length)]
        return _texts(self._batch, self._array, self._format, self._first, self._length)

    def _categories(self) -> List[Any]:
        known = self._batch.categories.get(self._index)
        if known is not None or self._array is None:
            return known or []
        array = self._array.dictionary.contents
        layout = text_at(self._schema.dictionary.contents.format)
        found = _texts(self._batch, array, layout, int(array.offset), int(array.length))
        self._batch.categories[self._index] = found
        return found


def sub_range(key: slice, length: int) -> Tuple[int, int]:
    """The first row and the number of rows of a slice."""
    start, stop, step = key.indices(length)
    if step != 1:
        raise ValueError("slices of tables have no step: use to_numpy(), or a statement of query()")
    return start, max(0, stop - start)


def _bit(bits: memoryview, position: int) -> bool:
    return bool(bits[position >> 3] >> (position & 7) & 1)


def _texts(batch: Batch, array: Any, layout: str, first: int, length: int) -> List[Any]:
    if layout not in _TEXTS:
        raise InternalError(f'a column has the unknown Arrow format "{layout}"', 3)
    if length == 0:
        return []
    code = _TEXTS[layout]
    size = calcsize(code)
    view: Any = batch.buffer(array, 1, (first + length + 1) * size)
    offsets = view.cast(code)[first:].tolist()
    data = batch.buffer(array, 2, offsets[-1])
    pieces = [bytes(data[a:b]) for a, b in zip(offsets, offsets[1:])]
    if layout in "zZ":
        return list(pieces)
    return [piece.decode("utf-8", "replace") for piece in pieces]


def _objects(numpy: Any, values: List[Any]) -> Any:
    array = numpy.empty(len(values), dtype=object)
    array[:] = values
    return array
