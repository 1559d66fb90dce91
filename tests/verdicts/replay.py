#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Decides what limits the steps of a PyTorch profiler trace by replaying them.

    replay.py TRACE [--json]

The recorded program is run again on virtual clocks, one for each host thread and one for each stream.
Threads go through their recorded segments, calls release work to streams, streams run it in order, and
calls that wait are held until the work is done. With nothing changed, this gives the recorded time. With a
class of time removed, it gives the time that the step would take without it.
"""
import argparse
import bisect
import gzip
import json
import re
import statistics
import sys
import zlib

# Classes of time. PLAIN is host time that is dispatch or program, depending on its length.
GPU, COPIES, COMMUNICATION, LOADING, DISPATCH, PROGRAM, ALLOCATION, STARTUP, COMPILATION, SYNC = range(10)
UNEXPLAINED, PROFILER, PLAIN, FITTED = 10, 11, 12, 13
NAMES = ["gpu", "copies", "communication", "loading", "dispatch", "program", "allocation", "startup",
         "compilation", "synchronization"]

US = 1000
MS = 1000 * US
LONG_STRETCH = 1 * MS       # host time without a launch that counts as work of the program
UNEXPLAINED_DELAY = 100 * US  # more than launch latency or a gap explains
SKEW = 5 * US               # clocks of host and device disagree by this much
LATE = 20 * US              # a call that waits for all work may end this long before it, by the clocks
TYPICAL_CALL = 5 * US
QUEUE = 1024                # launches that a stream holds before the next one blocks
NEVER = -1 << 62

DEVICE_CATEGORIES = {"kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset"}
WAITS = re.compile(r"^(cuda|hip)(Device|Stream|Event)Synchronize|^cu(Ctx|Stream|Event)Synchronize")
WAITS_FOR_ALL = re.compile(r"DeviceSynchronize|CtxSynchronize")
ALLOCATES = re.compile(r"^(cuda|hip)(Ext)?(Malloc|Free|Host(Alloc|Malloc|Free|Register|Unregister)|MemPool)"
                       r"|^cuMem(Alloc|Free|Create|Map|Unmap|Release|SetAccess|AddressReserve)")
FREES = re.compile(r"^(cuda|hip)Free(?!Async|Host)|^cuMemFree")
LOADS_MODULES = re.compile(r"^(cu|hip)(Init$|CtxCreate|DevicePrimaryCtxRetain|ModuleLoad|LibraryLoad)"
                           r"|^(cuda|hip)(InitDevice|LibraryLoad)")
LAUNCHES_KERNEL = re.compile(r"Launch(Cooperative)?Kernel|ModuleLaunch|GraphLaunch")
STREAM_WAITS = re.compile(r"^(cuda|hip|cu)StreamWaitEvent")
BEGINS_CAPTURE = re.compile(r"StreamBeginCapture")
ENDS_CAPTURE = re.compile(r"StreamEndCapture")
BUILDS_GRAPH = re.compile(r"Graph(Instantiate|ExecUpdate|Upload)")
COLLECTIVE = re.compile(r"nccl|rccl|deep_?ep|::ep::|internode::|intranode::|nvshmem|all_?reduce|reduce_?scatter"
                        r"|all_?gather|all_?to_?all|cross_device_reduce", re.I)
NOT_COLLECTIVE = re.compile(r"^(nvjet|cutlass|void cutlass)", re.I)
LOADING_RANGE = re.compile(r"^enumerate\(DataLoader\)|torch/utils/data/dataloader\.py.*__next__")
COMPILATION_RANGE = re.compile(
    r"\(dynamo_timed\)|^_compile\.compile_inner|^CachingAutotuner\.|^GraphLowering\.|^async_compile\."
    r"|torch/_dynamo/convert_frame\.py"
    r"|torch/_inductor/(graph|scheduler|codecache)\.py\(\d+\): (run|codegen|compile|load)"
    r"|triton/compiler/compiler\.py\(\d+\): compile")
TRAINING_STEP = re.compile(r"^ProfilerStep#\d+")
SERVING_STEP = re.compile(r"^execute_.*_context_.*_generation_|^step\[|^capture_\d")
CAPTURE_STEP = re.compile(r"^capture_\d")


class Refused(Exception):
    """The file is not a trace."""


# ---------------------------------------------------------------------------------------------- reading

def read_text(path):
    """Returns the text of the file and whether it is incomplete."""
    with open(path, "rb") as file:
        data = file.read()
    cut = False
    if data[:2] == b"\x1f\x8b":
        try:
            data = gzip.decompress(data)
        except (EOFError, zlib.error, OSError):
            cut = True
            data = inflate_what_is_there(data)
    return data.decode("utf-8", "replace"), cut


def inflate_what_is_there(data):
    """Decompresses a broken gzip file up to where it breaks."""
    inflater = zlib.decompressobj(31)
    pieces = []
    for at in range(0, len(data), 1 << 14):
        try:
            pieces.append(inflater.decompress(data[at:at + (1 << 14)]))
        except zlib.error:
            break
    return b"".join(pieces)


def raw_events(text):
    """Yields the trace's events one by one, so that only one is in memory. Returns whether the list ends early."""
    # Numbers with decimals stay text: times need all digits.
    decoder = json.JSONDecoder(strict=False, parse_float=str)
    blank = re.compile(r"[\s,]*")
    key = text.find('"traceEvents"')
    start = text.find("[", key) if key >= 0 else text.find("[")
    if start < 0 or (key < 0 and text[:start].strip(" \t\r\n\ufeff")):
        raise Refused("no traceEvents")
    at = start + 1
    while True:
        at = blank.match(text, at).end()
        if at >= len(text):
            return True
        if text[at] == "]":
            return False
        try:
            event, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return True
        if isinstance(event, dict):
            yield event


def nanoseconds(value):
    """Microseconds, as a number or text, to integer nanoseconds."""
    if isinstance(value, int):
        return value * 1000
    text = str(value)
    whole, _, part = text.partition(".")
    try:
        number = int(whole) * 1000 + int((part + "000")[:3]) if "-" not in whole else round(float(text) * 1000)
    except ValueError:
        number = round(float(text) * 1000)
    return number


class Work:
    """A kernel, copy or memset."""
    __slots__ = ("start", "end", "stream", "kind", "pageable", "call", "launch", "linked", "queued", "place",
                 "correlation", "operator",
                 # Of the replay:
                 "latency", "excess", "staged", "after", "gap", "delay", "needs", "released", "starts", "ends")

    def __init__(self, start, end, stream, kind):
        self.start, self.end, self.stream, self.kind = start, end, stream, kind
        self.pageable = self.linked = False
        self.call = self.correlation = self.operator = None
        self.launch = self.queued = start
        self.place = 0
        self.released = self.ends = None


class Call:
    """A call of the runtime or driver."""
    __slots__ = ("start", "end", "name", "thread", "works", "kind", "correlation", "blocks")

    def __init__(self, start, end, name, thread, correlation):
        self.start, self.end, self.name, self.thread, self.correlation = start, end, name, thread, correlation
        self.works = []
        self.kind = PLAIN
        self.blocks = False


class Thread:
    def __init__(self, key):
        self.key = key
        self.calls = []
        self.spans = []    # [start, end] of operators, annotations and Python frames
        self.tops = []     # the same without Python frames
        self.ranges = []   # (start, end, class)
        self.painted = []  # disjoint (start, end, class), sorted
        self.bounds = []


