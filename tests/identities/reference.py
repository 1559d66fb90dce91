#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# An independent implementation of docs/measures.md, written for clarity, to check Epilogue's
# numbers. All times are integer nanoseconds. As a program: reference.py TRACE prints the measures.
import bisect
import gzip
import json
import re
import statistics
import sys
import zlib
from collections import defaultdict
from decimal import Decimal
from typing import NamedTuple, Optional

# The second spelling of each category is that of PyTorch before 1.13.
GPU_KINDS = {"kernel": "kernel", "Kernel": "kernel", "gpu_memcpy": "memcpy", "Memcpy": "memcpy",
             "gpu_memset": "memset", "Memset": "memset", "mtia_ccp_events": "kernel"}
CALLS = {"cuda_runtime", "cuda_driver", "Runtime", "mtia_runtime", "xpu_runtime", "xpu_driver",
         "privateuse1_runtime", "privateuse1_driver"}
DRIVER_CALLS = {"cuda_driver", "xpu_driver", "privateuse1_driver"}
OPERATORS = {"cpu_op", "Operator"}
ANNOTATIONS = {"user_annotation"}
HOST = CALLS | OPERATORS | ANNOTATIONS | {"overhead"}  # no Python functions

PROFILER_STEP = re.compile(r"ProfilerStep#\d+")
SERVING_STEPS = [re.compile(r"execute_.*_context_.*_generation_.*"), re.compile(r"step\[.*\]"),
                 re.compile(r"capture_\d+.*")]
COLLECTIVE = re.compile(r"nccl|rccl|\bep::(internode|intranode)::", re.IGNORECASE)
WAIT = re.compile(r"ynchronize|Memcpy(?!.*(Async|Batch|Node))")
LAUNCH = re.compile(r"LaunchKernel|GraphLaunch|LaunchCooperative|ModuleLaunch")
NEVER = -(1 << 62)


class Call(NamedTuple):
    begin: int
    name: str


class Work(NamedTuple):
    """A GPU event."""
    begin: int
    end: int
    kind: str  # kernel, memcpy or memset
    device: object
    is_collective: bool
    launch: int   # the start of its call, else of its operator, else its own start
    linked: bool  # it has a call or an operator
    call: Optional[int]  # identifies its call


class Instance(NamedTuple):
    name: str
    begin: int
    end: int


# --- Reading -------------------------------------------------------------------------------------

def to_ns(us):
    """Converts microseconds, an int or decimal text, without loss."""
    if isinstance(us, int):
        return us * 1000
    whole, point, fraction = us.partition(".")
    if point and len(fraction) <= 3 and fraction.isdigit() and whole.isdigit():
        return int(whole) * 1000 + int((fraction + "00")[:3])
    return int((Decimal(us) * 1000).to_integral_value())


def read_events(path):
    """Returns the complete ("X") events of the file. None if it is not a trace."""
    with open(path, "rb") as file:
        data = file.read()
    try:
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
        document = json.loads(data, parse_float=str)
    except (OSError, EOFError, zlib.error, ValueError):
        return None
    events = document.get("traceEvents") if isinstance(document, dict) else document
    if not isinstance(events, list) or events and not any("ph" in event for event in events):
        return None
    complete = [event for event in events if event.get("ph") == "X" and "ts" in event]
    for event in complete:
        event["begin"] = to_ns(event["ts"])
        event["end"] = event["begin"] + max(0, to_ns(event.get("dur", 0)))
    return complete


def argument(event, *keys):
    """Returns an id. Ids of 0 and below mean that there is none."""
    for key in keys:
        value = (event.get("args") or {}).get(key)
        if value is not None:
            return value if int(value) > 0 else None
    return None


def correlation(event):
    return argument(event, "correlation")


def external_id(event):
    return argument(event, "External id", "external id")


class Trace:
    def __init__(self, events):
        by_category = defaultdict(list)
        for event in events:
            by_category[event.get("cat")].append(event)
        self.by_category = by_category
        calls, host = self.of(CALLS), self.of(HOST)
        started = {}
        self.work = link(self.of(GPU_KINDS), calls, self.of(OPERATORS | ANNOTATIONS), started)
        self.launches = sorted(event["begin"] for event in started.values())
        self.lost = sorted(event["begin"] for event in calls
                           if id(event) not in started and LAUNCH.search(event["name"]))
        self.syncs = sorted(event["begin"] for event in calls
                            if WAIT.search(event["name"]) and event["cat"] not in DRIVER_CALLS)
        marks = [(event["cat"], Instance(event["name"], event["begin"], event["end"]))
                 for event in self.of(OPERATORS | ANNOTATIONS)]
        self.steps = find_steps(marks)
        self.annotations = find_annotations(marks, set(self.steps))
        spans = [(event["begin"], event["end"]) for event in host]
        self.spans = {(event["begin"], event["end"]) for event in events}
        self.host_span = (min(s[0] for s in spans), max(s[1] for s in spans)) if spans else None

    def of(self, categories):
        return [event for category in sorted(categories) for event in self.by_category[category]]


