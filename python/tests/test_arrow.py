# SPDX-License-Identifier: Apache-2.0
"""Arrow streams, read by DuckDB: an implementation that shares no code with this one."""
import epilogue
import pytest
from conftest import EAGER
from duck import Duck, needs_duckdb
from epilogue._trace import TABLES

pytestmark = needs_duckdb


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
