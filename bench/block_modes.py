#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The README's table: gated MLPs with epilogue.torch, in PyTorch's modes and with Triton on one Hopper GPU, in one run.

    PYTHONPATH=python EPILOGUE_GLU_LIBRARY=build/cuda/lib/libepilogue_glu.so python3 bench/block_modes.py

Every call is a CUDA graph, and calls cycle through copies of the weights that do not fit into the L2 cache. Time: medians of
rounds in which the modes take turns, back to back and after a pause. Energy: what the GPU's counter adds in two seconds of
calls back to back, per call. Triton is bench/triton_glu.py for gate and up, and cuBLAS for down.
"""
import ctypes
import statistics
import sys
import types

import torch

from graphed import graphed
from shape_sweep import DEVICE, elapsed_us, graphs_of, timed
from triton_glu import TritonGlu

ROUNDS, ENERGY_S = 7, 2.0
# Rows, width, hidden width, activation.
SHAPES = [(8192, 768, 3072, "gelu_tanh"), (8192, 2048, 16384, "gelu_tanh"), (4096, 4096, 14336, "silu"),
          (16, 4096, 14336, "silu"), (1, 4096, 14336, "silu"), (128, 64, 256, "gelu_tanh")]
TRITON_ROWS = 4096  # its kernel is for many rows


class EnergyCounter:
    """The energy that the GPU has used, in mJ, from NVML."""

    def __init__(self):
        self.nvml = ctypes.CDLL("libnvidia-ml.so.1")
        self.device = ctypes.c_void_p()
        uuid = f"GPU-{torch.cuda.get_device_properties(DEVICE).uuid}".encode()
        if self.nvml.nvmlInit_v2() or self.nvml.nvmlDeviceGetHandleByUUID(uuid, ctypes.byref(self.device)):
            sys.exit("block_modes: NVML does not find the GPU")

    def read(self):
        energy = ctypes.c_ulonglong()
        if self.nvml.nvmlDeviceGetTotalEnergyConsumption(self.device, ctypes.byref(energy)):
            sys.exit("block_modes: NVML does not count the energy of this GPU")
        return energy.value


def energy_mj(counter, graphs, us):
    """Per call. The counter has steps of 0.1 s or less."""
    calls = max(len(graphs), int(ENERGY_S * 1e6 / us))
    torch.cuda.synchronize()
    start = counter.read()
    elapsed_us(graphs, calls)
    return (counter.read() - start) / calls


def triton_block(x, weights, activation):
    gate, up, down = weights
    glu = types.SimpleNamespace(activation="geglu" if activation == "gelu_tanh" else "swiglu",
                                **{name: types.SimpleNamespace(weight=weight) for name, weight in
                                   (("gate_proj", gate), ("up_proj", up), ("down_proj", down))})

    def time_us(body):
        for _ in range(3):
            body()
        return statistics.median(elapsed_us([body], 20) for _ in range(3))

    return TritonGlu(glu, x, time_us)


def modes_of(rows, dim, hidden, activation):
    x, split, ours, theirs = graphs_of(dim, hidden, activation, rows)
    modes = {"Epilogue": ours, **theirs}
    if rows >= TRITON_ROWS:
        blocks = [triton_block(x, w, activation) for w in split]
        modes["Triton"] = [graphed(lambda f=f: f(x)) for f in blocks]
    return modes


def main():
    counter = EnergyCounter()
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}")
    for shape in SHAPES:
        with torch.no_grad():
            modes = modes_of(*shape)
            busy, paused = ({name: [] for name in modes} for _ in range(2))
            for pause, times in ((False, busy), (True, paused)):
                for _ in range(ROUNDS):
                    for name, graphs in modes.items():
                        times[name].append(timed(graphs, pause))
            us = {name: statistics.median(times) for name, times in busy.items()}
            energy = {name: energy_mj(counter, graphs, us[name]) for name, graphs in modes.items()}
        rows, dim, hidden, activation = shape
        print(f"{activation} {rows}x{dim}x{hidden}: us back to back (after a pause), spread, mJ per call; relative to Epilogue")
        for name in modes:
            pause = statistics.median(paused[name])
            print(f"  {name:16} {us[name]:9.2f} ({pause:9.2f})  {max(busy[name]) / min(busy[name]):.2f} {energy[name]:9.3f}"
                  f"   {us[name] / us['Epilogue']:.3f} ({pause / statistics.median(paused['Epilogue']):.3f})"
                  f" {energy[name] / energy['Epilogue']:.3f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
