#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small steps whose length, and whose length with a class free, is known in closed form.

Every case is K equal steps. A formula gives the mean time of a step in microseconds; its variables are the case's
parameters: a (operator before its launch), l (launch call), lat (from the end of a launch call to the earliest start
of its work), tail (from the end of the awaited work to the end of the waiting call), s (a synchronizing call that
does not wait), m (a copy call that does not wait), r and w (calls that record an event, and that make a stream wait),
g... (kernels), P (copy), C (collective), n... (numbers of operators with one launch each).
A class without a formula does not change the time.
"""

from simulator import (ALLOCATION, BLOCKING_COPY, CLASSES, COMMUNICATION, COMPILATION, COPIES, GPU, ITEM, LOADING,
                       PAGEABLE, PROGRAM, STARTUP, SYNC, Program, Truth, Work, us)

COMMON = {"a": 6, "l": 4, "lat": 5, "tail": 4, "s": 2, "m": 6, "r": 1, "w": 1}
ELEMENTWISE = ("void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<float, float, float, "
               "at::native::binary_internal::MulFunctor<float> >, std::array<char*, 3ul> >(int, "
               "at::native::BinaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<float> >, "
               "std::array<char*, 3ul>)")
GEMM = "nvjet_sm90_tst_192x192_64x4_2x1_v_bz_coopB_TNT"
NCCL = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
CASES = []


class Case:
    def __init__(self, build, name, steps, params, length, free, note, device, sync_events, tolerance_us, unlike):
        self.build, self.name, self.steps, self.note = build, name, steps, note
        self.params = dict(COMMON, K=steps, **params)
        self.length, self.free = length, free
        self.device, self.sync_events, self.tolerance_us, self.unlike = device, sync_events, tolerance_us, unlike

    def value(self, formula):
        """Microseconds."""
        return eval(formula, {"__builtins__": {}, "max": max, "min": min}, dict(self.params))

    def program(self):
        v = Values(self.params)
        p = Program(latency=v.lat, sync_tail=v.tail)
        p.host(us(50))
        b = Builder(p, v, self.device)
        for i in range(self.steps):
            b.index = i
            p.step_begin(f"ProfilerStep#{i + 3}")
            self.build(b, v)
            p.step_end()
            b.between(v)
        p.host(us(20))
        p.sync("hipDeviceSynchronize" if b.amd else "cudaDeviceSynchronize", us(10))
        return p


class Values:
    """Parameters, times in nanoseconds, numbers as they are."""

    def __init__(self, params):
        for k, x in params.items():
            setattr(self, k, x if k[0] in "nqK" else us(x))


class Builder:
    """Operators of the small programs."""

    def __init__(self, program, v, device):
        self.p, self.v = program, v
        self.amd = device.startswith("MI")
        self.compute, self.side, self.nccl = (0, 1, 2) if self.amd else (7, 13, 20)
        self.index = 0
        self.between = lambda v: None

    def ops(self, n, g, name="aten::mm", kernel=GEMM, stream=None):
        for _ in range(n):
            self.p.begin(name)
            self.p.host(self.v.a)
            self.launch(Work(self.compute if stream is None else stream, g, GPU, kernel))
            self.p.end()

    def launch(self, works, name=None):
        self.p.launch(name or ("hipLaunchKernel" if self.amd else "cudaLaunchKernel"), self.v.l, works)

    def sync(self, scope="device"):
        name = {"device": "DeviceSynchronize"}.get(scope, "StreamSynchronize")
        self.p.sync(("hip" if self.amd else "cuda") + name, self.v.s, scope)

    def copy(self, dur, stream, to_device=True):
        """A pinned copy that does not block."""
        name = "Memcpy HtoD (Pinned -> Device)" if to_device else "Memcpy DtoH (Device -> Pinned)"
        self.p.launch("cudaMemcpyAsync", self.v.m, Work(stream, dur, COPIES, name, "gpu_memcpy",
                                                        {"bytes": max(4, dur * 25)}))

    def pageable(self, dur):
        self.p.blocking_copy("cudaMemcpyAsync", self.v.m,
                             Work(self.compute, dur, COPIES, "Memcpy HtoD (Pageable -> Device)", "gpu_memcpy",
                                  {"bytes": dur * 9}), PAGEABLE)
        self.sync(self.compute)

    def collective(self, dur):
        """On its own stream, after the work before it on the compute stream; returns the event of its end."""
        self.p.wait(self.nccl, self.p.record(self.compute, self.v.r), self.v.w)
        self.p.begin("nccl:all_reduce", "user_annotation")
        self.launch(Work(self.nccl, dur, COMMUNICATION, NCCL), "cudaLaunchKernelExC")
        self.p.end()
        return self.p.record(self.nccl, self.v.r)


def case(name, length, free, note, steps=3, device="H100", sync_events=False, tolerance_us=None, unlike=None, **params):
    def add(build):
        CASES.append(Case(build, name, steps, params, length, free, note, device, sync_events, tolerance_us,
                          unlike or {}))
        return build
    return add


@case("single_stream_gpu_bound", "a+l + lat + n*g + tail",
      {"gpu": "n*(a+l) + lat + tail", "dispatch": "lat + n*g + tail"},
      "Kernels longer than their launches, a synchronization at the end.", n=20, g=100)
def _(b, v):
    b.ops(v.n, v.g)
    b.sync()


@case("host_bound_tiny_kernels", "n*(a+l) + lat + g + tail",
      {"gpu": "n*(a+l) + lat + tail", "dispatch": "lat + n*g + tail"},
      "Launches take longer than the kernels.", n=50, g=3)
def _(b, v):
    b.ops(v.n, v.g, "aten::mul", ELEMENTWISE)
    b.sync()


@case("two_streams_joined_by_events", "a+l + lat + g1 + max(g2, g3) + g4 + tail",
      {"gpu": "4*(a+l) + 2*(r+w) + lat + tail", "dispatch": "lat + g1 + max(g2, g3) + g4 + tail"},
      "Stream 13 waits for a kernel of stream 7, stream 7 goes on, and waits for stream 13 before its last kernel.",
      g1=300, g2=200, g3=150, g4=100, sync_events=True)
def _(b, v):
    b.ops(1, v.g1)
    b.p.wait(b.side, b.p.record(b.compute, v.r), v.w)
    b.ops(1, v.g2, stream=b.side)
    b.ops(1, v.g3)
    b.p.wait(b.compute, b.p.record(b.side, v.r), v.w)
    b.ops(1, v.g4)
    b.sync()


@case("two_streams_joined_without_sync_records", "a+l + lat + g1 + max(g2, g3) + g4 + tail",
      {"gpu": "4*(a+l) + 2*(r+w) + lat + tail", "dispatch": "lat + g1 + max(g2, g3) + g4 + tail"},
      "As before with the longer branch on stream 7, and no cuda_sync records: events only from the calls.",
      g1=300, g2=150, g3=260, g4=100)
def _(b, v):
    b.ops(1, v.g1)
    b.p.wait(b.side, b.p.record(b.compute, v.r), v.w)
    b.ops(1, v.g2, stream=b.side)
    b.ops(1, v.g3)
    b.p.wait(b.compute, b.p.record(b.side, v.r), v.w)
    b.ops(1, v.g4)
    b.sync()


@case("two_streams_independent", "max(a+l + n*g1, 2*(a+l) + n*g2) + lat + tail",
      {"gpu": "2*n*(a+l) + lat + tail", "dispatch": "lat + n*max(g1, g2) + tail"},
      "Kernels on two streams in turn, nothing between them, a synchronization of the device.", n=12, g1=90, g2=70)
def _(b, v):
    for _ in range(v.n):
        b.ops(1, v.g1)
        b.ops(1, v.g2, stream=b.side)
    b.sync()


@case("queue_runs_ahead", "(a+l + lat + K*n*g) / K",
      {"gpu": "(K*n*(a+l) + lat) / K", "dispatch": "(lat + K*n*g) / K"},
      "No synchronization: the host runs ahead over the ends of the steps.", steps=4, n=20, g=100)
def _(b, v):
    b.ops(v.n, v.g)


@case("periods_overlap_event_of_step_before", "(a+l + lat + K*n*g) / K",
      {"gpu": "(K*n*(a+l) + K*r + (K-1)*s + max(0, lat - r - s)) / K", "dispatch": "(lat + K*n*g) / K"},
      "Each step ends with a wait for the event of the step before: the host is one step ahead.",
      steps=4, n=20, g=100, sync_events=True)
def _(b, v):
    b.ops(v.n, v.g)
    event = b.p.record(b.compute, v.r)
    if b.index:
        b.p.sync("cudaEventSynchronize", v.s, b.before)
    b.before = event


@case("item_in_the_middle", "a+l + lat + n1*g1 + P + tail + n2*(a+l) + lat + g2 + tail",
      {"gpu": "n1*(a+l) + m + lat + P + tail + n2*(a+l) + lat + tail",
       "copies": "a+l + lat + n1*g1 + tail + n2*(a+l) + lat + g2 + tail",
       "dispatch": "lat + n1*g1 + P + tail + lat + n2*g2 + tail",
       "synchronization": "a+l + lat + n1*g1 + P + n2*g2 + tail"},
      "An .item() waits for long kernels; without it the launches after it run during them.",
      n1=20, g1=100, n2=80, g2=3, P=2)
def _(b, v):
    b.ops(v.n1, v.g1)
    b.p.begin("aten::item")
    b.p.begin("aten::_local_scalar_dense")
    b.copy(v.P, b.compute, False)
    b.sync(b.compute)
    b.p.end()
    b.p.end()
    b.ops(v.n2, v.g2, "aten::mul", ELEMENTWISE)
    b.sync()


@case("blocking_copy_in_the_middle_amd", "a+l + lat + n1*g1 + P + tail + n2*(a+l) + lat + g2 + tail",
      {"gpu": "n1*(a+l) + lat + P + tail + n2*(a+l) + lat + tail",
       "copies": "a+l + lat + n1*g1 + tail + n2*(a+l) + lat + g2 + tail",
       "dispatch": "lat + n1*g1 + P + tail + lat + n2*g2 + tail",
       "synchronization": "a+l + lat + n1*g1 + P + n2*g2 + tail"},
      "The wait of an .item() is a blocking hipMemcpyWithStream.", n1=20, g1=100, n2=80, g2=3, P=2, device="MI300X")
def _(b, v):
    b.ops(v.n1, v.g1)
    b.p.begin("aten::item")
    b.p.begin("aten::_local_scalar_dense")
    b.p.blocking_copy("hipMemcpyWithStream", v.m, Work(b.compute, v.P, COPIES, "Memcpy DtoH (Device -> Host)",
                                                       "gpu_memcpy", {"bytes": 4}), ITEM)
    b.p.end()
    b.p.end()
    b.ops(v.n2, v.g2, "aten::mul", ELEMENTWISE)
    b.sync()


@case("only_sync_is_in_the_middle",
      "(K*(a+l + lat + n1*g1 + P + tail + n2*(a+l)) + lat + g2) / K",
      {"gpu": "(K*(n1*(a+l) + m + lat + P + tail + n2*(a+l)) + lat) / K",
       "copies": "(K*(a+l + lat + n1*g1 + tail + n2*(a+l)) + lat + g2) / K",
       "dispatch": "(K*(lat + n1*g1 + P + tail + n2*g2) + lat) / K"},
      "The .item() in the middle is the only synchronization of the step, thus its last: it is not removed. "
      "If it were, the time would be (a+l + lat + K*(n1*g1 + P + n2*g2)) / K.",
      n1=20, g1=100, n2=40, g2=3, P=2, unlike={"synchronization": "(a+l + lat + K*(n1*g1 + P + n2*g2)) / K"})
def _(b, v):
    b.ops(v.n1, v.g1)
    b.p.begin("aten::item")
    b.copy(v.P, b.compute, False)
    b.sync(b.compute)
    b.p.end()
    b.ops(v.n2, v.g2, "aten::mul", ELEMENTWISE)


@case("two_syncs_of_gpu_bound_work", "2*(a+l + lat + tail) + (n1+n2)*g",
      {"gpu": "(n1+n2)*(a+l) + 2*(lat + tail)", "dispatch": "2*(lat + tail) + (n1+n2)*g",
       "synchronization": "a+l + lat + (n1+n2)*g + tail"},
      "A synchronization in the middle of long kernels costs one bubble only.", n1=10, n2=10, g=150, sync_events=True)
def _(b, v):
    b.ops(v.n1, v.g)
    b.sync()
    b.ops(v.n2, v.g)
    b.sync()


@case("pageable_copy_with_empty_queue", "a + lat + P + tail + s + a+l + lat + n*g + tail",
      {"gpu": "a + lat + P + tail + s + n*(a+l) + lat + tail", "copies": "a + lat + tail + s + a+l + lat + n*g + tail",
       "dispatch": "lat + P + tail + lat + n*g + tail"},
      "A pageable copy blocks the host at the start of the step.", n=20, g=60, P=1500)
def _(b, v):
    b.p.begin("aten::copy_")
    b.p.host(v.a)
    b.pageable(v.P)
    b.p.end()
    b.ops(v.n, v.g)
    b.sync()


@case("pageable_copy_behind_the_queue", "a+l + lat + n1*g + P + tail + s + a+l + lat + n2*g + tail",
      {"gpu": "n1*(a+l) + lat + P + tail + s + n2*(a+l) + lat + tail",
       "copies": "a+l + lat + n1*g + tail + s + a+l + lat + n2*g + tail",
       "dispatch": "lat + n1*g + P + tail + lat + n2*g + tail"},
      "A pageable copy behind queued kernels: the call waits for them too. That wait is kept when copies are free "
      "(duration 0 in its place in the queue), and it is no synchronizing call. If it counted as one that can be "
      "removed, the time without synchronizations would be a+l + lat + n1*g + P + n2*g + tail.",
      n1=15, n2=15, g=60, P=700, unlike={"synchronization": "a+l + lat + n1*g + P + n2*g + tail"})
def _(b, v):
    b.ops(v.n1, v.g)
    b.pageable(v.P)
    b.ops(v.n2, v.g)
    b.sync()


@case("pinned_copy_hidden", "m + a+l + lat + n*g + tail",
      {"gpu": "m + lat + max(P, n*(a+l)) + tail", "dispatch": "lat + max(P, n*g) + tail"},
      "A pinned copy on a second stream, shorter than the kernels beside it.", n=20, g=100, P=900)
def _(b, v):
    b.copy(v.P, b.side)
    b.ops(v.n, v.g)
    b.sync()


@case("pinned_copy_longer_than_kernels", "m + lat + P + tail",
      {"copies": "m + a+l + lat + n*g + tail", "dispatch": "lat + P + tail"},
      "A pinned copy on a second stream, longer than the kernels beside it.", n=10, g=80, P=2400)
def _(b, v):
    b.copy(v.P, b.side)
    b.ops(v.n, v.g)
    b.sync()


@case("collective_hidden", "a+l + lat + (n1+n2)*g + g4 + tail",
      {"gpu": "n1*(a+l) + r+w+l + lat + C + tail", "dispatch": "lat + (n1+n2)*g + g4 + tail"},
      "A collective beside kernels that take longer.", n1=10, n2=10, g=100, g4=50, C=700, sync_events=True)
def _(b, v):
    b.ops(v.n1, v.g)
    event = b.collective(v.C)
    b.ops(v.n2, v.g)
    b.p.wait(b.compute, event, v.w)
    b.ops(1, v.g4)
    b.sync()


@case("collective_exposed", "a+l + lat + n*g + C + g4 + tail",
      {"gpu": "n*(a+l) + r+w+l + lat + C + tail", "communication": "a+l + lat + n*g + g4 + tail",
       "dispatch": "lat + n*g + C + g4 + tail"},
      "A collective after all kernels but one, which waits for it.", n=10, g=100, g4=50, C=1800, sync_events=True)
def _(b, v):
    b.ops(v.n, v.g)
    b.p.wait(b.compute, b.collective(v.C), v.w)
    b.ops(1, v.g4)
    b.sync()


@case("collective_partly_hidden", "a+l + lat + n1*g + C + g4 + tail",
      {"gpu": "n1*(a+l) + r+w+l + lat + C + tail", "communication": "a+l + lat + (n1+n2)*g + g4 + tail",
       "dispatch": "lat + n1*g + C + g4 + tail"},
      "A collective that goes on after the kernels beside it.", n1=10, n2=6, g=100, g4=50, C=1500)
def _(b, v):
    b.ops(v.n1, v.g)
    event = b.collective(v.C)
    b.ops(v.n2, v.g)
    b.p.wait(b.compute, event, v.w)
    b.ops(1, v.g4)
    b.sync()


@case("serving_loop_host_work_between_steps", "a+l + lat + n*g + tail",
      {"gpu": "n*(a+l) + lat + tail", "dispatch": "lat + n*g + tail"},
      "Host work of 3 ms between the steps, outside of their marks: it is in the period, not in the step.",
      steps=4, n=20, g=60, W=3000)
def _(b, v):
    b.between = lambda v: b.p.host(v.W, PROGRAM, "detokenize", "user_annotation")
    b.ops(v.n, v.g)
    b.sync()


@case("serving_loop_host_work_in_steps", "W + a+l + lat + n*g + tail",
      {"gpu": "W + n*(a+l) + lat + tail", "dispatch": "W + lat + n*g + tail", "program": "a+l + lat + n*g + tail"},
      "Host work of 3 ms in each step before its launches.", steps=4, n=20, g=60, W=3000)
def _(b, v):
    b.p.host(v.W, PROGRAM, "schedule_requests", "user_annotation")
    b.ops(v.n, v.g)
    b.sync()


@case("dataloader_stall", "L + a+l + lat + n*g + tail",
      {"gpu": "L + n*(a+l) + lat + tail", "dispatch": "L + lat + n*g + tail", "loading": "a+l + lat + n*g + tail"},
      "The DataLoader runs while the device has nothing to do.", n=20, g=60, L=5000)
def _(b, v):
    b.p.host(v.L, LOADING, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "user_annotation")
    b.ops(v.n, v.g)
    b.sync()


@case("dataloader_hidden_behind_queue", "(L + a+l + lat + K*n*g) / K",
      {"gpu": "(K*(L + n*(a+l)) + lat) / K", "loading": "(a+l + lat + K*n*g) / K", "dispatch": "(L + lat + K*n*g) / K"},
      "The DataLoader runs while the device still has work of the step before.", steps=4, n=20, g=100, L=800)
def _(b, v):
    b.p.host(v.L, LOADING, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", "user_annotation")
    b.ops(v.n, v.g)


@case("program_work_exposed", "n1*(a+l) + W + a+l + lat + n2*g + tail",
      {"gpu": "n1*(a+l) + W + n2*(a+l) + lat + tail", "program": "a+l + lat + (n1+n2)*g + tail",
       "dispatch": "W + lat + n2*g + tail"},
      "A CPU operator of 4 ms outlasts the kernels launched before it.", n1=10, n2=10, g=80, W=4000)
def _(b, v):
    b.ops(v.n1, v.g)
    b.p.host(v.W, PROGRAM, "aten::sort")
    b.ops(v.n2, v.g)
    b.sync()


@case("program_gap_hidden", "a+l + lat + (n1+n2)*g + tail",
      {"gpu": "n1*(a+l) + W + n2*(a+l) + lat + tail", "dispatch": "lat + (n1+n2)*g + tail"},
      "A gap of 1.5 ms without any host event, during kernels launched before it.", n1=20, n2=10, g=150, W=1500)
def _(b, v):
    b.ops(v.n1, v.g)
    b.p.host(v.W, PROGRAM)
    b.ops(v.n2, v.g)
    b.sync()


@case("allocation", "n1*(a+l) + q*A + a+l + lat + n2*g + tail",
      {"gpu": "n1*(a+l) + q*A + n2*(a+l) + lat + tail", "allocation": "a+l + lat + (n1+n2)*g + tail",
       "dispatch": "q*A + lat + n2*g + tail"},
      "Five cudaMalloc of 400 us in the middle.", n1=5, n2=20, g=60, q=5, A=400)
def _(b, v):
    b.ops(v.n1, v.g)
    b.p.begin("aten::empty")
    for _ in range(v.q):
        b.p.host(v.A, ALLOCATION, "cudaMalloc", "cuda_runtime")
    b.p.end()
    b.ops(v.n2, v.g)
    b.sync()


@case("allocation_freed_at_the_start", "q*A + a+l + lat + n*g + tail",
      {"gpu": "q*A + n*(a+l) + lat + tail", "allocation": "a+l + lat + n*g + tail",
       "dispatch": "q*A + lat + n*g + tail"},
      "Twenty hipFree of 150 us at the start of the step.", n=20, g=60, q=20, A=150, device="MI300X")
def _(b, v):
    for _ in range(v.q):
        b.p.host(v.A, ALLOCATION, "hipFree", "cuda_runtime")
    b.ops(v.n, v.g)
    b.sync()


@case("compilation", "B + a+l + lat + n*g + tail",
      {"gpu": "B + n*(a+l) + lat + tail", "compilation": "a+l + lat + n*g + tail",
       "dispatch": "B + lat + n*g + tail"},
      "A recompilation in each step, less than half of it.", n=30, g=100, B=2000)
def _(b, v):
    b.p.host(v.B, COMPILATION, "_compile.compile_inner (dynamo_timed)", "user_annotation")
    b.ops(v.n, v.g)
    b.sync()


@case("module_loading", "B + a+l + lat + n*g + tail",
      {"gpu": "B + n*(a+l) + lat + tail", "startup": "a+l + lat + n*g + tail", "dispatch": "B + lat + n*g + tail"},
      "A module is loaded in each step.", n=30, g=100, B=2500)
def _(b, v):
    b.p.host(v.B, STARTUP, "cuModuleLoadData", "cuda_driver")
    b.ops(v.n, v.g)
    b.sync()


@case("cuda_graph", "l + lat + n*g + tail", {"gpu": "l + lat + tail", "dispatch": "lat + n*g + tail"},
      "One cudaGraphLaunch owns all kernels.", n=60, g=25)
def _(b, v):
    b.launch([Work(b.compute, v.g, GPU, GEMM) for _ in range(v.n)], "cudaGraphLaunch")
    b.sync()


@case("cuda_graph_and_host_work", "W + l + lat + n*g + tail",
      {"gpu": "W + l + lat + tail", "dispatch": "W + lat + n*g + tail", "program": "l + lat + n*g + tail"},
      "Host work of 2 ms, then one cudaGraphLaunch.", n=60, g=25, W=2000)
def _(b, v):
    b.p.host(v.W, PROGRAM, "prepare_batch", "user_annotation")
    b.launch([Work(b.compute, v.g, GPU, GEMM) for _ in range(v.n)], "cudaGraphLaunch")
    b.sync()


@case("backward_on_another_thread", "(n1+n2+n3)*(a+l) + 2*h + lat + g + tail",
      {"gpu": "(n1+n2+n3)*(a+l) + 2*h + lat + tail", "dispatch": "lat + (n1+n2+n3)*g + tail"},
      "Forward and optimizer on the main thread, backward on the autograd thread; the main thread waits meanwhile. "
      "h: to change the thread.", n1=20, n2=40, n3=10, g=4, h=20)
def _(b, v):
    b.ops(v.n1, v.g)
    b.p.host(v.h)
    b.p.tid = b.p.main + 25
    b.ops(v.n2, v.g)
    b.p.tid = b.p.main
    b.p.host(v.h)
    b.ops(v.n3, v.g)
    b.sync()


@case("full_launch_queue", "a+l + lat + n*g + tail",
      {"gpu": "n*(a+l) + lat + tail", "dispatch": "lat + n*g + tail"},
      "1500 launches: from the 1025th on, a launch blocks until the device has completed one.",
      steps=1, n=1500, g=20)
def _(b, v):
    b.ops(v.n, v.g)
    b.sync()


@case("chain_of_synchronizations",
      "L + m+lat+P+tail + a+l+lat+g+tail + l+lat+C+tail",
      {"gpu": "L + m+lat+P+tail + a+l+lat+tail + l+lat+C+tail",
       "copies": "L + m+lat+tail + a+l+lat+g+tail + l+lat+C+tail",
       "communication": "L + m+lat+P+tail + a+l+lat+g+tail + l+lat+tail",
       "loading": "m+lat+P+tail + a+l+lat+g+tail + l+lat+C+tail",
       "dispatch": "L + lat+P+tail + lat+g+tail + lat+C+tail",
       "synchronization": "L + m + lat + max(P, s + a+l + g, 2*s + a+l + l + C) + tail"},
      "Loading, a copy, a kernel and a collective on three streams, each followed by a synchronization of the device; "
      "no events between them.", L=1000, P=900, g=1000, C=950, n=1)
def _(b, v):
    b.p.host(v.L, LOADING, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "user_annotation")
    b.copy(v.P, b.side)
    b.sync()
    b.ops(1, v.g)
    b.sync()
    b.p.begin("nccl:all_reduce", "user_annotation")
    b.launch(Work(b.nccl, v.C, COMMUNICATION, NCCL), "cudaLaunchKernelExC")
    b.p.end()
    b.sync()


@case("loading_and_dispatch_are_substitutes", "((K-1)*(L + n*(a+l)) + L + a+l + lat + n*g) / K",
      {"gpu": "(K*(L + n*(a+l)) + lat) / K", "loading": "(a+l + lat + K*n*g) / K", "dispatch": "(L + lat + K*n*g) / K"},
      "Loading and dispatch together are longer than the kernels, each alone is shorter: without either, the GPU "
      "limits. The idle time is in the loading.", steps=5, n=80, g=12.5, L=600)
def _(b, v):
    b.p.host(v.L, LOADING, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "user_annotation")
    b.ops(v.n, v.g)


def truths():
    """(case, program, entry of truth.json) of each case, with formulas checked against the simulator."""
    for c in CASES:
        program = c.program()
        truth = Truth(program)
        assert len(truth.chosen) == c.steps, c.name
        n = len(truth.chosen)

        def check(formula, length):
            value = c.value(formula)
            assert abs(value * 1000 * n - length) < 1, (c.name, formula, value, length / n / 1000)
            return round(value, 4)
        t = check(c.length, truth.total)
        free, share = {}, {}
        for i, name in enumerate(CLASSES):
            formula = c.free.get(name, c.length)
            value = check(formula, truth.length((i,)))
            free[name] = {"formula": formula, "T_us": value}
            share[name] = round(1 - value / t, 4)
        waits = sum(item[0] in (BLOCKING_COPY, SYNC) for item in program.items) + 2
        largest = max(share.values())
        near = [k for k, x in share.items() if x >= largest / 1.25]
        entry = {"limiter": max(share, key=share.get), "acceptable": near + ["mixed"] * (len(near) > 1), "T_us": t,
                 "formula": c.length, "free": free, "S": share, "steps": c.steps, "params": c.params,
                 "tolerance_us": c.tolerance_us or max(20, 10 * waits // c.steps), "note": c.note}
        if c.unlike:
            entry["other_reading"] = {k: {"formula": f, "T_us": round(c.value(f), 4)} for k, f in c.unlike.items()}
        yield c, program, entry