# --- Launches ------------------------------------------------------------------------------------

def by_id(events, id_of):
    groups = defaultdict(list)
    for event in events:
        if id_of(event) is not None:
            groups[id_of(event)].append(event)
    return groups


def latest_before(candidates, ns):
    """The last event that starts at `ns` or before. If all start later, the first."""
    before = [event for event in candidates if event["begin"] <= ns]
    if before:
        return max(before, key=lambda event: event["begin"])
    return min(candidates, key=lambda event: event["begin"], default=None)


def link(gpu_events, calls, operators, started):
    """Returns the GPU work by launch. Fills `started`: the calls that started any."""
    calls_of, operators_of = by_id(calls, correlation), by_id(operators, external_id)
    work = []
    for event in gpu_events:
        if event["cat"] == "mtia_ccp_events" and event["name"] == "event_wait":
            continue  # it runs nothing
        call = caller = latest_before(calls_of.get(correlation(event), []), event["begin"])
        if call is not None:
            started[id(call)] = call
        else:
            candidates = operators_of.get(external_id(event), [])
            around = [op for op in candidates
                      if op["begin"] <= event["begin"] and event["end"] <= op["end"]]
            caller = latest_before(around or candidates, event["begin"])
        kind = GPU_KINDS[event["cat"]]
        work.append(Work(event["begin"], event["end"], kind, event["pid"],
                         kind == "kernel" and COLLECTIVE.search(event["name"]) is not None,
                         event["begin"] if caller is None else caller["begin"],
                         caller is not None, None if call is None else id(call)))
    return sorted(work, key=lambda one: one.launch)


# --- Steps and annotations -----------------------------------------------------------------------

def by_start(instance):
    return instance.begin, -instance.end  # an instance before those nested in it


def find_steps(marks):
    steps = [instance for _, instance in marks if PROFILER_STEP.fullmatch(instance.name)]
    if steps:
        return outermost(steps)
    families = [outermost([instance for category, instance in marks
                           if category in ANNOTATIONS and pattern.fullmatch(instance.name)])
                for pattern in SERVING_STEPS]
    return max(families, key=lambda family: sum(step.end - step.begin for step in family))


def outermost(instances):
    kept = []
    for instance in sorted(instances, key=by_start):
        if not kept or instance.end > kept[-1].end:
            kept.append(instance)
    return kept


def find_annotations(marks, steps):
    groups = defaultdict(list)
    for category, instance in marks:
        if category in ANNOTATIONS and instance not in steps:
            groups[instance.name].append(instance)
    return {name: sorted(group, key=by_start) for name, group in groups.items()}


# --- Intervals -----------------------------------------------------------------------------------

def union(intervals):
    merged = []
    for begin, end in sorted(intervals):
        if merged and begin <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(merged[-1][1], end)
        else:
            merged.append((begin, end))
    return merged


def covered(intervals, window):
    """The time in the window that at least one of the intervals covers."""
    clipped = [(max(begin, window[0]), min(end, window[1])) for begin, end in intervals]
    return sum(end - begin for begin, end in union([c for c in clipped if c[0] < c[1]]))


# --- Measures ------------------------------------------------------------------------------------

