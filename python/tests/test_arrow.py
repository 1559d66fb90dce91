# SPDX-License-Identifier: Apache-2.0
"""Arrow streams, read by DuckDB: an implementation that shares no code with this one."""
import ctypes
import os
from ctypes import POINTER, byref, c_char_p, c_int, c_uint64, c_void_p

import epilogue
import pytest
from conftest import EAGER
from epilogue._trace import TABLES

LIBRARY = os.environ.get("EPILOGUE_DUCKDB")
pytestmark = pytest.mark.skipif(
    not LIBRARY, reason="EPILOGUE_DUCKDB is not set: run EPILOGUE_DUCKDB=$(scripts/setup_duckdb)"
)


class DuckResult(ctypes.Structure):
    _fields_ = [
        ("column_count", c_uint64), ("row_count", c_uint64), ("rows_changed", c_uint64),
        ("columns", c_void_p), ("error_message", c_char_p), ("internal_data", c_void_p),
    ]


class Duck:
    """A database in memory."""

    def __init__(self):
        self.api = ctypes.CDLL(LIBRARY)
        result = POINTER(DuckResult)
        self.declare("duckdb_open", c_int, c_char_p, c_void_p)
        self.declare("duckdb_connect", c_int, c_void_p, c_void_p)
        self.declare("duckdb_query", c_int, c_void_p, c_char_p, result)
        self.declare("duckdb_arrow_scan", c_int, c_void_p, c_char_p, c_void_p)
        self.declare("duckdb_row_count", c_uint64, result)
        self.declare("duckdb_column_count", c_uint64, result)
        self.declare("duckdb_column_name", c_char_p, result, c_uint64)
        self.declare("duckdb_value_varchar", c_void_p, result, c_uint64, c_uint64)
        self.declare("duckdb_result_error", c_char_p, result)
        self.declare("duckdb_destroy_result", None, result)
        self.declare("duckdb_free", None, c_void_p)
        self.declare("duckdb_disconnect", None, c_void_p)
        self.declare("duckdb_close", None, c_void_p)
        self.database, self.connection = c_void_p(), c_void_p()
        assert self.api.duckdb_open(None, byref(self.database)) == 0
        assert self.api.duckdb_connect(self.database, byref(self.connection)) == 0

    def declare(self, name, result, *arguments):
        function = getattr(self.api, name)
        function.restype, function.argtypes = result, list(arguments)

    def close(self):
        self.api.duckdb_disconnect(byref(self.connection))
        self.api.duckdb_close(byref(self.database))

    def load(self, name, table):
        """Copies a table through its Arrow stream."""
        capsule = table.__arrow_c_stream__()
        get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
        get_pointer.restype, get_pointer.argtypes = c_void_p, [ctypes.py_object, c_char_p]
        stream = get_pointer(capsule, b"arrow_array_stream")
        assert self.api.duckdb_arrow_scan(self.connection, b"stream", stream) == 0
        self.rows(f"create or replace table {name} as select * from stream")
        self.rows("drop view stream")

    def rows(self, sql):
        """The result as rows of strings."""
        result = DuckResult()
        failed = self.api.duckdb_query(self.connection, sql.encode(), byref(result))
        try:
            assert not failed, self.api.duckdb_result_error(byref(result))
            count = self.api.duckdb_column_count(byref(result))
            return [
                tuple(self.value(result, column, row) for column in range(count))
                for row in range(self.api.duckdb_row_count(byref(result)))
            ]
        finally:
            self.api.duckdb_destroy_result(byref(result))

    def value(self, result, column, row):
        pointer = self.api.duckdb_value_varchar(byref(result), column, row)
        if not pointer:
            return None
        text = ctypes.string_at(pointer).decode()
        self.api.duckdb_free(pointer)
        return text


@pytest.fixture
def duck():
    database = Duck()
    yield database
    database.close()


def as_texts(table):
    return [
        tuple(None if value is None else str(value) for value in row.values()) for row in table
    ]


@pytest.mark.parametrize("path", [EAGER, "tests/data/pytorch/train_stack.json.gz"])
@pytest.mark.parametrize("name", TABLES)
def test_tables(duck, read, path, name):
    table = read(path).tables[name]
    duck.load("copy", table)
    assert duck.rows("select * from copy order by rowid") == as_texts(table)
    described = [row[0] for row in duck.rows("describe copy")]
    assert described == table.columns


def test_slices(duck, eager):
    part = eager.kernels[5:12]
    duck.load("copy", part)
    assert duck.rows("select * from copy order by rowid") == as_texts(part)


def test_empty_tables(duck, eager):
    duck.load("copy", eager.query("select name, dur_ns from kernels where dur_ns < 0"))
    assert duck.rows("select * from copy") == []


def test_missing_values(duck, eager):
    table = eager.query("select null n, parent, dur_ns * 1.0 x, nullif(name, 'mlp_fwd') s from ops")
    duck.load("copy", table[3:])
    expected = [
        (None, None if row["parent"] is None else str(row["parent"]), row["s"])
        for row in table[3:]
    ]
    assert duck.rows("select n, parent, s from copy order by rowid") == expected


def test_stream_outlives_the_trace(duck):
    trace = epilogue.read(EAGER)
    kernels = trace.kernels
    expected = as_texts(kernels)
    trace.close()
    del trace
    duck.load("copy", kernels)
    assert duck.rows("select * from copy order by rowid") == expected


def test_sums(duck, eager):
    duck.load("copy", eager.kernels)
    assert duck.rows("select sum(dur_ns), count(distinct name) from copy") == [("703672", "5")]
