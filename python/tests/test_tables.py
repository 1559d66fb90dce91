# SPDX-License-Identifier: Apache-2.0
"""Tables equal the results of ``query``."""
import ctypes
import gc
import subprocess
import sys

import epilogue
import pytest
from conftest import COMPILED, EAGER
from epilogue import _export
from epilogue._arrow import ArrowArray, ArrowArrayStream, ArrowSchema
from epilogue._trace import TABLES

numpy = pytest.importorskip("numpy", reason="numpy is not installed")


@pytest.fixture
def pandas():
    return pytest.importorskip("pandas", reason="pandas is not installed")


def as_columns(rows):
    """A column has one type: if it has strings, its numbers are strings as well."""
    names = rows[0] if rows else ()
    texts = {name for name in names if any(isinstance(row[name], str) for row in rows)}

    def value(name, cell):
        return str(cell) if name in texts and cell is not None else cell

    return [{name: value(name, cell) for name, cell in row.items()} for row in rows]


@pytest.mark.parametrize("table", TABLES)
def test_rows_equal_the_command(table, trace_path, read, command_json):
    expected = command_json("query", trace_path, f"select * from {table}")
    rows = list(read(trace_path).tables[table])
    assert rows == as_columns(expected)


@pytest.mark.parametrize("table", [name for name in TABLES if name != "args"])
def test_sums_equal_sql(table, trace_path, read):
    trace = read(trace_path)
    columns = trace.tables[table].to_numpy()
    for name, values in columns.items():
        if isinstance(values, epilogue.Categories):
            sql = f"select count({name}) n from {table}"
            assert trace.query(sql)[0]["n"] == (values.codes >= 0).sum()
        elif values.dtype.kind in "iu":
            # Time stamps are too large for sums of 64 bits: SQLite refuses them.
            sql = f"select total({name} % 1000000007) n, count({name}) c from {table}"
            row = trace.query(sql)[0]
            assert row["c"] == numpy.ma.count(values)
            assert row["n"] == numpy.ma.filled(numpy.fmod(values, 1000000007), 0).sum()


def test_statements(eager):
    rows = eager.query("select kind, count(*) n, avg(dur_ns) mean from kernels group by kind order by n")
    assert rows.columns == ["kind", "n", "mean"]
    assert [row["n"] for row in rows] == [6, 15]
    assert rows["mean"].to_numpy().dtype == "float64"
    assert rows[0]["kind"] == "memset"


def test_values_of_all_kinds(eager, pandas):
    table = eager.query(
        "select 1 a, 2.5 b, 'x' c, null d union all select null, null, null, null "
        "union all select -3, 0.0, 'yä', null"
    )
    assert [tuple(row.values()) for row in table] == [
        (1, 2.5, "x", None), (None, None, None, None), (-3, 0.0, "yä", None)
    ]
    arrays = table.to_numpy()
    assert arrays["a"].mask.tolist() == [False, True, False] and arrays["a"].sum() == -2
    frame = table.to_pandas()
    assert str(frame.dtypes["a"]) == "Int64" and frame["a"].sum() == -2
    assert numpy.isnan(frame["b"][1]) and frame["b"].dtype == "float64"
    assert frame["c"].isna().tolist() == [False, True, False]


def test_empty_results(eager, pandas):
    table = eager.query("select name, dur_ns from kernels where dur_ns < 0")
    assert len(table) == 0 and list(table) == [] and table.columns == ["name", "dur_ns"]
    assert len(table.to_pandas()) == 0 and len(table[:5]) == 0
    assert "0 rows" in table._repr_html_()


@pytest.mark.parametrize("sql", ["selec", "select * from nothing", "drop table kernels"])
def test_errors_of_statements(eager, command, sql):
    with pytest.raises(epilogue.InputError) as error:
        eager.query(sql)
    assert command("query", EAGER, sql, status=2) == f"epilogue: {error.value}\n"


def test_limit_of_rows_warns(eager):
    with pytest.warns(epilogue.TraceWarning, match="cut after 3 rows"):
        assert len(eager.query("select * from kernels", max_rows=3)) == 3


def test_timeout(eager):
    endless = "with recursive c(x) as (select 1 union all select x + 1 from c) select count(*) from c"
    with pytest.raises(epilogue.InputError, match="1 s"):
        eager.query(endless, timeout=1)


def test_slices_and_columns(eager):
    kernels = eager.kernels
    rows = list(kernels)
    assert len(kernels) == len(rows) == 21
    assert kernels[0] == rows[0] and kernels[-1] == rows[-1]
    part = kernels[3:8]
    assert isinstance(part, epilogue.Table) and list(part) == rows[3:8]
    assert list(part[1:3]) == rows[4:6] and len(kernels[50:]) == 0
    assert part.to_numpy()["dur_ns"].tolist() == [row["dur_ns"] for row in rows[3:8]]
    names = part.to_numpy()["name"]
    assert names.categories[names.codes].tolist() == [row["name"] for row in rows[3:8]]
    durations = kernels["dur_ns"]
    assert sum(durations) == sum(row["dur_ns"] for row in rows)
    assert durations[2] == rows[2]["dur_ns"] and list(durations[2:4]) == durations.to_list()[2:4]
    assert sum(durations.memory()) == sum(durations)
    with pytest.raises(IndexError, match="row 21 of 21"):
        kernels[21]
    with pytest.raises(KeyError, match='no column "duration"; columns: id, name'):
        kernels["duration"]
    with pytest.raises(ValueError, match="no step"):
        kernels[::2]


