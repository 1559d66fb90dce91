# SPDX-License-Identifier: Apache-2.0
"""`query --export --format parquet`, read by DuckDB and by hyparquet: two implementations that share no code with this one."""
import json
import os
import pathlib
import shutil
import subprocess

import pytest
from conftest import EAGER
from duck import LIBRARY, Duck, needs_duckdb
from epilogue._trace import TABLES


@pytest.fixture
def duck():
    database = Duck()
    yield database
    database.close()


def files_of(folder, table, rank="*"):
    return f"read_parquet('{folder}/{table}/rank={rank}/*.parquet', hive_partitioning = true)"


def text_of(value):
    if value is None or isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) else f"{value:.17g}"


@needs_duckdb
def test_tables_equal_query(duck, command, command_json, trace_path, tmp_path):
    folder = tmp_path / "tables"
    command("query", trace_path, "--export", str(folder), "--format", "parquet")
    for table in TABLES:
        rows = command_json("query", trace_path, f"select * from {table}")
        found = duck.rows(f"select * exclude (rank) from {files_of(folder, table)}")
        assert len(found) == len(rows), table
        for ours, theirs in zip(rows, found):
            for name, value, text in zip(ours, ours.values(), theirs):
                if isinstance(value, float):  # texts of numbers in a column that has texts too
                    assert float(text) == value, (table, name)
                else:
                    assert text == text_of(value), (table, name)


def read_with_hyparquet(files):
    """The rows of each file. setup_duckdb installs hyparquet beside DuckDB."""
    modules = next(folder for folder in pathlib.Path(LIBRARY).parents if folder.name == "node_modules")
    script = pathlib.Path(__file__).parent / "duckdb" / "read_parquet.mjs"
    out = subprocess.run(["node", str(script), str(modules), *map(str, files)], capture_output=True, text=True, check=True)
    return [json.loads(line) for line in out.stdout.splitlines()]


@needs_duckdb
@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_hyparquet_reads_the_same_tables(command, command_json, trace_path, tmp_path):
    folder = tmp_path / "tables"
    command("query", trace_path, "--export", str(folder), "--format", "parquet")
    tables = read_with_hyparquet(next((folder / table).glob("rank=*/part-0.parquet")) for table in TABLES)
    for table, found in zip(TABLES, tables):
        rows = command_json("query", trace_path, f"select * from {table}")
        assert len(found) == len(rows), table
        for ours, theirs in zip(rows, found):
            for name, value in ours.items():
                if isinstance(value, float):
                    assert float(theirs[name]) == value, (table, name)
                else:
                    assert theirs[name] == text_of(value), (table, name)


@needs_duckdb
def test_ranks_are_partitions(duck, command, tmp_path):
    folder = tmp_path / "tables"
    files = [EAGER, "tests/data/traces/mlp_compile.json"]
    command("query", files[0], "--also", files[1], "--export", str(folder), "--format", "parquet")
    counts = duck.rows(f"select rank, count(*) from {files_of(folder, 'kernels')} group by 1 order by 1")
    assert counts == [("0", "21"), ("1", "18")]


@needs_duckdb
def test_any_text(duck, command, tmp_path):
    names = ["", "a\u0000b", "\u65e5\u672c", "\U0001f600", "x" * 20000, "a\tb\nc", "'\""]
    events = [
        {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": i * 10, "dur": 5}
        for i, name in enumerate(names)
    ]
    trace = tmp_path / "names.json"
    trace.write_text(json.dumps({"traceEvents": events}))
    raw = trace.read_bytes().replace(b'"\'\\""', b'"bad \xff byte"')
    trace.write_bytes(raw)
    folder = tmp_path / "tables"
    command("query", str(trace), "--export", str(folder), "--format", "parquet")
    hexes = duck.rows(f"select hex(encode(name)) from {files_of(folder, 'ops')} order by id")
    expected = [*names[:-1], "bad \ufffd byte"]
    assert [bytes.fromhex(row[0]).decode() for row in hexes] == expected


@needs_duckdb
def test_row_groups(duck, command, tmp_path):
    """Several groups and pages, nulls in between, and more than 2**16 distinct texts."""
    count = 200_000
    events = []
    for i in range(count):
        event = {"ph": "X", "cat": "kernel" if i % 3 else "cpu_op", "name": f"name {i % 70_000} {'x' * 1200}"}
        events.append({**event, "pid": 1, "tid": 1, "ts": i, "dur": 1, "args": {"stream": 7} if i % 2 else {}})
    trace = tmp_path / "large.json"
    trace.write_text(json.dumps({"traceEvents": events}))
    folder = tmp_path / "tables"
    command("query", str(trace), "--export", str(folder), "--format", "parquet")
    file = f"'{folder}/events/rank=0/part-0.parquet'"
    groups = duck.rows(f"select max(total_uncompressed_size), count(distinct row_group_id) from parquet_metadata({file})")
    assert int(groups[0][1]) >= 2 and int(groups[0][0]) <= 128 << 20
    found = duck.rows(f"select count(*), sum(id), count(distinct name), sum(ts_ns) from {files_of(folder, 'events')}")
    ours = json.loads(command("query", str(trace), "--json",
                              "select count(*) n, sum(id) s, count(distinct name) d, sum(ts_ns) t from events"))[0]
    assert found == [tuple(str(value) for value in ours.values())]


@needs_duckdb
@pytest.mark.skipif("EPILOGUE_SLOW" not in os.environ, reason="takes half a minute: set EPILOGUE_SLOW")
def test_ten_million_rows(duck, command, tmp_path):
    events, keys = 500_000, 20
    arguments = ", ".join(f'"key {k}": {k}' for k in range(keys - 1))
    trace = tmp_path / "many.json"
    with trace.open("w") as file:
        file.write('{"traceEvents": [')
        for i in range(events):
            file.write(f'{"," if i else ""}{{"ph": "X", "cat": "cpu_op", "name": "op", "pid": 1, "tid": 1, "ts": {i}, "dur": 1, '
                       f'"args": {{{arguments}, "number": {i}}}}}')
        file.write("]}")
    folder = tmp_path / "tables"
    command("query", str(trace), "--export", str(folder), "--format", "parquet")
    table = files_of(folder, "args")
    assert duck.rows(f"select count(*), count(distinct key) from {table}") == [(str(events * keys), str(keys))]
    numbers = duck.rows(f"select sum(cast(value as bigint)), max(event) from {table} where key = 'number'")
    assert numbers == [(str(events * (events - 1) // 2), str(events - 1))]


def test_errors(command, tmp_path):
    used = tmp_path / "used"
    used.mkdir()
    (used / "notes.txt").write_text("mine")
    message = command("query", EAGER, "--export", str(used), "--format", "parquet", status=2)
    assert "exists; --format parquet needs a new or empty folder" in message
    assert [path.name for path in used.iterdir()] == ["notes.txt"]
    assert "--format csv: must be sqlite or parquet" in command(
        "query", EAGER, "--export", str(tmp_path / "x"), "--format", "csv", status=2)
    missing = tmp_path / "missing" / "folder"
    assert "No such file" in command("query", EAGER, "--export", str(missing), "--format", "parquet", status=2)
    file = tmp_path / "file"
    file.write_text("mine")
    assert "exists" in command("query", EAGER, "--export", str(file), "--format", "parquet", status=2)
    assert file.read_text() == "mine" and len(list(tmp_path.iterdir())) == 2
