# SPDX-License-Identifier: Apache-2.0
"""The queries of docs/fleet.md, run by DuckDB on generated traces of several ranks."""
import json
import pathlib
import re

import pytest
from duck import Duck, needs_duckdb

RANKS, COLLECTIVES, LATE = 6, 8, 4
TRANSFER_US = 100
PAGE = pathlib.Path(__file__).parents[2] / "docs" / "fleet.md"


def trace_of(rank):
    """All-reduces of one rank. Rank LATE arrives 10 us later than the others, in number 5 it takes 50 us, and rank 2 is
    the last one in number 6."""
    events = []
    for i in range(COLLECTIVES):
        late = {5: 50}.get(i, 10)
        arrives_last = 2 if i == 6 else LATE
        duration = TRANSFER_US + (0 if rank == arrives_last else late)
        launch = 1000 * i + 10
        args = {"Collective name": "allreduce", "In msg nelems": 256, "Out msg nelems": 256, "dtype": "Float",
                "Group size": RANKS, "Process Group Name": "0"}
        lane = {"ph": "X", "pid": 1, "tid": 1}
        events += [
            {**lane, "cat": "cpu_op", "name": "record_param_comms", "ts": launch - 5, "dur": 20, "args": args},
            {**lane, "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": launch, "dur": 5,
             "args": {"correlation": i + 1}},
            {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", "pid": 0, "tid": 20,
             "ts": launch + 300, "dur": duration, "args": {"correlation": i + 1, "device": 0, "stream": 20}},
        ]
    return {"distributedInfo": {"rank": rank, "world_size": RANKS}, "traceEvents": events}


def statements():
    return re.findall(r"```sql\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture
def run(command, tmp_path):
    traces, tables = tmp_path / "traces", tmp_path / "tables"
    traces.mkdir()
    for rank in range(RANKS):
        (traces / f"rank{rank}.json").write_text(json.dumps(trace_of(rank)))
    command("query", str(traces), "--export", str(tables), "--format", "parquet")
    duck = Duck()
    yield lambda sql: duck.rows(sql.replace("'tables/", f"'{tables}/").rstrip().rstrip(";"))
    duck.close()


@needs_duckdb
def test_longest_wait(run):
    rows = run(statements()[0])
    assert len(rows) == 10
    longest = [(rank, kind, group, position, float(wait)) for rank, kind, group, position, wait in rows[:5]]
    others = [str(rank) for rank in range(RANKS) if rank != LATE]
    assert sorted(longest) == [(rank, "all_reduce", "0", "5", 50.0) for rank in others]


@needs_duckdb
def test_last_rank(run):
    rows = run(statements()[1])
    assert rows[0] == (str(LATE), str(COLLECTIVES - 1), str(COLLECTIVES))
    assert rows[1] == ("2", "1", str(COLLECTIVES))
    assert all(last == "0" for _, last, _ in rows[2:])