def test_pandas(eager, command_json, pandas):
    frame = eager.kernels.to_pandas()
    expected = pandas.DataFrame(command_json("query", EAGER, "select * from kernels"))
    assert str(frame["name"].dtype) == "category"
    assert frame.astype(expected.dtypes.to_dict()).equals(expected)
    assert frame.groupby("kind", observed=True)["dur_ns"].sum()["memset"] == 4640


def test_numpy_shares_the_memory(eager):
    first, second = eager.kernels.to_numpy(), eager.kernels.to_numpy()
    assert numpy.shares_memory(first["dur_ns"], second["dur_ns"])
    assert numpy.shares_memory(first["name"].codes, second["name"].codes)
    assert numpy.shares_memory(eager.kernels[4:].to_numpy()["dur_ns"], first["dur_ns"])
    with pytest.raises(ValueError, match="read-only"):
        first["dur_ns"][0] = 1


def test_arrays_outlive_table_and_trace():
    trace = epilogue.read(EAGER)
    array = trace.kernels.to_numpy()["dur_ns"]
    expected = array.tolist()
    trace.close()
    del trace
    gc.collect()
    junk = [bytes(4096) for _ in range(1000)]
    assert array.tolist() == expected and junk


def test_tables_are_lazy_and_shown(eager):
    fresh = epilogue.read(EAGER)
    assert fresh.kernels._loaded is None
    assert repr(fresh.kernels).startswith("<epilogue.Table kernels: 21 rows of id, name, kind, ts_ns")
    assert fresh.kernels is fresh.tables["kernels"] and fresh.kernels._loaded is not None
    html = fresh.kernels._repr_html_()
    assert "<th>dur_ns</th>" in html and "21 rows" in html and html.count("<tr>") == 11
    assert "&lt;" in html
    fresh.close()
    assert repr(fresh.ops) == "<epilogue.Table ops: the trace is closed>"


def test_several_files(command_json):
    with epilogue.read([EAGER, COMPILED]) as traces:
        assert traces.kernels.columns[:2] == ["file", "rank"]
        found = [dict(row) for row in traces.query("select count(*) n from kernels")]
        assert [row["file"] for row in found] == [0, 1]
        assert [row["n"] for row in found] == [21, 18]


def test_works_without_numpy():
    code = (
        "import sys; sys.modules['numpy'] = sys.modules['pandas'] = None\n"
        f"import epilogue; kernels = epilogue.read({EAGER!r}).kernels\n"
        "print(sum(kernels['dur_ns']), len(list(kernels)), kernels[0]['name'])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "703672 21 Memset (Device)\n"


def test_capsule_that_nobody_consumes(eager):
    len(eager.kernels)
    before = len(_export._alive)
    capsule = eager.kernels.__arrow_c_stream__()
    assert "arrow_array_stream" in repr(capsule)
    assert len(_export._alive) > before
    del capsule
    assert len(_export._alive) == before


def test_capsule_dropped_by_an_exception(eager):
    def fail():
        capsule = eager.kernels.__arrow_c_stream__()
        raise RuntimeError(f"with {type(capsule)}")

    before = len(_export._alive)
    with pytest.raises(RuntimeError, match="PyCapsule"):
        fail()
    gc.collect()
    assert len(_export._alive) == before


def take_stream(capsule):
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return ArrowArrayStream.from_address(get_pointer(capsule, b"arrow_array_stream"))


def test_consumer_may_move_a_child(eager):
    """As the specification allows: take a child, release the parent, and use the child."""
    len(eager.kernels)
    before = len(_export._alive)
    capsule = eager.kernels[2:].__arrow_c_stream__()
    stream = take_stream(capsule)
    schema, array, moved = ArrowSchema(), ArrowArray(), ArrowArray()
    ctypes.memset(ctypes.byref(array), 0x5A, ctypes.sizeof(array))  # memory has any content
    assert stream.get_schema(ctypes.byref(stream), ctypes.byref(schema)) == 0
    assert stream.get_next(ctypes.byref(stream), ctypes.byref(array)) == 0
    child = array.children[4].contents
    ctypes.memmove(ctypes.byref(moved), ctypes.byref(child), ctypes.sizeof(child))
    child.release = type(child.release)(0)
    array.release(ctypes.byref(array))
    assert not array.release
    end = ArrowArray()
    assert stream.get_next(ctypes.byref(stream), ctypes.byref(end)) == 0 and not end.release
    stream.release(ctypes.byref(stream))
    assert not stream.release
    del capsule
    values = ctypes.cast(moved.buffers[1], ctypes.POINTER(ctypes.c_int64))
    assert values[moved.offset] == eager.kernels[2]["dur_ns"] and moved.length == 19
    moved.release(ctypes.byref(moved))
    schema.release(ctypes.byref(schema))
    assert len(_export._alive) == before


def test_repeated_names_are_kept_apart(eager, pandas):
    table = eager.query("select 1 a, 2 a, 3 a")
    assert table.columns == ["a", "a_1", "a_2"]
    assert list(table) == [{"a": 1, "a_1": 2, "a_2": 3}]
    assert list(table.to_pandas().iloc[0]) == [1, 2, 3]


def test_a_long_timeout_is_refused(eager):
    with pytest.raises(epilogue.InputError, match="must be at most 1000000"):
        eager.query("select 1", timeout=10**10)


def test_statements_must_be_strings(eager):
    with pytest.raises(TypeError, match="expected a string, got NoneType"):
        eager.query(None)