class Measures:
    def __init__(self, trace):
        self.trace = trace
        self.linked = [one for one in trace.work if one.linked]
        self.linked_at = [one.launch for one in self.linked]
        by_device = defaultdict(list)
        for one in sorted(trace.work, key=lambda one: one.begin):
            by_device[one.device].append(one)
        self.queues = {device: Queue(work) for device, work in by_device.items()}
        self.busy = {device: union([(one.begin, one.end) for one in work])
                     for device, work in sorted(by_device.items(), key=lambda item: str(item[0]))}
        self.shown_device = max(self.busy, default=None, key=lambda device: sum(
            end - begin for begin, end in self.busy[device]))

    def window(self, instance, owned):
        if not owned:
            return instance.begin, instance.end
        free = min(self.queues[device].end_of_work_before(instance.begin)
                   for device in {one.device for one in owned})
        begin = max(instance.begin, min(free, min(one.begin for one in owned)))
        return begin, max(instance.end, max(one.end for one in owned))

    def group(self, instances):
        """Measures the steps, or the annotations of one name, in order of their start."""
        rows = []
        for index, instance in enumerate(instances):
            first = bisect.bisect_left(self.linked_at, instance.begin)
            owned = self.linked[first:bisect.bisect_left(self.linked_at, instance.end)]
            row = self.row(instance, owned, self.window(instance, owned))
            for key, times in (("launches", self.trace.launches), ("syncs", self.trace.syncs),
                               ("lost_launches", self.trace.lost)):
                row[key] = count_between(times, instance.begin, instance.end)
            if index + 1 < len(instances):
                row["period"] = instances[index + 1].begin - instance.begin
            rows.append(row)
        median = statistics.median(row["step"] for row in rows)
        for row in rows:
            row["cold"] = row["step"] > 2 * median
        return rows

    def whole_trace(self):
        """It owns all work and ends with its last GPU event."""
        spans = [(one.begin, one.end) for one in self.trace.work]
        host = [self.trace.host_span] if self.trace.host_span else []
        if not spans + host:
            return {}
        begin = min(s[0] for s in spans + host)
        end = max(s[1] for s in spans + host)
        last = max((s[1] for s in spans), default=end)
        row = self.row(Instance("whole trace", begin, end), self.trace.work, (begin, last))
        row.update(launches=len(self.trace.launches), syncs=len(self.trace.syncs), cold=False,
                   lost_launches=len(self.trace.lost))
        return row

    def row(self, instance, owned, window):
        devices = {device: self.parts(device, owned, window) for device in self.busy}
        step = window[1] - window[0]
        shown = devices.get(self.shown_device, {"busy": 0, "others": 0, "idle": step})
        kinds = [one.kind for one in owned]
        return {"name": instance.name, "begin": instance.begin, "window": window,
                "cpu": instance.end - instance.begin, "step": step,
                "latency": max(window[1], instance.end) - instance.begin, "period": None,
                "gpu": sum(one.end - one.begin for one in owned),
                "busy": shown["busy"], "others": shown["others"], "idle": shown["idle"],
                "busy_share": shown["busy"] / step if step else 0,
                "kernels": kinds.count("kernel"), "memcpy": kinds.count("memcpy"),
                "memset": kinds.count("memset"), "devices": devices}

    def parts(self, device, owned, window):
        kinds = defaultdict(list)
        for one in owned:
            if one.device == device:
                kind = "communication" if one.is_collective else one.kind
                kinds[kind].append((one.begin, one.end))
        compute, communication = kinds["kernel"], kinds["communication"]
        copies = kinds["memcpy"] + kinds["memset"]
        compute_ns = covered(compute, window)
        kernels_ns = covered(compute + communication, window)
        busy_ns = covered(compute + communication + copies, window)
        first = bisect.bisect_right(self.busy[device], (window[0],)) - 1
        last = bisect.bisect_left(self.busy[device], (window[1],))
        running_ns = covered(self.busy[device][max(0, first):last], window)
        return {"busy": busy_ns, "compute": compute_ns,
                "communication": covered(communication, window),
                "exposed_communication": kernels_ns - compute_ns,
                "copies": covered(copies, window), "exposed_copies": busy_ns - kernels_ns,
                "others": running_ns - busy_ns, "idle": window[1] - window[0] - running_ns}


class Queue:
    """The work of one device, which must be sorted by start."""

    def __init__(self, work):
        # Work without a launch at the start of the recording was launched before it.
        before = next((i for i, one in enumerate(work) if one.linked), len(work))
        ends = sorted((NEVER if i < before else one.launch, one.end) for i, one in enumerate(work))
        self.launches = [launch for launch, _ in ends]
        self.latest = [NEVER]
        for _, end in ends:
            self.latest.append(max(self.latest[-1], end))

    def end_of_work_before(self, ns):
        """The end of the last work that was launched before `ns`."""
        return self.latest[bisect.bisect_left(self.launches, ns)]


def count_between(times, begin, end):
    return max(0, bisect.bisect_left(times, end) - bisect.bisect_left(times, begin))


def warm(rows):
    """The indices of the warm steps, without those that have no GPU work if any has."""
    indices = range(len(rows))
    with_work = [i for i in indices if rows[i]["kernels"] + rows[i]["memcpy"] + rows[i]["memset"]]
    candidates = with_work or list(indices)
    return [i for i in candidates if not rows[i]["cold"]] or candidates


def shown(rows):
    """The index of the warm step with the median step time."""
    by_time = sorted(warm(rows), key=lambda i: rows[i]["step"])
    return by_time[(len(by_time) - 1) // 2] if by_time else None


def measure(path) -> Optional[dict]:
    """Returns the measures of all steps and annotations. None if the file is not a trace."""
    events = read_events(path)
    if events is None:
        return None
    trace = Trace(events)
    measures = Measures(trace)
    whole = measures.whole_trace()
    steps = measures.group(trace.steps) if trace.steps else [whole] if whole else []
    total = sum(one.end - one.begin for one in trace.work)
    missing = sum(one.end - one.begin for one in trace.work if not one.linked)
    return {"steps": steps, "whole": whole, "shown": shown(steps),
            "annotations": {name: measures.group(group)
                            for name, group in trace.annotations.items()},
            "shown_device": measures.shown_device, "launches_missing": 2 * missing > total,
            "busy": measures.busy, "calls": {device: len({
                one.call for one in trace.work if one.device == device and one.call is not None})
                for device in measures.busy}, "spans": trace.spans}


if __name__ == "__main__":
    MEASURES = measure(sys.argv[1])
    if MEASURES is not None:
        del MEASURES["spans"]
    json.dump(MEASURES, sys.stdout, indent=2)
    print()
