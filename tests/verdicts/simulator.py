#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A small discrete model of a program that uses a GPU.

A Program is what the host does, in order: its own work, launches, synchronizations, events. The control flow moves
between host threads, but only one of them runs at a time (the main thread waits while the autograd thread launches).
Streams are queues: work starts when its launch has reached the device, when the work before it on the stream has
ended, and when the events that the stream waits for have completed.

run() computes all times. With a class made free it computes the length that the step would have: device work of
duration 0 with the order of launches kept, host work of duration 0, or synchronizations that do not wait, except the
last of each step. All times are integer nanoseconds.
"""

CLASSES = ("gpu", "copies", "communication", "loading", "dispatch", "program", "allocation", "startup", "compilation",
           "synchronization")
GPU, COPIES, COMMUNICATION, LOADING, DISPATCH, PROGRAM, ALLOCATION, STARTUP, COMPILATION, SYNCHRONIZATION = range(10)
HOST_CLASSES = (LOADING, DISPATCH, PROGRAM, ALLOCATION, STARTUP, COMPILATION)

HOST, LAUNCH, SYNC, BLOCKING_COPY, RECORD, WAIT, STEP_BEGIN, STEP_END, BEGIN, END = range(10)
PAGEABLE, ITEM = 0, 1  # kinds of blocking copy: the wait of the second is a synchronization


def us(value):
    """Nanoseconds of a number of microseconds."""
    return int(round(value * 1000))


class Range:
    """An event on a host thread: an operator, a call, an annotation, a Python frame.

    works: of a launch. event, stream: of a call that records an event or makes a stream wait. scope: what a
    synchronization waits for. lead: host work before a launch that is written as a part of the call.
    """

    __slots__ = ("name", "cat", "tid", "args", "start", "end", "works", "event", "scope", "stream", "correlation", "lead")

    def __init__(self, name, cat, tid, args=None):
        self.name, self.cat, self.tid, self.args = name, cat, tid, args
        self.start = self.end = 0
        self.works = self.event = self.scope = self.stream = None
        self.correlation = self.lead = 0


class Work:
    """A kernel, copy or memset on a stream. gap: least time between it and the work before it on its stream."""

    __slots__ = ("stream", "dur", "cls", "gap", "name", "cat", "args", "start", "end", "call", "step")

    def __init__(self, stream, dur, cls, name, cat="kernel", args=None, gap=0):
        self.stream, self.dur, self.cls, self.gap = stream, int(dur), cls, int(gap)
        self.name, self.cat, self.args = name, cat, args
        self.start = self.end = 0
        self.call = self.step = None


class Event:
    """A CUDA event; index into the times of events of a run."""

    __slots__ = ("index", "recorded", "stream")

    def __init__(self, index):
        self.index, self.recorded, self.stream = index, None, None


class Step:
    __slots__ = ("name", "annotation", "start", "end", "first_work", "last_work", "window", "busy_before")

    def __init__(self, name):
        self.name, self.annotation = name, None


class Program:
    """Builds the list of instructions. Durations are nanoseconds."""

    def __init__(self, pid=4242, latency=us(5), sync_tail=us(4), queue_limit=1024, busy_before=0):
        self.pid = pid
        self.main = pid
        self.tid = pid
        self.latency, self.sync_tail, self.queue_limit = latency, sync_tail, queue_limit
        self.busy_before = busy_before  # the device runs work from before the recording until then
        self.items = []
        self.open = []
        self.streams = {}
        self.events = 0
        self.steps = 0
        self.works = []

    # ranges
    def begin(self, name, cat="cpu_op", args=None):
        r = Range(name, cat, self.tid, args)
        self.open.append(r)
        self.items.append((BEGIN, r))
        return r

    def end(self):
        self.items.append((END, self.open.pop()))

    def step_begin(self, name, cat="user_annotation", args=None):
        self.items.append((STEP_BEGIN, name))
        self.steps += 1
        return self.begin(name, cat, args)

    def step_end(self):
        self.end()
        self.items.append((STEP_END,))

    # host work
    def host(self, dur, cls=DISPATCH, name=None, cat="cpu_op", args=None):
        """Host work of a class; without a name it is a gap in the trace."""
        r = Range(name, cat, self.tid, args) if name else None
        self.items.append((HOST, int(dur), cls, r))
        return r

    # device work
    def stream(self, stream):
        return self.streams.setdefault(stream, len(self.streams))

    def launch(self, api, dur, works, args=None, cat="cuda_runtime", latency=None):
        r = Range(api, cat, self.tid, args)
        works = works if isinstance(works, list) else [works]
        r.works = works
        self._own(works, r)
        self.items.append((LAUNCH, int(dur), self.latency if latency is None else latency,
                           tuple((self.stream(w.stream), w.dur, w.cls, w.gap, w) for w in works), r))
        return r

    def _own(self, works, call):
        for w in works:
            w.call = call
            self.works.append(w)

    def blocking_copy(self, api, dur, work, kind, args=None, cat="cuda_runtime"):
        """A call that returns when its copy is done. dur: its own cost if it does not wait."""
        r = Range(api, cat, self.tid, args)
        r.works = [work]
        self._own([work], r)
        self.items.append((BLOCKING_COPY, int(dur), self.latency,
                           (self.stream(work.stream), work.dur, work.cls, work.gap, work), kind, r))
        return r

    def sync(self, api, dur, scope="device", args=None, cat="cuda_runtime"):
        """scope: "device", a stream, or an Event."""
        r = Range(api, cat, self.tid, args)
        r.scope = scope
        self.items.append((SYNC, int(dur), scope if isinstance(scope, (str, Event)) else self.stream(scope), r))
        return r

    def record(self, stream, dur=0, api="cudaEventRecord", args=None, event=None):
        """event: record again instead of a new one."""
        if event is None:
            event = Event(self.events)
            self.events += 1
        r = Range(api, "cuda_runtime", self.tid, args)
        r.event, r.stream = event, stream
        event.recorded, event.stream = r, stream
        self.items.append((RECORD, int(dur), self.stream(stream), event, r))
        return event

    def wait(self, stream, event, dur=0, api="cudaStreamWaitEvent", args=None):
        r = Range(api, "cuda_runtime", self.tid, args)
        r.event, r.stream = event, stream
        self.items.append((WAIT, int(dur), self.stream(stream), event, r))
        return r

    # code
    def code(self, full=False):
        """Instructions without ranges, with neighbouring host work of a class merged; all if full.

        Each synchronization gets a last field: whether it can be removed (not the last of its step).
        """
        last, current, inside = set(), None, False
        for i, item in enumerate(self.items):
            op = item[0]
            if op == STEP_BEGIN:
                current, inside = None, True
            elif op == STEP_END:
                if current is not None:
                    last.add(current)
                inside = False
            elif op == SYNC or (op == BLOCKING_COPY and item[4] == ITEM):
                if inside:
                    current = i
                else:
                    last.add(i)
        out = []
        for i, item in enumerate(self.items):
            op = item[0]
            if op in (SYNC, BLOCKING_COPY):
                out.append(item + (i not in last,))
            elif full:
                out.append(item)
            elif op == HOST:
                if out and out[-1][0] == HOST and out[-1][2] == item[2]:
                    out[-1] = (HOST, out[-1][1] + item[1], item[2], None)
                else:
                    out.append(item)
            elif op not in (BEGIN, END):
                out.append(item)
        return out


class Rules:
    """What is free in a run, and other readings of the definitions.

    no_gaps: gaps between kernels go with the GPU work. pageable_is_sync: the wait in a pageable copy goes with the
    synchronizations. keep_before: device work launched before the first step stays.
    """

    def __init__(self, free=(), scale=0.0, no_gaps=False, pageable_is_sync=False, keep_before=False):
        self.scale = [1] * len(CLASSES)
        for c in free:
            if c != SYNCHRONIZATION:
                self.scale[c] = scale
        self.sync_free = SYNCHRONIZATION in free
        self.gap = 0 if no_gaps and self.scale[GPU] == 0 else 1
        self.pageable_free = pageable_is_sync and self.sync_free
        self.keep_before = keep_before


def run(program, code, rules=None, record=None):
    """Steps with their times. record: a list that takes (start, end) of each instruction; sets works' times too."""
    rules = rules or Rules()
    scale, gap_factor, tail, limit = rules.scale, rules.gap, program.sync_tail, program.queue_limit
    dispatch = scale[DISPATCH]
    avail = [program.busy_before] * max(1, len(program.streams))
    events = [0] * program.events
    done = []  # per launch, when its work is complete
    t, device_end = 0, program.busy_before
    steps, step = [], None
    for item in code:
        op, begun = item[0], t
        if op == HOST:
            s = scale[item[2]]
            if s == 1:
                t += item[1]
            elif s:
                t += int(item[1] * s)
        elif op == LAUNCH:
            t += item[1] if dispatch == 1 else int(item[1] * dispatch)
            if len(done) >= limit and done[-limit] > t:
                t = done[-limit]
            ready = t + item[2]
            end = 0
            for stream, dur, cls, gap, work in item[3]:
                s = scale[cls] if steps or not rules.keep_before else 1
                start = avail[stream] + (gap if gap_factor else 0)
                if start < ready:
                    start = ready
                end = start + (dur if s == 1 else int(dur * s))
                avail[stream] = end
                if step is not None:
                    if step.first_work is None or start < step.first_work:
                        step.first_work = start
                    if end > step.last_work:
                        step.last_work = end
                if record is not None:
                    work.start, work.end, work.step = start, end, step
                if end > device_end:
                    device_end = end
            done.append(end)
        elif op == SYNC:
            _, dur, scope, call, removable = item
            t += dur if dispatch == 1 else int(dur * dispatch)
            if not (rules.sync_free and removable):
                target = device_end if scope == "device" else events[scope.index] if isinstance(scope, Event) \
                    else avail[scope]
                if target > begun and target + tail > t:
                    t = target + tail
        elif op == BLOCKING_COPY:
            _, own, latency, (stream, dur, cls, gap, work), kind, call, removable = item
            s = scale[cls]
            t += own if dispatch == 1 else int(own * dispatch)
            start = max(begun + latency, avail[stream] + (gap if gap_factor else 0))
            end = start + (dur if s == 1 else int(dur * s))
            avail[stream] = end
            device_end = max(device_end, end)
            done.append(end)
            if step is not None:
                if step.first_work is None or start < step.first_work:
                    step.first_work = start
                step.last_work = max(step.last_work, end)
            if record is not None:
                work.start, work.end, work.step = start, end, step
            free = rules.sync_free and removable if kind == ITEM else rules.pageable_free
            if not free:
                t = max(t, end + tail)
        elif op == RECORD:
            t += item[1] if dispatch == 1 else int(item[1] * dispatch)
            events[item[3].index] = avail[item[2]]
        elif op == WAIT:
            t += item[1] if dispatch == 1 else int(item[1] * dispatch)
            e = events[item[3].index]
            if e > avail[item[2]]:
                avail[item[2]] = e
        elif op == STEP_BEGIN:
            step = Step(item[1])
            step.start, step.first_work, step.last_work = t, None, 0
            step.busy_before = device_end
            steps.append(step)
        elif op == STEP_END:
            step.end = t
            step.window = window(step)
            step = None
        if record is not None:
            record.append((begun, t))
    return steps


