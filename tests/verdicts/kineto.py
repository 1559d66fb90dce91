#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a timeline as a Kineto Chrome trace, and reads such a trace back to check it."""

import bisect
import json
import zlib

NVIDIA, AMD = "nvidia", "amd"


def _cuda(name, memory, major, minor, sms, threads, shared, optin):
    return {"id": 0, "name": name, "totalGlobalMem": memory, "computeMajor": major, "computeMinor": minor,
            "maxThreadsPerBlock": 1024, "maxThreadsPerMultiprocessor": threads, "regsPerBlock": 65536, "warpSize": 32,
            "sharedMemPerBlock": 49152, "numSms": sms, "regsPerMultiprocessor": 65536,
            "sharedMemPerBlockOptin": optin, "sharedMemPerMultiprocessor": shared}


def _hip(name, memory, sms, minor=4):
    return {"id": 0, "name": name, "totalGlobalMem": memory, "computeMajor": 9, "computeMinor": minor,
            "maxThreadsPerBlock": 1024, "maxThreadsPerMultiprocessor": 2048, "regsPerBlock": 65536, "warpSize": 64,
            "sharedMemPerBlock": 65536, "numSms": sms, "maxSharedMemoryPerMultiProcessor": 65536}


# name: vendor, generation of its GEMM kernels, dense bf16 (V100: fp16) TFLOP/s, memory GB/s, properties
DEVICES = {
    "H200": (NVIDIA, "hopper", 989, 4800, _cuda("NVIDIA H200", 150109880320, 9, 0, 132, 2048, 233472, 232448)),
    "H100": (NVIDIA, "hopper", 989, 3350, _cuda("NVIDIA H100 80GB HBM3", 85018279936, 9, 0, 132, 2048, 233472, 232448)),
    "H800": (NVIDIA, "hopper", 989, 3350, _cuda("NVIDIA H800", 84943110144, 9, 0, 132, 2048, 233472, 232448)),
    "B200": (NVIDIA, "blackwell", 2250, 8000, _cuda("NVIDIA B200", 191510675456, 10, 0, 148, 2048, 233472, 232448)),
    "A100": (NVIDIA, "ampere", 312, 2039, _cuda("NVIDIA A100-SXM4-80GB", 85093973504, 8, 0, 108, 2048, 167936, 166912)),
    "RTX4090": (NVIDIA, "ampere", 165, 1008, _cuda("NVIDIA GeForce RTX 4090", 25383272448, 8, 9, 128, 1536, 102400, 101376)),
    "V100": (NVIDIA, "volta", 112, 900, _cuda("Tesla V100-SXM2-32GB", 34079899648, 7, 0, 80, 2048, 98304, 98304)),
    "MI300X": (AMD, "cdna", 1307, 5300, _hip("AMD Instinct MI300X", 206141652992, 304)),
    "MI250": (AMD, "cdna", 362, 3277, _hip("AMD Instinct MI250X", 68702699520, 104, 0)),
}

CBID = {"cudaLaunchKernel": 211, "cudaLaunchKernelExC": 430, "cuLaunchKernel": 307, "cuLaunchKernelEx": 652,
        "cudaGraphLaunch": 311, "cudaMemcpyAsync": 41, "cudaMemsetAsync": 51, "cudaStreamSynchronize": 131,
        "cudaDeviceSynchronize": 165, "cudaEventSynchronize": 137, "cudaEventRecord": 135, "cudaStreamWaitEvent": 147,
        "cudaMalloc": 20, "cudaFree": 22, "cudaHostAlloc": 27, "cuModuleLoadData": 60, "cuLibraryLoadData": 721,
        "cudaStreamCreateWithFlags": 198, "cudaStreamIsCapturing": 317, "cudaEventQuery": 138,
        "cudaEventRecordWithFlags": 370}
CID = {"hipLaunchKernel": 107, "hipExtModuleLaunchKernel": 65, "hipModuleLaunchKernel": 169, "hipGraphLaunch": 215,
       "hipMemcpyAsync": 134, "hipMemcpyWithStream": 153, "hipMemsetAsync": 159, "hipStreamSynchronize": 158,
       "hipDeviceSynchronize": 48, "hipEventRecord": 58, "hipStreamWaitEvent": 200, "hipEventSynchronize": 60,
       "hipMalloc": 108, "hipFree": 69, "hipHostMalloc": 93, "hipModuleLoadData": 171, "hipModuleLoad": 170}