class Trace:
    def __init__(self):
        self.threads = {}
        self.works = []
        self.streams = {}
        self.calls_by_id = {}
        self.sync_events = {}
        self.overhead = []
        self.marks = []        # (start, end, thread key, name) of candidates for steps
        self.captures = []     # (start, end) of recordings of graphs
        self.cut = False

    def thread(self, key):
        if key not in self.threads:
            self.threads[key] = Thread(key)
        return self.threads[key]


def class_of_work(category, name):
    if category in ("gpu_memcpy", "memcpy"):
        if "DtoD" in name:
            return GPU
        return COMMUNICATION if "PtoP" in name or "Peer" in name else COPIES
    if category in ("gpu_memset", "memset"):
        return GPU
    return COMMUNICATION if COLLECTIVE.search(name) and not NOT_COLLECTIVE.search(name) else GPU


def read_trace(path):
    text, cut = read_text(path)
    trace = Trace()
    operators = {}
    flags = {}
    events = raw_events(text)
    while True:
        try:
            event = next(events)
        except StopIteration as stop:
            trace.cut = cut or bool(stop.value)
            break
        if event.get("ph") != "X":
            continue
        category = str(event.get("cat", "")).lower()
        name = str(event.get("name", ""))
        if category in ("trace", "gpu_user_annotation", ""):
            continue
        try:
            start = nanoseconds(event["ts"])
            end = start + max(0, nanoseconds(event.get("dur", 0)))
        except (KeyError, ValueError):
            continue
        args = event.get("args")
        args = args if isinstance(args, dict) else {}
        key = (str(event.get("pid")), str(event.get("tid")))
        if category in DEVICE_CATEGORIES:
            stream = (str(args.get("device", key[0])), str(args.get("stream", key[1])))
            work = Work(start, end, stream, class_of_work(category, name))
            work.pageable = "Pageable" in name or "(Host -> Device)" in name or "(Device -> Host)" in name
            work.correlation = args.get("correlation")
            work.operator = args.get("External id", args.get("external id"))
            trace.works.append(work)
        elif category.endswith("runtime") or category.endswith("driver"):
            call = Call(start, end, name, key, args.get("correlation"))
            trace.thread(key).calls.append(call)
            if call.correlation is not None:
                trace.calls_by_id[call.correlation] = call
        elif category == "cuda_sync":
            trace.sync_events[args.get("correlation")] = (str(args.get("cuda_sync_kind", name)), args)
        elif category == "overhead":
            trace.overhead.append((start, end))
        elif category in ("cpu_op", "operator", "user_annotation", "python_function"):
            flag = flags.get(name)
            if flag is None:
                flag = flags[name] = ("step" if TRAINING_STEP.match(name) or SERVING_STEP.match(name) else
                                      LOADING if LOADING_RANGE.search(name) else
                                      COMPILATION if COMPILATION_RANGE.search(name) else "")
            if flag == "step" and category != "python_function":
                trace.marks.append((start, end, key, name))
                trace.thread(key)
                continue
            thread = trace.thread(key)
            if flag in (LOADING, COMPILATION):
                thread.ranges.append((start, end, flag))
            # An annotation is a name for what is inside, not an event of its own.
            if category != "user_annotation" or flag:
                thread.spans.append((start, end))
            if category != "python_function":
                thread.tops.append((start, end))
                if "External id" in args and category == "cpu_op":
                    operators[args["External id"]] = start
    link(trace, operators)
    return trace


def link(trace, operators):
    """Connects calls with their work, and gives every work its launch time."""
    for work in trace.works:
        call = trace.calls_by_id.get(work.correlation)
        if call is not None and call.start <= work.end:
            work.call = call
            work.launch = call.start
            work.linked = True
            call.works.append(work)
        elif operators.get(work.operator, work.end) < work.start:
            work.launch = operators[work.operator]
            work.linked = True
    trace.works.sort(key=lambda work: (work.start, work.end))
    devices = {}
    for work in trace.works:
        seen = devices.get(work.stream[0], False)
        if not seen and not work.linked:
            work.launch = NEVER  # ahead of all other work of its device: launched before the recording
        devices[work.stream[0]] = seen or work.linked
        trace.streams.setdefault(work.stream, []).append(work)
    for works in trace.streams.values():
        earliest = 1 << 62
        for place in range(len(works) - 1, -1, -1):
            # Work runs in the order of launches, so that it was launched before all that follows it.
            earliest = min(earliest, works[place].launch)
            works[place].place, works[place].queued = place, earliest
    for thread in trace.threads.values():
        thread.calls = outermost(thread.calls)
        begun = None
        for call in thread.calls:
            if BEGINS_CAPTURE.search(call.name):
                begun = call.start
            elif ENDS_CAPTURE.search(call.name) and begun is not None:
                trace.captures.append((begun, call.end, thread.key))
                begun = None
            elif BUILDS_GRAPH.search(call.name):
                trace.captures.append((call.start, call.end, thread.key))
    classify_calls(trace)
    # A marked capture belongs to the capture as a whole, with what runs between its parts.
    for start, end, key, name in list(trace.marks):
        if CAPTURE_STEP.match(name) and any(start <= at < end for at, _, _ in trace.captures):
            trace.captures.append((start, end, key))
    for start, end, key in trace.captures:
        trace.thread(key).ranges.append((start, end, COMPILATION))
    for thread in trace.threads.values():
        paint(thread, trace.overhead)


def outermost(calls):
    """Sorted calls without those inside another one. A call that launches replaces one around it that does not."""
    kept = []
    for call in sorted(calls, key=lambda call: (call.start, -call.end)):
        if kept and call.start < kept[-1].end:
            if call.works and not kept[-1].works:
                kept[-1] = call
            elif call.works:
                kept[-1].works.extend(call.works)
                for work in call.works:
                    work.call, work.launch = kept[-1], kept[-1].start
        else:
            kept.append(call)
    return kept


def classify_calls(trace):
    starts = [work.start for work in trace.works]
    latest = NEVER
    busy_until = []
    for work in trace.works:
        latest = max(latest, work.end)
        busy_until.append(latest)
    first_work = starts[0] if starts else 1 << 62
    calls = sorted((call for thread in trace.threads.values() for call in thread.calls), key=lambda call: call.start)
    allocated = False
    for call in calls:
        long = call.end - call.start >= MS
        at = bisect.bisect_left(starts, call.end) - 1
        idle = at < 0 or busy_until[at] <= call.start
        if WAITS.match(call.name):
            call.kind = SYNC
        elif ALLOCATES.match(call.name):
            # The first contact with a device creates its context, whatever the call is.
            call.kind = STARTUP if long and not allocated and call.start < first_work else ALLOCATION
            allocated = True
        elif LOADS_MODULES.match(call.name):
            call.kind = STARTUP
        elif long and idle and not any(work.pageable for work in call.works) and "Memcpy" not in call.name:
            call.kind = STARTUP  # the first use of a kernel or of the device
        elif call.works or LAUNCHES_KERNEL.search(call.name):
            call.kind = DISPATCH
        if call.works and (work := call.works[0]).kind in (GPU, COPIES):
            copies = "Memcpy" in call.name
            asynchronous = "Async" in call.name and not work.pageable
            call.blocks = copies and not asynchronous and call.end > work.start and (
                work.kind == COPIES or call.end >= work.end - SKEW)