def window(step):
    """The window of a step: docs/measures.md."""
    start = step.start
    if step.busy_before > start:
        start = step.busy_before if step.first_work is None else min(step.busy_before, step.first_work)
        start = max(start, step.start)
    return start, max(step.end, step.last_work)


def warm(steps):
    """Indices of the steps that are not longer than twice the median."""
    lengths = sorted(b - a for a, b in (s.window for s in steps))
    n = len(lengths)
    median = lengths[n // 2] if n % 2 else (lengths[n // 2 - 1] + lengths[n // 2]) / 2
    return [i for i, s in enumerate(steps) if s.window[1] - s.window[0] <= 2 * median]


def union(intervals):
    """Sorted disjoint intervals that cover the same time."""
    out = []
    for a, b in sorted(intervals):
        if out and a <= out[-1][1]:
            out[-1][1] = max(out[-1][1], b)
        else:
            out.append([a, b])
    return out


def total(steps, chosen):
    """Time of the chosen steps: the union of their windows."""
    return sum(b - a for a, b in union(steps[i].window for i in chosen))


def elapsed(steps, chosen):
    """The other reading: from the start of the first chosen step to the end of the last."""
    return max(steps[i].window[1] for i in chosen) - min(steps[i].window[0] for i in chosen)


class Timeline:
    """A recorded run: times of all ranges, calls and works, and what the host did in each moment."""

    def __init__(self, program):
        self.program = program
        code = program.code(full=True)
        times = []
        self.steps = run(program, code, record=times)
        self.ranges, self.segments = [], []
        stack = []
        for item, (a, b) in zip(code, times):
            op = item[0]
            if op == BEGIN:
                item[1].start = a
                stack.append(item[1])
                self.ranges.append(item[1])
            elif op == END:
                item[1].end = b
                stack.pop()
            elif op == HOST:
                if item[3] is not None:
                    item[3].start, item[3].end = a, b
                    self.ranges.append(item[3])
                if b > a:
                    self.segments.append((a, b, item[2]))
            elif op in (LAUNCH, SYNC, BLOCKING_COPY, RECORD, WAIT):
                call = item[4] if op in (LAUNCH, RECORD, WAIT) else item[3] if op == SYNC else item[5]
                call.start, call.end = a, b
                self.ranges.append(call)
                if b > a:
                    waits = op == SYNC or op == BLOCKING_COPY
                    self.segments.append((a, b, SYNCHRONIZATION if waits else DISPATCH))
        self.end = max([t for _, t in times] + [w.end for w in program.works])

    def idle_causes(self, chosen):
        """Idle time of the device in the chosen windows, by what the host did, as the causes in docs/measures.md.

        Time after the call of the next device event has started is launch latency, and belongs to no class.
        """
        busy = union((w.start, w.end) for w in self.program.works if w.end > w.start)
        first = {}
        for w in self.program.works:
            first[w.start] = min(first.get(w.start, w.call.start), w.call.start)
        out = dict.fromkeys(range(len(CLASSES)), 0)
        for lo, hi in union(self.steps[i].window for i in chosen):
            at = lo
            for a, b in busy + [[hi, hi]]:
                if b <= at and b < hi:
                    continue
                stop = min(a, hi)
                if stop > at:
                    launched = first.get(a, stop)
                    self._charge(out, at, min(stop, max(at, launched)))
                at = max(at, b)
                if at >= hi:
                    break
        return out

    def _charge(self, out, lo, hi):
        """Adds the host's classes between lo and hi."""
        segments = self.segments
        i, j = 0, len(segments)
        while i < j:
            m = (i + j) // 2
            if segments[m][1] <= lo:
                i = m + 1
            else:
                j = m
        while i < len(segments) and segments[i][0] < hi:
            a, b, c = segments[i]
            out[c] += max(0, min(b, hi) - max(a, lo))
            i += 1

    def longest_dispatch_without_launch(self):
        """The longest stretch of dispatch between two launches (other classes do not end it)."""
        launches = {r.start for r in self.ranges if r.works}
        out = stretch = 0
        for a, b, cls in self.segments:
            if a in launches:
                stretch = 0
            elif cls == DISPATCH:
                stretch += b - a
                out = max(out, stretch)
        return out

    def silent(self, chosen):
        """Time of the chosen windows in which neither a host event (annotations of phases aside) nor a device event runs."""
        covered = self._covered()
        return sum(_uncovered(covered, *window) for window in union(self.steps[i].window for i in chosen))

    def silent_before_first_work(self, chosen):
        """The largest part of a chosen window that has no event and lies before the step's first device event."""
        covered, out = self._covered(), 0
        for s in (self.steps[i] for i in chosen):
            lo, hi = s.window
            if s.first_work is not None and s.first_work > lo:
                out = max(out, _uncovered(covered, lo, s.first_work) / (hi - lo))
        return out

    def _covered(self):
        around = ("ProfilerStep#", "forward", "backward", "Optimizer.")
        events = [(r.start, r.end) for r in self.ranges if r.end > r.start
                  and not (r.cat == "user_annotation" and r.name.startswith(around))]
        return union(events + [(w.start, w.end) for w in self.program.works])


def _uncovered(covered, lo, hi):
    return hi - lo - sum(min(b, hi) - max(a, lo) for a, b in covered if b > lo and a < hi)


class Truth:
    """Length of the judged steps, and with each class free."""

    def __init__(self, program):
        self.program = program
        self.code = program.code()
        self.steps = run(program, self.code)
        self.chosen = warm(self.steps)
        self.total = total(self.steps, self.chosen)
        self.elapsed = elapsed(self.steps, self.chosen)

    def length(self, free, measure=total, **rules):
        return measure(run(self.program, self.code, Rules(free, **rules)), self.chosen)

    def share(self, *free, **rules):
        """S: the part of the time that goes when the classes are free."""
        return 1 - self.length(free, **rules) / self.total

    def shares(self, **rules):
        return [self.share(c, **rules) for c in range(len(CLASSES))]
