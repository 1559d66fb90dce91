# SPDX-License-Identifier: Apache-2.0
"""`ranks --json` against the same numbers computed here from the JSON of the traces."""
import gzip
import json
import math
import statistics
from pathlib import Path

import pytest

# A generated job, and one of PyTorch's, which is not in the repository.
FOLDERS = ["tests/data/ranks", "../shared/data/peers/dlrm_8_ranks"]


def union(intervals):
    """Disjoint intervals, sorted."""
    merged = []
    for begin, end in sorted(intervals):
        if merged and begin <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        elif begin < end:
            merged.append([begin, end])
    return merged


def length(intervals):
    return sum(end - begin for begin, end in intervals)


def without(intervals, others):
    """The length of the part of `intervals` that is not in `others`: inclusion and exclusion."""
    return length(union([*intervals, *others])) - length(union(others))


def events_of(path):
    with gzip.open(path, "rt") as file:
        events = [event for event in json.load(file)["traceEvents"] if event.get("ph") == "X"]
    for event in events:  # in nanoseconds
        event["begin"] = round(event["ts"] * 1000)
        event["end"] = event["begin"] + round(event["dur"] * 1000)
    return events


def launched_work(events):
    """Kernels, copies and memsets, each with its launch, or None. Steps own those with a launch."""
    launched = {}
    for event in events:
        if event.get("cat") == "cuda_runtime" and "correlation" in event.get("args", {}):
            launched.setdefault(event["args"]["correlation"], event["begin"])
    work = [event for event in events if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")]
    return [(event, launched.get(event["args"]["correlation"])) for event in sorted(work, key=lambda e: e["begin"])]


def end_before(work, step):
    """The end of the work that was launched before a step. Work without a launch counts from its start or, at the start
    of the file, as launched before the recording."""
    end = -math.inf
    is_recorded = False
    for event, launch in work:
        is_recorded = is_recorded or launch is not None
        known = launch if launch is not None else event["begin"] if is_recorded else -math.inf
        if known < step["begin"]:
            end = max(end, event["end"])
    return end


def typical_step(events):
    """Window, compute, exposed and hidden communication and idle time of the step of median length, in us. See
    docs/measures.md."""
    work = launched_work(events)
    steps = []
    for step in events:
        if not step["name"].startswith("ProfilerStep#") or step["cat"] not in ("user_annotation", "cpu_op"):
            continue
        owned = [event for event, launch in work if launch is not None and step["begin"] <= launch < step["end"]]
        end = max([step["end"], *(event["end"] for event in owned)])
        # While earlier work runs, the step waits: its window starts later.
        begin = max(step["begin"], min([end_before(work, step), *(event["begin"] for event in owned)]))
        kinds = {"compute": [], "communication": []}
        for event in owned:
            interval = event["begin"], event["end"]
            if event["cat"] == "kernel":
                kinds["communication" if "nccl" in event["name"].lower() else "compute"].append(interval)
        compute, communication = union(kinds["compute"]), union(kinds["communication"])
        exposed = without(communication, compute)
        # Work of other steps is not idle time.
        running = union((max(event["begin"], begin), min(event["end"], end)) for event, _ in work)
        window = end - begin
        steps.append((window, length(compute), exposed, length(communication) - exposed, window - length(running)))
    median = statistics.median(window for window, *_ in steps)
    warm = sorted(step for step in steps if step[0] <= 2 * median)
    return [value / 1000 for value in warm[(len(warm) - 1) // 2]]


def durations_of(events):
    """Kernels of collectives in the order of their starts."""
    kernels = [event for event in events if event.get("cat") == "kernel" and event["name"].startswith("nccl")]
    return [event["end"] - event["begin"] for event in sorted(kernels, key=lambda event: event["begin"])]


@pytest.mark.parametrize("folder", FOLDERS)
def test_numbers_equal_those_of_the_events(command_json, folder):
    files = sorted(Path(folder).glob("*.json.gz"))
    if not files:
        pytest.skip(f"{folder} is not there")
    found = command_json("ranks", folder)
    assert [Path(rank["file"]) for rank in found["ranks"]] == files
    for path, rank in zip(files, found["ranks"]):
        keys = "step_us", "compute_us", "exposed_communication_us", "hidden_communication_us", "idle_us"
        assert [rank[key] for key in keys] == pytest.approx(typical_step(events_of(path)), abs=0.001), path
        assert sum(rank["idle_classes"].values()) == pytest.approx(rank["idle_us"], abs=0.01)
        assert rank["collectives"] == len(durations_of(events_of(path)))


def test_arrivals_equal_those_of_the_events(command_json):
    files = sorted(Path(FOLDERS[1]).glob("*.json.gz"))
    if not files:
        pytest.skip(f"{FOLDERS[1]} is not there")
    ranks = [durations_of(events_of(path)) for path in files]
    last, skews, transfers = [0] * len(ranks), [], []
    for durations in zip(*ranks):
        last[durations.index(min(durations))] += 1
        skews.append(max(durations) - min(durations))
        transfers.append(min(durations))
    found = command_json("ranks", FOLDERS[1])
    assert [rank["arrived_last"] for rank in found["ranks"]] == last
    kinds = found["collectives"]
    assert sum(kind["count"] for kind in kinds) == found["compared"] == len(skews)
    assert sum(kind["count"] * kind["skew_us_mean"] for kind in kinds) == pytest.approx(sum(skews) / 1000, abs=0.1)
    assert sum(kind["count"] * kind["transfer_us_mean"] for kind in kinds) == pytest.approx(sum(transfers) / 1000, abs=0.1)