def paint(thread, overhead):
    """Divides the thread's time into disjoint intervals of one class. What is not covered is PLAIN."""
    order = {STARTUP: 0, ALLOCATION: 1, COMPILATION: 2, DISPATCH: 3, LOADING: 4, PROFILER: 5}
    intervals = [(call.start, call.end, call.kind) for call in thread.calls if call.kind in order]
    intervals += thread.ranges
    if thread.calls:
        intervals += [(start, end, PROFILER) for start, end in overhead]
    edges = sorted([(start, 1, order[kind]) for start, end, kind in intervals if end > start] +
                   [(end, -1, order[kind]) for start, end, kind in intervals if end > start])
    kinds = sorted(order, key=order.get)
    active = [0] * len(kinds)
    previous = None
    for at, change, rank in edges:
        if previous is not None and at > previous:
            top = next((i for i, count in enumerate(active) if count), None)
            if top is not None:
                if thread.painted and thread.painted[-1][1] == previous and thread.painted[-1][2] == kinds[top]:
                    thread.painted[-1] = (thread.painted[-1][0], at, kinds[top])
                else:
                    thread.painted.append((previous, at, kinds[top]))
        active[rank] += change
        previous = at
    thread.bounds = [start for start, _, _ in thread.painted]


def parts(thread, start, end):
    """The thread's time between two moments, as a list of (class, ns)."""
    found = []
    if end <= start:
        return found
    plain = end - start
    for at in range(max(0, bisect.bisect_right(thread.bounds, start) - 1), len(thread.painted)):
        low, high, kind = thread.painted[at]
        if low >= end:
            break
        inside = min(high, end) - max(low, start)
        if inside > 0:
            found.append((kind, inside))
            plain -= inside
    if plain > 0:
        found.append((PLAIN, plain))
    return found


# ------------------------------------------------------------------------------------------------ steps

class Step:
    """A marked step, or the whole trace."""

    def __init__(self, start, end, whole=False):
        self.start, self.end, self.whole = start, end, whole
        self.window = (start, end)
        self.works = []

    @property
    def time(self):
        return self.window[1] - self.window[0]


def find_steps(trace):
    """Returns the steps, their thread's key, and whether they are marked."""
    marks = [mark for mark in trace.marks if TRAINING_STEP.match(mark[3])] or trace.marks
    if marks:
        count = {}
        for mark in marks:
            count[mark[2]] = count.get(mark[2], 0) + 1
        key = max(count, key=count.get)
        steps = []
        for start, end, thread, _ in sorted(marks, key=lambda mark: (mark[0], -mark[1])):
            if thread == key and (not steps or start >= steps[-1].end):
                steps.append(Step(start, end))
        return steps, key, True
    hosts = [thread for thread in trace.threads.values() if thread.calls or thread.tops]
    if not hosts:
        return [], None, False

    def begin(thread):
        return min([call.start for call in thread.calls[:1]] + [start for start, _ in thread.tops])

    same = [thread for thread in hosts if thread.key[0] == thread.key[1]]
    biggest = max(len(thread.calls) + len(thread.tops) for thread in hosts)
    big = [thread for thread in hosts if 10 * (len(thread.calls) + len(thread.tops)) >= biggest]
    main = min(same or big, key=begin)
    starts = [begin(thread) for thread in hosts] + [start for start, _ in trace.overhead]
    starts += [work.start for work in trace.works[:1]]
    ends = [max([call.end for call in thread.calls[-1:]] + [end for _, end in thread.tops]) for thread in hosts]
    for work in trace.works:
        if work.launch == NEVER:
            work.launch = work.start  # the whole trace owns all work
    return [Step(min(starts), max(ends), whole=True)], main.key, False


def place_work(trace, steps):
    """Gives each step its own work and its window."""
    by_launch = sorted(trace.works, key=lambda work: work.launch)
    launches = [work.launch for work in by_launch]
    for step in steps:
        own = by_launch
        if not step.whole:
            own = own[bisect.bisect_left(launches, step.start):bisect.bisect_left(launches, step.end)]
        step.works = own
        end = max([step.end] + [work.end for work in own])
        start = step.start
        if own:
            device = {}
            for stream, works in trace.streams.items():
                before = last_before(works, step.start)
                if before is not None:
                    device[stream[0]] = max(device.get(stream[0], NEVER), before.end)
            free = min(device.get(name, NEVER) for name in {work.stream[0] for work in own})
            first = min(work.start for work in own)
            start = max(step.start, min(free, first))
        step.window = (start, end)


def last_before(works, moment):
    """The last work of a stream that was launched before a moment."""
    at = bisect.bisect_left(works, moment, key=lambda work: work.queued)
    return works[at - 1] if at else None


def warm_runs(steps):
    """Groups warm steps: those whose work runs past the start of the next one are judged together."""
    typical = statistics.median(step.time for step in steps)
    warm = [step.time <= 2 * typical for step in steps]
    runs = []
    for i, step in enumerate(steps):
        if not warm[i]:
            continue
        if i and warm[i - 1] and any(work.end > step.start for work in steps[i - 1].works):
            runs[-1].append(step)
        else:
            runs.append([step])
    return runs, sum(warm)


# -------------------------------------------------------------------------------- handing over threads

def union(intervals):
    merged = []
    for start, end in sorted(intervals):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return merged


class Chunk:
    """A stretch of activity of another thread. The main thread waits for it from `wait_from` on, if it does."""
    __slots__ = ("thread", "start", "end", "wait_from", "parent", "signal", "finish")

    def __init__(self, thread, start, end):
        self.thread, self.start, self.end = thread, start, end
        self.wait_from = self.parent = None


def find_chunks(trace, main, steps):
    """Divides the activity of the other threads, and finds where the main thread waits for them."""
    edges = {at for span in main.spans + main.tops for at in span}
    edges |= {at for call in main.calls for at in (call.start, call.end)}
    edges |= {at for step in steps for at in (step.start, step.end)}
    edges = sorted(edges)
    active = {key: union(thread.tops + [(call.start, call.end) for call in thread.calls])
              for key, thread in trace.threads.items() if thread is not main}
    launching = {key: [call.start for call in trace.threads[key].calls if call.works or call.kind == SYNC]
                 for key in active}
    chunks = []
    for key, spans in active.items():
        others = union([span for other in active if other != key and launching[other] for span in active[other]])
        other_starts = [span[0] for span in others]
        own = []
        for start, end in spans:
            if own:
                last = own[-1]
                quiet = bisect.bisect_right(edges, last.end) == bisect.bisect_left(edges, start)
                short = start - last.end < UNEXPLAINED_DELAY
                if short and quiet or start - last.end < 50 * US or (
                        quiet and 2 * shared(others, other_starts, last.end, start) < start - last.end):
                    last.end = end
                    continue
            own.append(Chunk(trace.threads[key], start, end))
        for chunk in own:
            launches = bisect.bisect_left(launching[key], chunk.end) > bisect.bisect_left(launching[key], chunk.start)
            first = bisect.bisect_right(edges, chunk.start)
            last = bisect.bisect_left(edges, chunk.end)
            pause = edges[last - 1] if last else chunk.start  # the main thread's last event before the end
            alone = chunk.end - max(pause, chunk.start)
            if first == last and (launches or alone >= UNEXPLAINED_DELAY):
                chunk.wait_from = chunk.start
            elif launches and alone >= UNEXPLAINED_DELAY:
                chunk.wait_from = pause
            if launches or chunk.wait_from is not None:
                chunks.append(chunk)
    chunks.sort(key=lambda chunk: (chunk.start, -chunk.end))
    return chunks


