#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the PyTorch operator epilogue::glu_mlp against PyTorch on one Hopper GPU, in one run.

    PYTHONPATH=python EPILOGUE_GLU_LIBRARY=build/cuda/lib/libepilogue_glu.so \\
        python3 bench/torch_glu.py [--lib build/cuda/lib] [--json FILE] [PART...]

Parts: host (host time of a call against two bare launches), rows (a patched MLP against ATen eager for 1 to 8192 rows),
block (all modes on four shapes), model (a whole Llama, with and without torch.compile). The default is all of them.
GPU times are medians of rounds in which the modes take turns, back to back and after a pause of 50 ms. A mode cycles
through copies of the weights, so that they come from memory and not from the L2 cache.
"""
import argparse
import copy
import ctypes
import json
import statistics
import sys
import time
import types

import torch

import epilogue.torch as et
from graphed import graphed
from epilogue.torch import _library as glu_library
from epilogue.torch import _python_kernel as python_kernel

try:
    from liger_kernel.transformers.swiglu import LigerSwiGLUMLP
except ImportError:
    LigerSwiGLUMLP = None

DEVICE, DTYPE = "cuda", torch.bfloat16
L2_BYTES = 60 << 20
ROUNDS, ROUND_MS, PAUSE_S = 7, 8, 0.05
ROWS = sorted({m + d for e in range(14) for m in (1 << e,) for d in (-1, 0, 1) if 1 <= m + d <= 8192})


class Mlp(torch.nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        options = {"bias": False, "device": DEVICE, "dtype": DTYPE}
        self.gate_proj = torch.nn.Linear(dim, hidden, **options)
        self.up_proj = torch.nn.Linear(dim, hidden, **options)
        self.down_proj = torch.nn.Linear(hidden, dim, **options)
        self.act_fn = torch.nn.SiLU()

    def forward(self, x):
        return self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))


class PackedMlp(torch.nn.Module):
    def __init__(self, mlp):
        super().__init__()
        self.gate_up = torch.cat((mlp.gate_proj.weight, mlp.up_proj.weight)).detach()
        self.down = mlp.down_proj.weight

    def forward(self, x):
        gate, up = torch.nn.functional.linear(x, self.gate_up).chunk(2, -1)
        return torch.nn.functional.linear(torch.nn.functional.silu(gate) * up, self.down)


def liger_of(mlp):
    config = types.SimpleNamespace(hidden_size=mlp.gate_proj.in_features,
                                   intermediate_size=mlp.gate_proj.out_features, hidden_act="silu")
    module = LigerSwiGLUMLP(config).to(DEVICE, DTYPE)
    module.load_state_dict(mlp.state_dict())
    return module


def elapsed_us(bodies, calls):
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for i in range(calls):
        bodies[i % len(bodies)]()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) * 1000 / calls


def compare(modes):
    """{name: (median back to back, median after a pause, spread)} of modes that take turns."""
    calls = {}
    for name, bodies in modes.items():
        for body in bodies:
            body()
        torch.cuda.synchronize()
        calls[name] = max(len(bodies), int(ROUND_MS * 1000 / max(elapsed_us(bodies, 2 * len(bodies)), 1)))
    busy, paused = ({name: [] for name in modes} for _ in range(2))
    for _ in range(ROUNDS):
        for name, bodies in modes.items():
            busy[name].append(elapsed_us(bodies, calls[name]))
    for _ in range(ROUNDS):
        for name, bodies in modes.items():
            time.sleep(PAUSE_S)
            paused[name].append(elapsed_us(bodies, calls[name]))
    return {name: (statistics.median(busy[name]), statistics.median(paused[name]),
                   max(busy[name]) / min(busy[name])) for name in modes}


def copies_of(dim, hidden):
    return max(1, min(8, -(-4 * L2_BYTES // (6 * dim * hidden))))


def host_us(body, count=1000):
    times = []
    for i in range(count + 50):
        if i % 50 == 0:
            torch.cuda.synchronize()
        start = time.perf_counter_ns()
        body()
        times.append((time.perf_counter_ns() - start) / 1000)
    return statistics.median(times[50:])


def host(args, figures):
    library = ctypes.CDLL(f"{args.lib}/libbare_launches.so")
    library.bare_launches_us.restype = ctypes.c_double
    library.bare_launches_us.argtypes = [ctypes.c_int, ctypes.c_void_p]
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
    mlp = Mlp(768, 3072)
    x = torch.randn(1, 768, device=DEVICE, dtype=DTYPE)
    weights = mlp.gate_proj.weight, mlp.up_proj.weight, mlp.down_proj.weight

    def operator():
        et.glu_mlp(x, *weights)

    hidden = torch.empty(2 * 3072, device=DEVICE, dtype=torch.uint8)
    y = torch.empty_like(x)
    block = glu_library.Block(ctypes.sizeof(glu_library.Block), 0, 0, 1, 0, 768, 3072, 768)
    handle = python_kernel._handle(block)
    call = glu_library.Call(ctypes.sizeof(glu_library.Call), 0, stream, 1, x.data_ptr(), 768,
                            *(w.data_ptr() for w in weights), None, None, None, y.data_ptr(), hidden.data_ptr(),
                            hidden.numel())
    library.glu_run_us.restype = ctypes.c_double
    library.glu_run_us.argtypes = [ctypes.c_int] + [ctypes.c_void_p] * 4
    run = ctypes.cast(glu_library.library.epi_glu_run, ctypes.c_void_p)

    rounds = {"two bare launches": [], "epi_glu_run from C": [], "operator, inference_mode": [], "operator, no_grad": [],
              "patched module, no_grad": [], "ATen eager, no_grad": []}
    patched = Mlp(768, 3072)
    et.patch(patched)
    for _ in range(5):
        rounds["two bare launches"].append(library.bare_launches_us(1000, stream))
        rounds["epi_glu_run from C"].append(library.glu_run_us(1000, stream, run, handle, ctypes.byref(call)))
        with torch.inference_mode():
            rounds["operator, inference_mode"].append(host_us(operator))
        with torch.no_grad():
            rounds["operator, no_grad"].append(host_us(operator))
            rounds["patched module, no_grad"].append(host_us(lambda: patched(x)))
            rounds["ATen eager, no_grad"].append(host_us(lambda: mlp(x)))
    print("host time of a call, 1 row of 768x3072: median of 1000, in us (smallest, largest of 5)")
    for name, values in rounds.items():
        figures[f"host {name}"] = statistics.median(values)
        print(f"  {name:28} {statistics.median(values):6.2f} ({min(values):.2f}, {max(values):.2f})")


def rows(args, figures):
    for dim, hidden in ((768, 3072), (4096, 14336), (2048, 8192)):
        print(f"patched MLP of {dim}x{hidden} against ATen eager: us back to back (after a pause)")
        mlps = [Mlp(dim, hidden) for _ in range(copies_of(dim, hidden))]
        patched = [Mlp(dim, hidden) for _ in mlps]
        for module in patched:
            et.patch(module)
        worst = 0, 0
        for m in ROWS if not args.short else (1, 16, 64, 65, 128, 256, 512, 1024, 4096):
            x = torch.randn(m, dim, device=DEVICE, dtype=DTYPE)
            with torch.no_grad():
                times = compare({"eager": [lambda f=f: f(x) for f in mlps],
                                 "patched": [lambda f=f: f(x) for f in patched]})
            ratio = times["patched"][0] / times["eager"][0]
            paused = times["patched"][1] / times["eager"][1]
            worst = max(worst, (ratio, m))
            figures[f"rows {dim}x{hidden} {m}"] = ratio
            print(f"  {m:5} rows: {times['patched'][0]:9.2f} ({times['patched'][1]:9.2f})  eager "
                  f"{times['eager'][0]:9.2f} ({times['eager'][1]:9.2f})  {ratio:.3f}x ({paused:.3f}x)")
        print(f"  slowest relative to eager: {worst[0]:.3f}x at {worst[1]} rows", flush=True)


def block(args, figures):
    for m, dim, hidden in ((8192, 768, 3072), (4096, 4096, 14336), (16, 4096, 14336), (1, 4096, 14336)):
        mlps = [Mlp(dim, hidden) for _ in range(copies_of(dim, hidden))]
        patched = [Mlp(dim, hidden) for _ in mlps]
        for module in patched:
            et.patch(module)
        x = torch.randn(m, dim, device=DEVICE, dtype=DTYPE)
        with torch.no_grad():
            def calls(modules):
                return [lambda f=f: f(x) for f in modules]

            def graphs(modules):
                return [graphed(body) for body in calls(modules)]

            packed = [torch.compile(PackedMlp(f)) for f in mlps]
            modes = {
                "eager": calls(mlps), "compile": calls([torch.compile(f) for f in mlps]),
                "packed, compile, graph": graphs(packed), "patched": calls(patched),
                "patched, compile": calls([torch.compile(f) for f in patched]),
                "patched, graph": graphs(patched),
            }
            if LigerSwiGLUMLP is None:
                print("Liger: not installed, skipped")
            else:
                modes["Liger"] = calls([liger_of(f) for f in mlps])
            times = compare(modes)
        print(f"{m} rows, {dim}x{hidden}: us back to back (after a pause)")
        for name, (busy, paused, spread) in times.items():
            figures[f"block {m}x{dim}x{hidden} {name}"] = busy
            print(f"  {name:24} {busy:9.2f} ({paused:9.2f})  {busy / times['eager'][0]:.3f}x eager,"
                  f" spread {spread:.2f}", flush=True)


def model(args, figures):
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(hidden_size=2048, intermediate_size=8192, num_hidden_layers=16, num_attention_heads=32,
                         num_key_value_heads=8, vocab_size=32000)
    torch.manual_seed(0)
    plain = LlamaForCausalLM(config).to(DEVICE, DTYPE).eval()
    patched = copy.deepcopy(plain)
    print(et.patch(patched))
    for batch, length in (map(int, size.split("x")) for size in args.tokens.split(",")):
        tokens = torch.randint(0, 32000, (batch, length), device=DEVICE)

        def forward(module):
            return lambda: module(tokens, use_cache=False, logits_to_keep=1)

        with torch.no_grad():
            torch._dynamo.reset()
            times = compare({"eager": [forward(plain)], "patched": [forward(patched)],
                             "compile": [forward(torch.compile(plain, dynamic=False))],
                             "patched, compile": [forward(torch.compile(patched, dynamic=False))]})
        print(f"Llama of 16 layers, 2048x8192, {batch} x {length} tokens: us back to back (after a pause)")
        for name, (busy, paused, spread) in times.items():
            figures[f"model {batch}x{length} {name}"] = busy
            print(f"  {name:24} {busy:9.1f} ({paused:9.1f}), spread {spread:.2f}", flush=True)


def main():
    parts = {"host": host, "rows": rows, "block": block, "model": model}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[*parts, []], metavar="PART")
    parser.add_argument("--lib", default="build/cuda/lib", help="folder of libbare_launches.so")
    parser.add_argument("--json", help="file for the figures")
    parser.add_argument("--tokens", default="1x1,16x1,64x1,1x256,1x4096", help="batch and length for the part model")
    parser.add_argument("--short", action="store_true", help="fewer numbers of rows")
    args = parser.parse_args()
    name, version = torch.cuda.get_device_name(), torch.__version__
    print(f"{name}, PyTorch {version}, CUDA {torch.version.cuda}")
    figures = {"gpu": name, "torch": version}
    for part in args.parts or parts:
        parts[part](args, figures)
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump(figures, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