class Style:
    """How a trace is written."""

    def __init__(self, device="H200", sync_events=False, flows=False, gpu_annotations=False, integer_us=False,
                 stack=False, shapes=False, device_index=0, world=None, first_external=1, first_correlation=1000,
                 start_us=3864083860943):
        self.vendor, self.generation, self.tflops, self.bandwidth, self.properties = DEVICES[device]
        self.device, self.device_index, self.world = device, device_index, world
        self.sync_events = sync_events and self.vendor == NVIDIA
        self.flows, self.gpu_annotations, self.integer_us = flows, gpu_annotations, integer_us
        self.stack, self.shapes = stack, shapes
        self.first_external, self.first_correlation, self.start_us = first_external, first_correlation, start_us
        self.lost = set()  # works that are not written
        self.hidden = set()  # calls that are not written


def kernel_args(name, style, cache={}):
    """The launch configuration of a kernel: the same for all of its instances."""
    key = (name, style.vendor, style.properties["numSms"])
    if key not in cache:
        h = zlib.crc32(name.encode())
        gemm = any(s in name for s in ("nvjet", "gemm", "Cijk", "cutlass", "flash", "fmha"))
        block = (384 if gemm else 128) if "nccl" not in name else 544
        grid = style.properties["numSms"] * (1 + h % 2) if gemm else 24 if "nccl" in name else 1 << (6 + h % 8)
        if style.vendor == AMD:
            cache[key] = f'"kind": "Dispatch Kernel", "grid": [{grid * 256}, 1, 1], "block": [256, 1, 1]'
        else:
            registers, shared = (168, 213188) if gemm else (16 + 8 * (h % 5), 0)
            blocks = grid / style.properties["numSms"]
            warps = blocks * block / 32
            cache[key] = (f'"registers per thread": {registers}, "shared memory": {shared}, '
                          f'"blocks per SM": {blocks:.6f}, "warps per SM": {warps:.6f}, "grid": [{grid}, 1, 1], '
                          f'"block": [{block}, 1, 1], "est. achieved occupancy %": {min(100, int(warps / 64 * 100))}')
    return cache[key]