def shared(spans, starts, low, high):
    """How much of [low, high) sorted disjoint spans cover."""
    total = 0
    for at in range(max(0, bisect.bisect_right(starts, low) - 1), len(spans)):
        if spans[at][0] >= high:
            break
        total += max(0, min(spans[at][1], high) - max(spans[at][0], low))
    return total


# ---------------------------------------------------------------------------------- dependencies of work

def recorded_needs(trace):
    """Dependencies between streams that the trace states. Returns {id of work: [work]}."""
    needs = {}
    for correlation, (kind, args) in trace.sync_events.items():
        call = trace.calls_by_id.get(correlation)
        record = trace.calls_by_id.get(args.get("wait_on_cuda_event_record_corr_id"))
        if kind != "Stream Wait Event" or call is None or record is None:
            continue
        device = str(args.get("device"))
        before = last_before(trace.streams.get((device, str(args.get("wait_on_stream"))), []), record.start)
        waiting = trace.streams.get((device, str(args.get("stream"))), [])
        last = last_before(waiting, call.start)
        place = last.place + 1 if last else 0
        if before is not None and place < len(waiting):
            needs.setdefault(id(waiting[place]), []).append(before)
    return needs


def inferred_needs(trace):
    """Dependencies that calls of StreamWaitEvent suggest, where the recorded times agree with them."""
    needs = {}
    for thread in trace.threads.values():
        previous = None
        waits = 0
        before_wait = None
        for call in thread.calls:
            if STREAM_WAITS.match(call.name):
                if not waits:
                    before_wait = previous
                waits += 1
            elif call.works:
                work = call.works[0]
                if waits and before_wait is not None:
                    candidates = []
                    if before_wait.stream != work.stream:
                        candidates = [before_wait]
                    else:
                        others = [last_before(works, call.start) for stream, works in trace.streams.items()
                                  if stream != work.stream and stream[0] == work.stream[0]]
                        others = [other for other in others if other is not None]
                        candidates = [max(others, key=lambda other: other.launch)] if others else []
                    for other in candidates:
                        if other.end <= work.start + SKEW // 2:
                            needs.setdefault(id(work), []).append(other)
                waits = 0
                previous = call.works[-1]
    return needs


class Endings:
    """Finds work by its end."""

    def __init__(self, works):
        self.works = sorted(works, key=lambda work: work.end)
        self.ends = [work.end for work in self.works]

    def latest(self, low, high):
        """Works that end in (low, high], the latest first."""
        first = bisect.bisect_right(self.ends, low)
        for i in range(bisect.bisect_right(self.ends, high) - 1, first - 1, -1):
            yield self.works[i]


# ------------------------------------------------------------------------------------------- the program

LAUNCH, WAIT, SIGNAL, START, RESUME, FREE, MARK = range(7)


class Item:
    """A point of a thread's program: host time before it, then an action."""
    __slots__ = ("action", "thread", "begin", "end", "host", "works", "own", "tail", "unexplained", "kind",
                 "removable", "slot", "slots", "rank", "since")

    def __init__(self, action, thread, begin, end, rank):
        self.action, self.thread, self.begin, self.end, self.rank = action, thread, begin, end, rank
        self.host = ()
        self.works = ()
        self.own = self.tail = self.unexplained = 0
        self.kind = SYNC
        self.removable = False
        self.slot = -1
        self.slots = ()
        self.since = begin


