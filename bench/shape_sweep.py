#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares gated MLPs of the sizes of real models with PyTorch on one Hopper GPU, over many numbers of rows.

    PYTHONPATH=python EPILOGUE_GLU_LIBRARY=build/cuda/lib/libepilogue_glu.so \\
        python3 bench/shape_sweep.py [--json FILE] [--only TEXT] [--min-rows N]

For each shape: epilogue.torch.glu_mlp and PyTorch's modes, all in CUDA graphs: eager, compiled, and compiled with packed
gate and up. Weights cycle through copies that do not fit into the L2 cache. The fastest mode of PyTorch and ours are then
measured alternately for five rounds, back to back and after a pause. PyTorch against itself, measured in the same way, is
the noise. With --json, results are added to FILE after each shape, and shapes that it contains are not measured again. FILE
must come from the same GPU, PyTorch and library.
"""
import argparse
import hashlib
import json
import os
import pathlib
import statistics
import sys
import time

import torch
from torch.nn import functional

import epilogue.torch as et
from graphed import graphed

DEVICE, DTYPE = "cuda", torch.bfloat16
L2_BYTES = 60 << 20
ROUNDS, ROUND_MS, PAUSE_S = 5, 15, 0.05
# Width, hidden width, activation, numbers of rows.
MODELS = {
    "BERT base": (768, 3072, "gelu_tanh", (1, 512, 8192, 65536)),
    "ModernBERT large": (1024, 2624, "gelu", (16, 8192)),
    "ViT-L": (1024, 4096, "gelu_tanh", (257, 16448)),
    "DINOv2 giant": (1536, 4096, "silu", (257, 8224)),
    "Qwen2.5 0.5B": (896, 4864, "silu", (1, 2048)),
    "Qwen2.5 1.5B": (1536, 8960, "silu", (4, 1000)),
    "Qwen2.5 7B": (3584, 18944, "silu", (1, 64, 2048)),
    "Qwen2.5 14B": (5120, 13824, "silu", (1, 16, 64, 128, 4096)),
    "Qwen2.5 32B, 1 of 4": (5120, 6912, "silu", (32, 3000)),
    "Gemma 2B": (2048, 16384, "gelu_tanh", (1, 8192)),
    "Gemma2 9B": (3584, 14336, "gelu_tanh", (8, 512)),
    "Gemma3 4B": (2560, 10240, "gelu_tanh", (1, 256, 4096)),
    "Llama 1B": (2048, 8192, "silu", (1, 16, 48, 128, 4096)),
    "Llama 3B": (3072, 8192, "silu", (4, 1024)),
    "Llama 8B, Mistral 7B": (4096, 14336, "silu", (1, 16, 64, 256, 4096)),
    "Llama 70B, 1 of 8": (8192, 3584, "silu", (1, 32, 512, 4096)),
    "Llama 70B, 1 of 4": (8192, 7168, "silu", (1, 2048)),
}
ACTIVATIONS = {"silu": functional.silu, "gelu": functional.gelu,
               "gelu_tanh": lambda x: functional.gelu(x, approximate="tanh")}


def plain(x, gate, up, down, activation):
    return functional.linear(ACTIVATIONS[activation](functional.linear(x, gate)) * functional.linear(x, up), down)


def packed(x, gate_up, down, activation):
    gate, up = functional.linear(x, gate_up).chunk(2, -1)
    return functional.linear(ACTIVATIONS[activation](gate) * up, down)


def elapsed_us(graphs, calls):
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for i in range(calls):
        graphs[i % len(graphs)]()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) * 1000 / calls


def timed(graphs, pause):
    if pause:
        time.sleep(PAUSE_S)
    calls = max(len(graphs), int(ROUND_MS * 1000 / max(elapsed_us(graphs, len(graphs)), 1)))
    return elapsed_us(graphs, calls)


def alternated(first, second, pause):
    """Medians of both, and of their ratio."""
    pairs = [(timed(first, pause), timed(second, pause)) for _ in range(ROUNDS)]
    return (statistics.median(a for a, _ in pairs), statistics.median(b for _, b in pairs),
            statistics.median(a / b for a, b in pairs))


def graphs_of(dim, hidden, activation, rows):
    """Input, weights of the copies, and CUDA graphs of ours and of PyTorch's modes, one per copy."""
    copies = max(1, min(8, -(-4 * L2_BYTES // (6 * dim * hidden))))
    x = torch.randn(rows, dim, device=DEVICE, dtype=DTYPE)

    def weight(n, k):
        return torch.randn(n, k, device=DEVICE, dtype=DTYPE) * k**-0.5

    weights = [(weight(2 * hidden, dim), weight(dim, hidden)) for _ in range(copies)]
    split = [(*gate_up.chunk(2), down) for gate_up, down in weights]
    torch._dynamo.reset()
    compiled, compiled_packed = torch.compile(plain, dynamic=False), torch.compile(packed, dynamic=False)
    modes = {
        "eager": [graphed(lambda w=w: plain(x, *w, activation)) for w in split],
        "compile": [graphed(lambda w=w: compiled(x, *w, activation)) for w in split],
        "packed, compile": [graphed(lambda w=w: compiled_packed(x, *w, activation)) for w in weights],
    }
    ours = [graphed(lambda w=w: et.glu_mlp(x, *w, activation=activation)) for w in split]
    return x, split, ours, modes


def measure(dim, hidden, activation, rows):
    _, _, ours, modes = graphs_of(dim, hidden, activation, rows)
    best = min(modes, key=lambda name: statistics.median(timed(modes[name], False) for _ in range(3)))
    result = {"best": best}
    for name, pause in (("busy", False), ("paused", True)):
        own, torch_us, ratio = alternated(ours, modes[best], pause)
        _, _, noise = alternated(modes[best], modes[best], pause)
        result[name] = {"ours_us": own, "torch_us": torch_us, "ratio": ratio, "noise": noise}
    return result


def line(name, result):
    busy, paused = result["busy"], result["paused"]
    return (f"{name:34} {busy['ours_us']:9.2f} {busy['torch_us']:9.2f} {busy['ratio']:6.3f} {busy['noise']:6.3f}"
            f"  ({paused['ours_us']:9.2f} {paused['torch_us']:9.2f} {paused['ratio']:6.3f})  {result['best']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", help="file for the figures")
    parser.add_argument("--only", default="", help="shapes whose name contains this text")
    parser.add_argument("--min-rows", type=int, default=1, help="shapes with at least this many rows")
    args = parser.parse_args()
    library = pathlib.Path(os.environ["EPILOGUE_GLU_LIBRARY"]).read_bytes()
    about = {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__,
             "library": hashlib.sha256(library).hexdigest()[:16]}
    figures = {}
    if args.json and os.path.exists(args.json):
        with open(args.json, encoding="utf-8") as file:
            saved = json.load(file)
        if saved["about"] != about:
            print(f"shape_sweep: {args.json} is from {saved['about']}, this is {about}", file=sys.stderr)
            return 2
        figures = saved["shapes"]
    print(f"{about['gpu']}, PyTorch {about['torch']}")
    print(f"{'us back to back (after a pause)':34} {'ours':>9} {'PyTorch':>9} {'ratio':>6} {'noise':>6}")
    ratios = {}
    with torch.no_grad():
        for model, (dim, hidden, activation, all_rows) in MODELS.items():
            for rows in all_rows:
                name = f"{model}, {rows}x{dim}x{hidden}"
                if args.only not in name or rows < args.min_rows:
                    continue
                if name not in figures:
                    figures[name] = measure(dim, hidden, activation, rows)
                    if args.json:
                        with open(args.json + ".part", "w", encoding="utf-8") as file:
                            json.dump({"about": about, "shapes": figures}, file, indent=1)
                        os.replace(args.json + ".part", args.json)
                ratios[name] = figures[name]["busy"]["ratio"]
                print(line(name, figures[name]), flush=True)
    if ratios:
        worst = max(ratios, key=ratios.get)
        print(f"{len(ratios)} shapes: median {statistics.median(ratios.values()):.3f}, worst {ratios[worst]:.3f} ({worst})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