class Writer:
    def __init__(self, timeline, style, rng):
        self.timeline, self.style, self.rng = timeline, style, rng
        self.lines = []
        self.quoted = {}
        p = timeline.program
        self.pid = p.pid
        self.device = style.device_index

    def time(self, ns):
        if self.style.integer_us:
            return str(self.style.start_us * 400 + ns // 1000)
        return f"{self.style.start_us + ns // 1000}.{ns % 1000:03d}"

    def dur(self, ns):
        return str(ns // 1000) if self.style.integer_us else f"{ns // 1000}.{ns % 1000:03d}"

    def name(self, name):
        if name not in self.quoted:
            self.quoted[name] = json.dumps(name)
        return self.quoted[name]

    def event(self, cat, name, pid, tid, start, end, args):
        head = f'{{"ph": "X", "cat": "{cat}", "name": {self.name(name)}, "pid": {pid}, "tid": {tid}, ' \
               f'"ts": {self.time(start)}, "dur": {self.dur(end - start)}'
        self.lines.append(head + (f', "args": {{{args}}}}}' if args is not None else "}"))

    def flow(self, phase, cat, number, pid, tid, at):
        bind = ', "bp": "e"' if phase == "f" else ""
        self.lines.append(f'{{"ph": "{phase}", "id": {number}, "pid": {pid}, "tid": {tid}, "ts": {self.time(at)}, '
                          f'"cat": "{cat}", "name": "{cat}"{bind}}}')

    def text(self):
        self.host_events()
        self.metadata()
        return self.header() + ",\n".join(self.lines) + "\n  ],\n  \"traceName\": \"trace.json\"\n}\n"

    def header(self):
        s = self.style
        devices = [dict(s.properties, id=i) for i in range(max(1, s.world[1] if s.world else 1))]
        head = {"schemaVersion": 1, "deviceProperties": devices}
        if s.world:
            rank, size = s.world
            head["distributedInfo"] = {"backend": "nccl", "rank": rank, "world_size": size, "pg_count": 1,
                                       "pg_config": [{"pg_name": "0", "pg_desc": "default_pg",
                                                      "backend_config": "cuda:nccl", "pg_size": size,
                                                      "ranks": list(range(size))}], "nccl_version": "2.27.3"}
        if s.shapes:
            head["record_shapes"] = 1
        if s.stack:
            head["with_stack"] = 1
        if s.vendor == AMD:
            head.update(hip_runtime_version=70051831, hip_driver_version=70051831, roctracer_version=4.1)
        elif not s.integer_us:
            head.update(cuda_driver_version=13000, cuda_runtime_version=13000, cupti_version=130001)
        if not s.integer_us:
            head.update(displayTimeUnit="ms", baseTimeNanoseconds=1767189312000000000)
        text = json.dumps(head)
        return text[:-1] + ', "traceEvents": [\n'

    def host_events(self):
        s, timeline = self.style, self.timeline
        external, ev, python_id = s.first_external, 0, 0
        correlation = s.first_correlation
        ops, frames, annotations = {}, {}, {}  # open ranges per thread
        spans = {}  # (annotation, stream): start, end of its device work
        forward, flow_id = {}, 0
        ids = {}
        for r in timeline.ranges:
            if r.cat == "overhead":
                self.event("overhead", r.name, -1, 0, r.start, r.end, None)
                continue
            for stacks in (ops, frames, annotations):
                stack = stacks.setdefault(r.tid, [])
                while stack and stack[-1].end <= r.start and stack[-1].end < r.end:
                    stack.pop()
            if r.cat in ("cpu_op", "user_annotation"):
                args = f'"External id": {external}, "Record function id": 0'
                if r.args:
                    args += "".join(f", {json.dumps(k)}: {json.dumps(v)}" for k, v in r.args.items())
                self.event(r.cat, r.name, self.pid, r.tid, r.start, r.end, f'{args}, "Ev Idx": {ev}')
                ids[r] = external
                if r.cat == "cpu_op":
                    ops[r.tid].append(r)
                else:
                    annotations[r.tid].append(r)
                if r.args and "Fwd thread id" in r.args and not r.name.startswith("autograd::engine"):
                    number = r.args["Sequence number"]
                    if r.args["Fwd thread id"] == 0:
                        forward.setdefault(number, r)
                    elif number in forward and s.flows:
                        f = forward.pop(number)
                        flow_id += 1
                        self.flow("s", "fwdbwd", flow_id, self.pid, f.tid, f.start)
                        self.flow("f", "fwdbwd", flow_id, self.pid, r.tid, r.start)
                external += 1
                ev += 1
            elif r.cat == "python_function":
                python_id += 1
                stack = frames[r.tid]
                parent = ids[stack[-1]] if stack else "null"
                module = ', "Python module id": 0' if r.name.startswith("nn.Module") else ""
                self.event(r.cat, r.name, self.pid, r.tid, r.start, r.end,
                           f'"Python parent id": {parent}, "Python id": {python_id}{module}, "Ev Idx": {ev}')
                ids[r] = python_id
                stack.append(r)
                ev += 1
            else:  # a call of the runtime or the driver
                correlation += self.rng.choice((1, 2, 3, 8, 13))
                r.correlation = correlation
                outer = ops[r.tid][-1] if ops[r.tid] else None
                link = f'"External id": {ids[outer]}, ' if outer is not None else ""
                self.call(r, link)
                if r.works and s.gpu_annotations:
                    for a in annotations[r.tid]:
                        if "DataLoader" in a.name:
                            continue
                        for w in r.works:
                            lo, hi = spans.get((a, w.stream), (w.start, w.end))
                            spans[a, w.stream] = min(lo, w.start), max(hi, w.end)
        for (a, stream), (lo, hi) in spans.items():
            self.event("gpu_user_annotation", a.name, self.device, stream, lo - 1, hi + 1, f'"External id": {ids[a]}')

    def call(self, r, link):
        s = self.style
        if r in s.hidden:
            for w in r.works:
                self.work(w, "", r.correlation, False)
            return
        known = CID if s.vendor == AMD else CBID
        kind = '"cid"' if s.vendor == AMD else '"cbid"'
        args = f'{link}{kind}: {known.get(r.name, 0)}, "correlation": {r.correlation}'
        if s.vendor == AMD and r.works and r.works[0].cat == "kernel":
            args = f'{link}"kernel": {self.name(r.works[0].name)}, {kind}: {known.get(r.name, 0)}, ' \
                   f'"correlation": {r.correlation}, "grid": [65536, 1, 1], "block": [256, 1, 1], "shared memory": 0'
        if r.args:
            args += "".join(f", {json.dumps(k)}: {json.dumps(v)}" for k, v in r.args.items())
        self.event(r.cat, r.name, self.pid, r.tid, r.start - r.lead, r.end, args)
        if s.flows and r.works:
            self.flow("s", "ac2g", r.correlation, self.pid, r.tid, r.start - r.lead)
        for w in r.works or ():
            if w not in s.lost:
                self.work(w, link, r.correlation)
        if s.sync_events:
            self.sync_event(r, link)

    def work(self, w, link, correlation, flow=True):
        s = self.style
        if s.vendor == AMD:
            where = f'{link}"device": {self.device}, "stream": {w.stream}, "correlation": {correlation}'
        elif w.cat == "kernel":
            where = f'{link}"queued": 0, "device": {self.device}, "context": 1, "stream": {w.stream}, ' \
                    f'"correlation": {correlation}'
        else:
            where = f'{link}"device": {self.device}, "context": 1, "stream": {w.stream}, "correlation": {correlation}'
        if w.cat == "kernel":
            args = f"{where}, {kernel_args(w.name, s)}"
        else:
            size = (w.args or {}).get("bytes", 4)
            rate = size / max(1, w.end - w.start)
            kind = f'"kind": "{w.name[7:11]}", ' if s.vendor == AMD and w.cat == "gpu_memcpy" else ""
            args = f'{where}, {kind}"bytes": {size}, "memory bandwidth (GB/s)": {rate!r}'
        if w.cat == "kernel" and w.args:
            args += "".join(f", {json.dumps(k)}: {json.dumps(v)}" for k, v in w.args.items())
        self.event(w.cat, w.name, self.device, w.stream, w.start, w.end, args)
        if s.flows and flow:
            self.flow("f", "ac2g", correlation, self.device, w.stream, w.start)

    def sync_event(self, r, link):
        """The cuda_sync record of a call."""
        inset = min(1000, (r.end - r.start) // 4)
        if self.style.integer_us:
            inset = inset // 1000 * 1000
        tail = f'"correlation": {r.correlation}, "device": {self.device}, "context": 1'
        if r.name == "cudaStreamWaitEvent":
            kind, tid, stream, event = "Stream Wait Event", r.stream, r.stream, r.event
        elif r.name == "cudaStreamSynchronize":
            kind, tid, stream, event = "Stream Sync", r.scope, r.scope, None
        elif r.name == "cudaEventSynchronize":
            kind, tid, stream, event = "Event Sync", -1, -1, r.scope
        elif r.name == "cudaDeviceSynchronize":
            kind, tid, stream, event = "Context Sync", -1, -1, None
        else:
            return
        wait = ""
        if event is not None:
            wait = f'"wait_on_stream": {event.stream}, "wait_on_cuda_event_record_corr_id": ' \
                   f'{event.recorded.correlation}, "wait_on_cuda_event_id": {event.index + 8}, '
        self.event("cuda_sync", kind, self.device, tid, r.start + inset, r.end,
                   f'{link}"cuda_sync_kind": "{kind}", {wait}"stream": {stream}, {tail}')

    def metadata(self):
        at, process = self.time(0), "python3"
        meta = []

        def m(name, pid, tid, key, value):
            meta.append(f'{{"name": "{name}", "ph": "M", "ts": {at}, "pid": {pid}, "tid": {tid}, '
                        f'"args": {{"{key}": {json.dumps(value)}}}}}')
        m("process_name", self.pid, 0, "name", process)
        m("process_labels", self.pid, 0, "labels", "CPU")
        m("process_sort_index", self.pid, 0, "sort_index", self.pid)
        for i in range(8):
            m("process_name", i, 0, "name", process)
            m("process_labels", i, 0, "labels", f"GPU {i}")
            m("process_sort_index", i, 0, "sort_index", 5000000 + i)
        for stream in self.timeline.program.streams:
            m("thread_name", self.device, stream, "name", f"stream {stream} ")
            m("thread_sort_index", self.device, stream, "sort_index", stream)
        for tid in sorted({r.tid for r in self.timeline.ranges}):
            label = "python3" if tid == self.pid else "pt_autograd_0"
            m("thread_name", self.pid, tid, "name", f"thread {tid} ({label})")
            m("thread_sort_index", self.pid, tid, "sort_index", tid)
        self.lines += meta
        end = self.timeline.end + 50000
        self.lines.append(f'{{"ph": "X", "cat": "Trace", "ts": {self.time(0)}, "dur": {self.dur(end)}, "pid": "Spans", '
                          '"tid": "PyTorch Profiler", "name": "PyTorch Profiler (0)", "args": {"Op count": 0}}')
        self.lines.append(f'{{"name": "Iteration Start: PyTorch Profiler", "ph": "i", "s": "g", "pid": "Traces", '
                          f'"tid": "Trace PyTorch Profiler", "ts": {self.time(0)}}}')
        self.lines.append(f'{{"name": "Record Window End", "ph": "i", "s": "g", "pid": "", "tid": "", '
                          f'"ts": {self.time(end)}}}')


def read_back(text):
    """Windows of the steps (ns) from a trace's text alone, after checks of its structure."""
    trace = json.loads(text, parse_float=_ns, parse_int=int)

    def ns(value):
        return value.ns if isinstance(value, _ns) else value * 1000
    calls, works, steps, threads, streams = {}, [], [], {}, {}
    for e in trace["traceEvents"]:
        if e["ph"] != "X" or e["cat"] == "Trace":
            continue
        start = ns(e["ts"])
        end = start + ns(e["dur"])
        assert end >= start
        cat = e["cat"]
        if cat in ("kernel", "gpu_memcpy", "gpu_memset"):
            works.append((start, end, e["args"]["correlation"]))
            streams.setdefault(e["tid"], []).append((start, end))
        elif cat in ("cuda_runtime", "cuda_driver"):
            assert e["args"]["correlation"] not in calls, "a correlation occurs twice"
            calls[e["args"]["correlation"]] = start
        if cat in ("cpu_op", "user_annotation", "cuda_runtime", "cuda_driver", "python_function"):
            threads.setdefault(e["tid"], []).append((start, -end, e["name"]))
            if cat == "user_annotation" and e["name"].startswith("ProfilerStep#"):
                steps.append((start, end))
    for events in threads.values():
        stack = []
        for start, end, name in sorted(events):
            while stack and stack[-1] <= start:
                stack.pop()
            assert not stack or -end <= stack[-1], f"{name} overlaps the end of the event around it"
            stack.append(-end)
    for events in streams.values():
        events.sort()
        assert all(a[1] <= b[0] for a, b in zip(events, events[1:])), "two events of a stream overlap"
    steps.sort()
    starts = [s for s, _ in steps]
    owned = [[] for _ in steps]
    earlier = []
    for start, end, correlation in works:
        launched = calls.get(correlation, -1)  # without a call: launched before the recording
        assert launched <= start, "device work starts before its call"
        i = bisect.bisect_right(starts, launched) - 1
        if i >= 0 and launched < steps[i][1]:
            owned[i].append((start, end))
        earlier.append((launched, end))
    out = []
    for (lo, hi), mine in zip(steps, owned):
        before = max([end for launched, end in earlier if launched < lo and end > lo], default=lo)
        first = min([a for a, _ in mine], default=before)
        out.append((max(lo, min(before, first)), max([hi] + [b for _, b in mine])))
    base = starts[0]
    return [(a - base, b - base) for a, b in out]


class _ns:
    """A number of microseconds with a decimal point, as nanoseconds."""

    __slots__ = ("ns", "text")

    def __init__(self, text):
        whole, _, part = text.partition(".")
        self.text = text
        plain = part.isdigit() and len(part) <= 3
        self.ns = int(whole) * 1000 + int((part + "000")[:3]) if plain else None