class Program:
    """The recorded program of consecutive steps."""

    def __init__(self, context, steps):
        self.steps, self.main, self.usual_gap = steps, context.main, context.gap
        self.start, self.end = steps[0].start, steps[-1].end
        self.works = context.trace.works if steps[0].whole else context.launched(self.start, self.end)
        self.window = (self.start, max([self.end] + [work.end for work in self.works]))
        self.length = self.window[1] - self.window[0]  # before it is clipped
        self.items = []
        self.slots = 0
        self.side_by_side = False
        self.clip_work = self.clip_item = None
        self.clipped = 0
        self.build(context)

    @property
    def time(self):
        return self.window[1] - self.window[0]

    def build(self, context):
        trace, main = context.trace, context.main
        self.prior = {}
        self.lanes = {}
        for work in sorted(self.works, key=lambda work: (work.start, work.end)):
            self.lanes.setdefault(work.stream, []).append(work)
        for stream, works in trace.streams.items():
            if stream in self.lanes:
                place = self.lanes[stream][0].place
            else:
                place = bisect.bisect_left(works, self.start, key=lambda work: work.queued)
            before = [work for work in works[max(0, place - 1):place] if work.queued < self.start]
            while before and before[0].place > 0 and works[before[0].place - 1].end > self.start:
                before.insert(0, works[before[0].place - 1])
            if before:
                self.prior[stream] = before
        chunks = [chunk for chunk in context.chunks if self.start <= chunk.start < self.end]
        sequences = [self.sequence_of_main(context, main, chunks)]
        for thread in {id(chunk.thread): chunk.thread for chunk in chunks}.values():
            sequences.append(self.sequence_of_other(context, thread, [c for c in chunks if c.thread is thread]))
        self.mark_removable(sequences)
        ordered = []
        for sequence in sequences:
            latest = (NEVER, 0)
            for item in sequence:
                latest = max(latest, (item.end, item.rank))
                ordered.append((latest, item))
        ordered.sort(key=lambda pair: pair[0])
        self.items = [item for _, item in ordered]
        self.time_work(context)
        self.find_clip(context)

    # Items of threads.

    def items_of_calls(self, context, thread, low, high):
        """Items of the calls that start in [low, high)."""
        items = []
        starts = context.starts[thread.key]
        for call in thread.calls[bisect.bisect_left(starts, low):bisect.bisect_left(starts, high)]:
            if call.works:
                items += self.items_of_launch(context, thread, call)
            elif call.kind == SYNC:
                item = Item(WAIT, thread, call.start, call.end, 3)
                item.works = waited_by(context, call)
                self.divide_wait(item)
                items.append(item)
            elif FREES.match(call.name) and call.kind == ALLOCATION:
                item = Item(FREE, thread, call.start, call.end, 3)
                pending = context.pending(call)
                # Memory is freed when the device is idle, but some of these calls return earlier.
                if pending and all(work.end <= call.end + SKEW for work in pending):
                    item.works = pending
                busy = max([call.start] + [work.end for work in item.works])
                item.own = max(0, call.end - busy)
                items.append(item)
        return items

    def items_of_launch(self, context, thread, call):
        first = min(call.works, key=lambda work: work.start)
        items = []
        at = max(call.start, min(call.end, first.start - context.latency))
        if call.blocks:
            at = max(call.start, min(call.start + TYPICAL_CALL, first.start - context.latency, call.end))
        elif call.end - call.start > 4 * TYPICAL_CALL and context.outstanding(call) >= QUEUE - 30:
            done = next(context.endings.latest(call.start, call.end), None)
            if done is not None and done.launch < call.start:
                wait = Item(WAIT, thread, call.start, call.end, 3)
                wait.works = [done]
                wait.own = min(TYPICAL_CALL, call.end - call.start)
                wait.tail = call.end - done.end
                wait.kind = DISPATCH  # not a synchronization: the queue is full
                items.append(wait)
                at = call.end
        launch = Item(LAUNCH, thread, at, at, 1)
        launch.works = sorted(call.works, key=lambda work: (work.start, work.end))
        items.append(launch)
        if call.blocks:
            wait = Item(WAIT, thread, at, call.end, 3)
            wait.works = [first]
            self.divide_wait(wait)
            wait.kind = COPIES if first.kind == COPIES else SYNC
            if wait.kind == COPIES and wait.unexplained:
                # A pageable copy also copies on the host, before or after its part on the device.
                wait.tail, wait.unexplained = wait.tail + wait.unexplained, 0
            items.append(wait)
        return items

    @staticmethod
    def divide_wait(item):
        """Divides a waiting call into its own time, the time after its work's end, and what nothing explains."""
        length = item.end - item.begin
        until = max([work.end for work in item.works], default=NEVER)
        item.own = min(length, TYPICAL_CALL)
        if until > item.begin + item.own:
            item.tail = item.end - until
        else:
            item.tail = length - item.own
        if item.tail > UNEXPLAINED_DELAY:
            item.unexplained = item.tail - 2 * TYPICAL_CALL
            item.tail = 2 * TYPICAL_CALL

    def sequence_of_main(self, context, main, chunks):
        """The main thread's items. Also decides what starts each chunk of the other threads."""
        items = self.items_of_calls(context, main, self.start, self.end)
        waits = []
        group = []
        self.signals = {}
        for chunk in chunks:
            chunk.signal, chunk.finish = self.slots, self.slots + 1
            chunk.parent = None
            self.slots += 2
            if waits and chunk.start < waits[-1].end:
                # The main thread waits already: another thread starts this one.
                self.find_parent(chunk, group)
            else:
                self.add_signal(items, main, chunk)
                group = []
            group.append(chunk)
            if chunk.wait_from is None or chunk.end >= self.end:
                continue
            if waits and chunk.wait_from < waits[-1].end:
                waits[-1].end = max(waits[-1].end, chunk.end)
                waits[-1].slots.append(chunk.finish)
            else:
                wait = Item(RESUME, main, chunk.wait_from, chunk.end, 2)
                wait.slots = [chunk.finish]
                waits.append(wait)
        items += waits
        items.append(Item(MARK, main, self.end, self.end, 4))
        # A signal at the start of a wait comes before it.
        items.sort(key=lambda item: (item.begin, item.action != SIGNAL, item.end))
        return self.fill(main, items, self.start)

    @staticmethod
    def add_signal(items, thread, chunk):
        signal = Item(SIGNAL, thread, chunk.start, chunk.start, 0)
        signal.slot = chunk.signal
        items.append(signal)

    def find_parent(self, chunk, group):
        """The chunk that ended just before this one, else one that is active, else the last one."""
        before = [other for other in group if other.end <= chunk.start and other.thread is not chunk.thread]
        latest = max(before, key=lambda other: other.end, default=None)
        if latest is not None and chunk.start - latest.end <= 2 * UNEXPLAINED_DELAY:
            chunk.parent = latest
            return
        for other in reversed(group):
            if other.start <= chunk.start < other.end and other.thread is not chunk.thread:
                self.add_signal(self.signals.setdefault(id(other), []), other.thread, chunk)
                self.side_by_side = True
                return
        chunk.parent = latest if latest is not None else group[-1]

    def sequence_of_other(self, context, thread, chunks):
        sequence = []
        for chunk in chunks:
            since = chunk.parent.end if chunk.parent is not None else chunk.start
            start = Item(START, thread, since, since, 2)
            start.slot = chunk.parent.finish if chunk.parent is not None else chunk.signal
            finish = Item(SIGNAL, thread, chunk.end, chunk.end, 0)
            finish.slot = chunk.finish
            items = self.items_of_calls(context, thread, chunk.start, chunk.end) + self.signals.get(id(chunk), [])
            items.sort(key=lambda item: (item.begin, item.end))
            sequence += self.fill(thread, [start] + items + [finish], since)
        return sequence

    @staticmethod
    def fill(thread, items, start):
        """Gives each item the host time before it, and decides what of it is dispatch."""
        at = start
        stretch = []
        for item in items:
            # An item inside a wait happens while the thread waits.
            item.since = at
            item.host = parts(thread, at, item.begin)
            at = max(at, item.end)
            stretch.append(item)
            if item.action in (LAUNCH, WAIT, RESUME, START, MARK) or item is items[-1]:
                settle(stretch)
                stretch = []
        return items

    def mark_removable(self, sequences):
        """All waits can be removed but the last ones of each step."""
        waits = sorted((item for sequence in sequences for item in sequence
                        if item.action == WAIT and item.kind != DISPATCH), key=lambda item: item.begin)
        launches = sorted(item.begin for sequence in sequences for item in sequence if item.action == LAUNCH
                          and any(work.kind != COPIES for work in item.works))
        for item in waits:
            item.removable = True
        for step in self.steps:
            group = [item for item in waits if step.start <= item.begin < step.end]
            following = None
            for item in reversed(group):
                if following is not None and bisect.bisect_left(launches, item.end) != bisect.bisect_left(
                        launches, following.begin):
                    break
                item.removable = False
                following = item

    # Timing of work.

    def time_work(self, context):
        """Explains the start of each work in the recording."""
        releases = {}
        for item in self.items:
            if item.action == LAUNCH:
                for work in item.works:
                    releases[id(work)] = item.begin
        self.orphans = [work for work in self.works if id(work) not in releases]
        for stream, works in self.lanes.items():
            previous = self.prior[stream][-1].end if stream in self.prior else NEVER
            for work in works:
                if id(work) in releases:
                    self.explain(context, work, releases[id(work)], previous)
                else:
                    self.explain_orphan(work, previous)
                previous = max(previous, work.end)

    def explain_orphan(self, work, previous):
        """Work without a call follows the work before it on its stream."""
        work.latency = work.excess = work.after = work.gap = work.delay = 0
        work.staged = False
        work.needs = ()
        if previous > NEVER:
            slack = work.start - previous
            work.gap = min(slack, UNEXPLAINED_DELAY)
            work.delay = slack - work.gap
        else:
            work.delay = work.start - self.start

    def explain(self, context, work, release, previous):
        """Divides the time before a work's start by what it waits for: its launch, its stream, or another stream."""
        work.latency = min(context.latency, work.start - release)
        work.excess = work.after = work.delay = lag = 0
        work.gap = context.gap
        # A blocking copy between host and device also copies on the host, before its part on the device. That may
        # happen while the stream is busy, unless it was seen to happen after that.
        work.staged = work.call is not None and work.call.blocks and work.kind == COPIES
        ready = release + work.latency
        needs = [other for other in context.needs.get(id(work), ()) if other.end <= work.start + SKEW]
        latest = max([other.end for other in needs], default=NEVER)
        bound = max(ready, previous, latest)
        if work.start - bound > 10 * US and not work.staged:
            other = self.cause(context, work, bound)
            if other is not None:
                needs.append(other)
                bound = latest = other.end
        slack = work.start - bound
        if previous == bound:
            work.gap = min(slack, 2 * TYPICAL_CALL if work.staged else UNEXPLAINED_DELAY)
            rest = slack - work.gap
        elif latest == bound:
            lag = min(slack, UNEXPLAINED_DELAY)
            rest = slack - lag
        else:
            work.excess = slack if slack <= UNEXPLAINED_DELAY or work.staged else 2 * TYPICAL_CALL
            rest = slack - work.excess
        if work.staged:
            work.after = rest
        else:
            work.delay = rest
        work.needs = [(other, lag if other.end == latest else 0) for other in needs]

    @staticmethod
    def cause(context, work, bound):
        """Work of another stream that ends in a gap that nothing else explains."""
        siblings = work.call is not None and len(work.call.works) > 1
        reach = max(bound, work.start - (UNEXPLAINED_DELAY if siblings else 30 * US))
        for other in context.endings.latest(reach, work.start):
            if other.stream != work.stream and other.stream[0] == work.stream[0] and (
                    other.launch < work.launch or other.call is work.call):
                return other
        return None

    def find_clip(self, context):
        """The time at the start in which the device or the host waits for something before the recording."""
        if context.first_launch < self.start:
            return  # the recording began before these steps
        total = sum(work.end - work.start for work in self.works)
        ordered = sorted(self.works, key=lambda work: work.start)
        # Only little work may run before or between these waits.
        done = 0
        last = self.end
        found = []
        for work in ordered:
            if work.delay > UNEXPLAINED_DELAY:
                found.append((work.start, work.delay, work, None))
            done += work.end - work.start
            if done > 0.01 * total:
                last = work.start
                break
        found += [(item.end, item.unexplained, None, item) for item in self.items
                  if item.action == WAIT and item.unexplained > UNEXPLAINED_DELAY and item.end <= last]
        if total and sum(entry[1] for entry in found) > 0.05 * self.time:
            end, _, self.clip_work, self.clip_item = max(found, key=lambda entry: entry[0])
            self.clipped = end - self.window[0]
            self.window = (end, self.window[1])

    # Running.

    def run(self, free=()):
        """Returns the time that the steps take if the classes in `free` take none."""
        on = [True] * 14
        for kind in free:
            on[kind] = False
        # Earlier work is not part of these steps: it ends when it did.
        before = {stream: works[-1].end for stream, works in self.prior.items()}
        end = self.once(on, SYNC in free, {id(self.main): self.start}, before)
        for work in self.works:
            work.released = work.ends = None
        if self.clip_work is not None:
            return end - self.clip_work.starts
        if self.clip_item is not None:
            return end - self.clip_item.slot
        return end - self.start

    def once(self, on, without_waits, clock, before):
        slots = [None] * self.slots
        places = {stream: 0 for stream in self.lanes}
        lanes = self.lanes
        last_end = NEVER
        begun = self.start
        fitted, usual_gap = on[FITTED], self.usual_gap
        for work in self.orphans:
            work.released = begun
        for item in self.items:
            key = id(item.thread)
            now = clock.get(key, NEVER)
            for kind, length in item.host:
                if on[kind]:
                    now += length
            action = item.action
            if action == LAUNCH:
                touched = []
                for work in item.works:
                    if work.place - QUEUE >= 0 and work.call is not None:
                        lane = lanes[work.stream]
                        at = work.place - lane[0].place - QUEUE
                        if at >= 0 and lane[at].ends is not None and lane[at].starts > now:
                            now = lane[at].starts
                    work.released = now
                    if work.stream not in touched:
                        touched.append(work.stream)
                for stream in touched:
                    lane = lanes[stream]
                    place = places[stream]
                    while place < len(lane) and lane[place].released is not None:
                        work = lane[place]
                        start = work.released + work.latency
                        if work.excess and (on[COPIES] if work.staged else on[DISPATCH] and fitted):
                            start += work.excess
                        last = before.get(stream)
                        if last is not None:
                            last += (work.gap if fitted else usual_gap) if on[work.kind] else 0
                            if last > start:
                                start = last
                        for other, lag in work.needs:
                            start = max(start, end_of(other, begun) + (lag if fitted else 0))
                        if work.after and on[COPIES]:
                            start += work.after
                        if work.delay and (on[UNEXPLAINED] or work is self.clip_work):
                            start += work.delay
                        work.starts = start
                        end = start + (work.end - work.start if on[work.kind] else 0)
                        work.ends = end
                        # Kernels of a stream may overlap.
                        before[stream] = end if last is None or end > before[stream] else before[stream]
                        if end > last_end:
                            last_end = end
                        place += 1
                    places[stream] = place
            elif action == WAIT:
                if not (without_waits and item.removable):
                    if item.kind == SYNC or on[DISPATCH]:
                        now += item.own
                    tail = item.tail if item.kind != COPIES or on[COPIES] else 0
                    if not fitted and item.kind == SYNC:
                        tail = TYPICAL_CALL
                    for work in item.works:
                        # A pageable copy may return before the device has finished.
                        now = max(now, end_of(work, begun) + min(tail, 0))
                    now += max(tail, 0)
                if on[UNEXPLAINED] or item is self.clip_item:
                    now += item.unexplained
                if item is self.clip_item:
                    item.slot = now
            elif action == FREE:
                if on[ALLOCATION]:
                    for work in item.works:
                        now = max(now, end_of(work, begun))
                    now += item.own
            elif action == SIGNAL:
                slots[item.slot] = now
            elif action == START:
                if slots[item.slot] is not None and slots[item.slot] > now:
                    now = slots[item.slot]
            elif action == RESUME:
                for slot in item.slots:
                    if slots[slot] is not None and slots[slot] > now:
                        now = slots[slot]
            elif action == MARK:
                last_end = max(last_end, now)
            clock[key] = now
        return last_end


