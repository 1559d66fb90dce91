# SPDX-License-Identifier: Apache-2.0
"""GPU time, host time and energy of calls. A mode is a list of calls, through which it cycles."""
import ctypes
import time
from statistics import median

import torch

from . import BenchError
from .results import PYTORCH, again, summarize

ROUNDS, ROUND_MS, PAUSE_S = 7, 15, 0.05
ENERGY_S = 2.0  # the counter has steps of up to 0.1 s


def graphed(body):
    """A function that replays `body` as a CUDA graph. Its tensors live as long as the function."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(5):
            body()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        body()

    def replay():
        graph.replay()

    replay.body = body  # a graph does not hold the tensors that it reads
    return replay


def elapsed_us(bodies, calls):
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for i in range(calls):
        bodies[i % len(bodies)]()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) * 1000 / calls


def rounds(modes, pause_s=0.0, count=ROUNDS):
    """{name: microseconds per call in each round}. The modes take turns, each after a pause."""
    times = {name: [] for name in modes}
    for _ in range(count):
        for name, bodies in modes.items():
            time.sleep(pause_s)
            # The first pass warms up.
            calls = max(len(bodies), int(ROUND_MS * 1000 / max(elapsed_us(bodies, len(bodies)), 1)))
            times[name].append(elapsed_us(bodies, calls))
    return times


def compare(modes, energy=None):
    """All modes back to back and after pauses, and PyTorch's fastest one twice. `energy` is an EnergyCounter or None."""
    for bodies in modes.values():
        elapsed_us(bodies, 2 * len(bodies))  # compiles
    first = rounds({name: bodies for name, bodies in modes.items() if name in PYTORCH}, count=3)
    fastest = min(first, key=lambda name: median(first[name]))
    modes = {**modes, again(fastest): modes[fastest]}
    result = summarize(rounds(modes), rounds(modes, PAUSE_S), fastest)
    for name, bodies in modes.items() if energy else ():
        result["modes"][name]["mj"] = energy.per_call_mj(bodies, result["modes"][name]["busy"]["us"])
    return result


def host_us(body, count=1000):
    times = []
    for i in range(count + 50):
        if i % 50 == 0:
            torch.cuda.synchronize()  # the queue does not fill up
        start = time.perf_counter_ns()
        body()
        times.append((time.perf_counter_ns() - start) / 1000)
    return median(times[50:])


class EnergyCounter:
    """The energy that the GPU has used, from NVML."""

    def __init__(self):
        try:
            self.nvml = ctypes.CDLL("libnvidia-ml.so.1")
        except OSError as error:
            raise BenchError(f"--energy: {error}") from None
        self.device = ctypes.c_void_p()
        uuid = f"GPU-{torch.cuda.get_device_properties('cuda').uuid}".encode()
        if self.nvml.nvmlInit_v2() or self.nvml.nvmlDeviceGetHandleByUUID(uuid, ctypes.byref(self.device)):
            raise BenchError("--energy: NVML does not find the GPU")
        self.read_mj()

    def read_mj(self):
        energy = ctypes.c_ulonglong()
        if self.nvml.nvmlDeviceGetTotalEnergyConsumption(self.device, ctypes.byref(energy)):
            raise BenchError("--energy: NVML does not count the energy of this GPU")
        return energy.value

    def per_call_mj(self, bodies, call_us):
        calls = max(len(bodies), int(ENERGY_S * 1e6 / call_us))
        torch.cuda.synchronize()
        start = self.read_mj()
        elapsed_us(bodies, calls)
        return (self.read_mj() - start) / calls
