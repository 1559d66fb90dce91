# SPDX-License-Identifier: Apache-2.0
"""DuckDB through its C interface: it reads Arrow streams and Parquet files, and shares no code with this project."""
import ctypes
import os
from ctypes import POINTER, byref, c_char_p, c_int, c_uint64, c_void_p

import pytest

LIBRARY = os.environ.get("EPILOGUE_DUCKDB")
needs_duckdb = pytest.mark.skipif(
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