def end_of(work, begun):
    """When a work ends in the replay. Work launched before the replay's start ends when it did."""
    if work.ends is not None:
        return work.ends
    return work.end if work.launch < begun else NEVER


def settle(stretch):
    """Plain host time without a launch is the program's from 1 ms on, else dispatch."""
    plain = sum(length for item in stretch for kind, length in item.host if kind == PLAIN)
    kind = PROGRAM if plain >= LONG_STRETCH else DISPATCH
    for item in stretch:
        item.host = [(kind if part == PLAIN else part, length) for part, length in item.host]


def waited_by(context, call):
    """The work that a synchronizing call waits for."""
    # The clocks of host and device drift apart in a long wait.
    limit = call.end + max(LATE if WAITS_FOR_ALL.search(call.name) else SKEW,
                           min(50 * US, (call.end - call.start) // 1000))
    pending = [work for work in context.last_works(call) if work.end <= limit]
    if WAITS_FOR_ALL.search(call.name):
        return pending
    kind, args = context.trace.sync_events.get(call.correlation, ("", {}))
    if kind == "Stream Sync":
        stream = (str(args.get("device")), str(args.get("stream")))
        return [work for work in pending if work.stream == stream]
    if kind == "Event Sync":
        record = context.trace.calls_by_id.get(args.get("wait_on_cuda_event_record_corr_id"))
        stream = (str(args.get("device")), str(args.get("wait_on_stream")))
        if record is not None:
            work = last_before(context.trace.streams.get(stream, []), record.start)
            return [work] if work is not None and work.end <= limit else []
    if "Event" in call.name:
        for work in context.endings.latest(call.start, limit):
            if work.launch < call.start:
                return [work] if call.end - work.end <= UNEXPLAINED_DELAY else []
        return []
    late = [work for work in pending if work.end > call.start]
    if late:
        return [max(late, key=lambda work: work.end)]
    return [max(pending, key=lambda work: work.launch)] if pending else []


class Context:
    """What the programs of all steps share."""

    def __init__(self, trace, main, steps):
        self.trace, self.main = trace, main
        self.starts = {key: [call.start for call in thread.calls] for key, thread in trace.threads.items()}
        self.chunks = find_chunks(trace, main, steps)
        self.endings = Endings(trace.works)
        self.needs = recorded_needs(trace) if trace.sync_events else inferred_needs(trace)
        self.latency, self.gap = self.constants()
        self.first_launch = min((work.launch for work in trace.works if work.linked), default=0)
        self.by_launch = sorted(trace.works, key=lambda work: work.launch)
        self.launch_counts = {stream: [work.launch for work in works] for stream, works in trace.streams.items()}
        self.end_counts = {stream: [work.end for work in works] for stream, works in trace.streams.items()}

    def constants(self):
        """The least launch latency, and the usual gap between two kernels of a busy stream."""
        latencies, gaps = [], []
        for works in self.trace.streams.values():
            previous = None
            for work in works:
                if work.call is not None and len(work.call.works) == 1 and not work.call.blocks:
                    if previous is None or previous.end < work.launch:
                        latencies.append(work.start - work.launch)
                    elif previous.end > work.call.end + 20 * US:
                        gaps.append(work.start - previous.end)
                previous = work
        latencies.sort()
        latency = latencies[len(latencies) // 20] if latencies else 5 * US
        gaps.sort()
        gap = gaps[len(gaps) // 4] if gaps else US
        return max(US, min(latency, 12 * US)), max(0, min(gap, 5 * US))

    def launched(self, start, end):
        low = bisect.bisect_left(self.by_launch, start, key=lambda work: work.launch)
        high = bisect.bisect_left(self.by_launch, end, key=lambda work: work.launch)
        return self.by_launch[low:high]

    def last_works(self, call):
        """The last work of each stream that was launched before a call."""
        found = (last_before(works, call.start) for works in self.trace.streams.values())
        return [work for work in found if work is not None]

    def pending(self, call):
        """The work that was launched before a call and ends after its start."""
        return [work for work in self.last_works(call) if work.end > call.start]

    def outstanding(self, call):
        stream = call.works[0].stream
        launched = bisect.bisect_left(self.launch_counts[stream], call.start)
        return launched - bisect.bisect_right(self.end_counts[stream], call.start)


# -------------------------------------------------------------------------------------------- the verdict

def share_without_events(context, programs):
    """The share of the windows in which neither the threads nor the device record anything for 1 ms or more."""
    threads = [context.main] + list({id(chunk.thread): chunk.thread for chunk in context.chunks}.values())
    spans = [span for thread in threads for span in thread.spans]
    spans += [(call.start, call.end) for thread in threads for call in thread.calls]
    spans += [(work.start, work.end) for work in context.trace.works] + context.trace.overhead
    covered = union(spans)
    starts = [span[0] for span in covered]
    empty = total = 0
    for program in programs:
        low, high = program.window
        total += high - low
        at = low
        for start, end in covered[max(0, bisect.bisect_right(starts, low) - 1):]:
            if start >= high:
                break
            if start - at >= LONG_STRETCH:
                empty += start - at
            at = max(at, end)
        if high - at >= LONG_STRETCH:
            empty += high - at
    return empty / total if total else 0


def share_covered(intervals, programs):
    """The share of the windows that is inside the intervals."""
    merged = union(intervals)
    covered = sum(max(0, min(end, program.window[1]) - max(start, program.window[0]))
                  for program in programs for start, end in merged)
    total = sum(program.time for program in programs)
    return covered / total if total else 0


def idle_caused(programs, kinds):
    """Idle time of the device, by the class of what the host does then. For the classes asked for."""
    caused = {kind: 0 for kind in kinds}
    for program in programs:
        idle = []
        at = program.window[0]
        works = program.works + [work for before in program.prior.values() for work in before if work.end > at]
        for start, end in union([(work.start, work.end) for work in works]):
            if start > at:
                idle.append((at, start))
            at = max(at, end)
        starts = [low for low, _ in idle]
        for item in program.items:
            length = sum(part for _, part in item.host)
            if not length or item.begin <= item.since:
                continue
            i = max(0, bisect.bisect_right(starts, item.since) - 1)
            shared = 0
            while i < len(idle) and idle[i][0] < item.begin:
                shared += max(0, min(idle[i][1], item.begin) - max(idle[i][0], item.since))
                i += 1
            if shared:
                for kind, part in item.host:
                    if kind in caused:
                        caused[kind] += part * shared / (item.begin - item.since)
    return caused


def lost_launches(context, steps):
    """Counts calls that launch kernels, and those of them whose work is missing. Captured launches run nothing."""
    captured = union([(start, end) for start, end, _ in context.trace.captures])
    starts = [span[0] for span in captured]
    begins = [step.start for step in steps]
    lost = count = 0
    for thread in context.trace.threads.values():
        for call in thread.calls:
            step = bisect.bisect_right(begins, call.start) - 1
            if step < 0 or call.start >= steps[step].end or not LAUNCHES_KERNEL.search(call.name):
                continue
            at = bisect.bisect_right(starts, call.start) - 1
            if at < 0 or call.start >= captured[at][1]:
                count += 1
                lost += not call.works
    return lost, count


def decide(programs, shares, pair, conditions, busy):
    """Applies the rules of re-timing. Returns the limiter's name and the order of classes."""
    order = sorted(shares, key=shares.get, reverse=True)
    first, second = order[:2]
    if busy >= 0.9:
        conditions.append(f"kernels other than communication cover {busy:.1%}")
        order.remove(GPU)
        return "GPU-BOUND", [GPU] + order
    if shares[first] <= 0:
        return "NOT CONCLUSIVE", order
    if pair < shares[first] + shares[second] / 2 and shares[second] > 0.02:
        host = [kind for kind in (first, second) if kind not in (GPU, COPIES, COMMUNICATION)]
        if len(host) == 2:
            caused = idle_caused(programs, host)
            if caused[second] > caused[first]:
                order[0], order[1] = second, first
            conditions.append(f"substitutes: {NAMES[first]} and {NAMES[second]}, which cause "
                              f"{caused[first] / MS:.1f} and {caused[second] / MS:.1f} ms of idle time")
        else:
            conditions.append(f"substitutes: {NAMES[first]} and {NAMES[second]}")
        return NAMES[order[0]].upper() + "-BOUND", order
    if shares[second] > 0 and shares[first] / shares[second] < 1.25:
        return "MIXED", order
    return NAMES[first].upper() + "-BOUND", order


def busy_shares(programs):
    """The shares of the windows in which the device is busy, and busy with other than communication and copies."""
    total = sum(program.time for program in programs)
    shares = []
    for kinds in ((GPU, COPIES, COMMUNICATION), (GPU,)):
        length = 0
        for program in programs:
            low, high = program.window
            spans = union([(max(low, work.start), min(high, work.end)) for work in program.works
                           if work.kind in kinds and work.end > low])
            length += sum(end - start for start, end in spans)
        shares.append(length / total if total else 0)
    return shares


def judge(context, programs, conditions):
    """Replays the programs without each class. Returns the measures and the verdict of re-timing."""
    total = sum(program.time for program in programs)
    base = sum(program.run() for program in programs)
    shares = {kind: 1 - sum(program.run((kind,)) for program in programs) / base for kind in range(10)}
    first, second = sorted(shares, key=shares.get, reverse=True)[:2]
    pair = 1 - sum(program.run((first, second)) for program in programs) / base
    busy, compute = busy_shares(programs)
    verdict, order = decide(programs, shares, pair, conditions, compute)
    top, next_ = shares[order[0]], shares[order[1]]
    return {
        "T_us": round(total / US, 3),
        "replay_error": round(base / total - 1, 5),
        # The same with one latency, gap and return time for all events: what the program alone explains.
        "plain_error": round(sum(program.run((FITTED,)) for program in programs) / total - 1, 5),
        "busy": round(busy, 4),
        "S": {NAMES[kind]: round(share, 4) for kind, share in shares.items()},
        "S_pair": {"classes": [NAMES[first], NAMES[second]], "value": round(pair, 4)},
        "verdict": verdict,
        "limiter": NAMES[order[0]],
        "second": NAMES[order[1]],
        "margin": round(top / next_, 3) if next_ > 0 else None,
        "rule": "re-timing",
    }


def analyze(path):
    trace = read_trace(path)
    conditions = ["cut: the file is truncated"] if trace.cut else []
    result = {"trace": path, "steps": 0, "warm": 0, "T_us": 0, "replay_error": None, "S": {}, "S_pair": None,
              "verdict": "NOTHING RECORDED", "second": None, "margin": None, "rule": "nothing recorded",
              "conditions": conditions}
    device = sum(work.end - work.start for work in trace.works)
    if device and sum(work.end - work.start for work in trace.works if not work.linked) > device / 2:
        return judge_device(trace, result)
    steps, key, marked = find_steps(trace)
    if not steps:
        return result
    place_work(trace, steps)
    runs, result["warm"] = warm_runs(steps)
    result["steps"] = len(steps) if marked else 0
    context = Context(trace, trace.threads[key], steps)
    programs = [Program(context, run) for run in runs]
    total = sum(program.time for program in programs)
    result["T_us"] = round(total / US, 3)
    lost, launches = lost_launches(context, steps)
    captured = share_covered([span[:2] for span in trace.captures], programs)
    if not total or not trace.works and captured < 0.5:
        if launches:
            result["verdict"], result["rule"] = "LAUNCHES LOST", "launches lost"
        return result
    result.update(judge(context, programs, conditions))
    compiled = share_covered([span[:2] for thread in trace.threads.values() for span in thread.ranges
                              if span[2] == COMPILATION], programs)
    empty = share_without_events(context, programs)
    unexplained = 1 - sum(program.run((UNEXPLAINED,)) for program in programs) / sum(p.run() for p in programs)
    clipped = sum(program.clipped for program in programs)
    if launches and lost > launches / 2:
        result["verdict"], result["rule"] = "LAUNCHES LOST", "launches lost"
    elif captured >= 0.5:
        result["verdict"], result["rule"] = "CAPTURE", "capture"
    elif compiled >= 0.5:
        result["verdict"], result["rule"] = "COMPILATION", "compilation"
    elif empty >= 0.4 or unexplained >= 0.4:
        result["verdict"], result["rule"] = "NOT IN THE TRACE", "not in the trace"
    if lost:
        conditions.append(f"lost launches: {lost} of {launches}")
    if clipped:
        conditions.append(f"clipped: {clipped / MS:.3f} ms before the first work belong to nobody; the rest is judged")
    if max(empty, unexplained) > 0.05:
        conditions.append(f"without any event: {empty:.1%}; waits that nothing explains: {unexplained:.1%}")
    if any(program.side_by_side for program in programs):
        conditions.append("low confidence: threads that launch side by side are taken as independent")
    worst = max(abs(program.run() / program.time - 1) for program in programs if program.time)
    if worst > 0.01:
        conditions.append(f"low confidence: the replay of a step is off by {worst:.1%}")
    tail = (max(work.end for work in programs[0].works) - steps[0].end) / programs[0].length if programs[0].works else 0
    if marked and len(steps) == 1 and result["rule"] == "re-timing" and tail > 0.05:
        by_period(context, steps[0], result, tail)
    if clipped:
        result["rule"] = "clipped, then " + result["rule"]
    return result


def by_period(context, step, result, tail):
    """Also judges a single step up to the end of the recording, where its work runs past its end on the host.

    The next step starts then at the earliest, and the host may have used the time.
    """
    main = context.main
    end = max([call.end for call in main.calls[-1:]] + [span[1] for span in main.tops] + [step.end])
    period = judge(context, [Program(context, [Step(step.start, end)])], [])
    result["by_period"] = {name: period[name] for name in ("T_us", "replay_error", "S", "S_pair", "verdict", "margin")}
    limiter = period["limiter"]
    result["conditions"].append(
        f"conditional: {tail:.0%} of the step is device work after its end on the host. Up to the end of the "
        f"recording, {period['T_us'] / 1000:.3f} ms: {period['verdict']}, "
        f"without {limiter} {period['S'][limiter]:.1%} shorter")
    if period["verdict"] != result["verdict"]:
        result["verdict"] = f"{period['verdict']} by period, {result['verdict']} by latency"


def judge_device(trace, result):
    """Most work has neither a call nor an operator: only the whole trace's device time can be judged."""
    low, high = trace.works[0].start, max(work.end for work in trace.works)
    spans = union([(work.start, work.end) for work in trace.works])
    busy = sum(end - start for start, end in spans) / max(1, high - low)
    result.update(T_us=round((high - low) / US, 3), busy=round(busy, 4), rule="launches lost",
                  verdict="GPU-BOUND" if busy >= 0.9 else "LAUNCHES LOST")
    result["conditions"].append("more than half of the device time has neither a call nor an operator")
    return result


def main():
    parser = argparse.ArgumentParser(description="Decides what limits the steps of a trace by replaying them.")
    parser.add_argument("trace")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    try:
        result = analyze(options.trace)
    except (Refused, OSError) as error:
        print(f"replay.py: {options.trace}: {error}", file=sys.stderr)
        return 1
    if options.json:
        print(json.dumps(result))
        return 0
    print(f"{result['verdict']}  ({result['rule']})")
    print(f"{result['steps']} steps, {result['warm']} warm, {result['T_us'] / 1000:.3f} ms")
    if result["replay_error"] is not None:
        print(f"replay error {result['replay_error']:+.3%}")
    for name, share in sorted(result["S"].items(), key=lambda pair: -pair[1]):
        print(f"  without {name:16} {share:7.1%} shorter")
    if result["S_pair"]:
        print(f"  without {' and '.join(result['S_pair']['classes'])}: {result['S_pair']['value']:.1%} shorter")
    for condition in result["conditions"]:
        print("  " + condition)
    return 0


if __name__ == "__main__":
    sys.exit(main())
