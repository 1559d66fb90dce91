#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the PyTorch operator epilogue.torch.glu_mlp against PyTorch's modes on one Hopper GPU, in one run.

    export PYTHONPATH=python EPILOGUE_GLU_LIBRARY=build/cuda/lib/libepilogue_glu.so
    python3 bench/gpu_blocks.py --energy                            # the README's table
    python3 bench/gpu_blocks.py 16x4096x14336 128x64x256:gelu_tanh  # these shapes
    python3 bench/gpu_blocks.py --models --json models.json         # 49 shapes of real models
    python3 bench/gpu_blocks.py --models --only "Llama 1B"
    python3 bench/gpu_blocks.py --calls 1x768x3072                  # plain calls, as in a program
    python3 bench/gpu_blocks.py --host --llama 1x1,1x4096           # host time of a call, a whole model

Modes: the operator, PyTorch eager, compiled, and compiled with gate and up packed. Each call is a CUDA graph. Without
--models also Liger, where it is installed, and for at least 4096 rows a fused Triton kernel with cuBLAS. Calls cycle
through copies of the weights, so that these come from memory and not from the L2 cache.

The modes take turns in each round, in bursts of 15 ms, first back to back and then after pauses of 50 ms. Times are
medians of seven rounds, the spread is the largest time divided by the smallest. A ratio is the median of the ratios to
PyTorch's fastest mode in the same round. That mode is measured twice in each round, which shows the noise.

--host and --llama are measured instead of the README's shapes. Shapes that are named are measured as well.
"""
import argparse
import hashlib
import os
import platform
import re
import sys
from typing import NamedTuple

import torch
import triton

from epilogue.torch import _library
from gpu import BenchError
from gpu.modes import ACTIVATIONS, block_modes, host_times, llama_modes, llama_pair
from gpu.results import Results, print_host, print_modes, print_summary
from gpu.timing import EnergyCounter, compare

README_SHAPES = ("8192x768x3072:gelu_tanh", "8192x2048x16384:gelu_tanh", "4096x4096x14336", "16x4096x14336",
                 "1x4096x14336", "128x64x256:gelu_tanh")
LLAMA_SIZES = "1x1,16x1,64x1,1x256,1x4096"
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


class Shape(NamedTuple):
    rows: int
    dim: int
    hidden: int
    activation: str
    model: str = ""

    def __str__(self):
        text = f"{self.rows}x{self.dim}x{self.hidden}:{self.activation}"
        return f"{self.model}, {text}" if self.model else text


def parse_sizes(text, count):
    """Positive numbers separated by "x", or None."""
    sizes = tuple(map(int, text.split("x"))) if re.fullmatch(r"[0-9]{1,9}(x[0-9]{1,9})*", text) else ()
    return sizes if len(sizes) == count and min(sizes) > 0 else None


def parse_shape(text):
    sizes, _, activation = text.partition(":")
    if parse_sizes(sizes, 3) is None or (":" in text and activation not in ACTIVATIONS):
        raise BenchError(f'"{text}" is not a shape: write ROWSxDIMxHIDDEN or ROWSxDIMxHIDDEN:ACTIVATION, such as '
                         f'{README_SHAPES[0]} (activations: {", ".join(ACTIVATIONS)})')
    return Shape(*parse_sizes(sizes, 3), activation or "silu")


def parse_llama(text):
    sizes = [parse_sizes(size, 2) for size in text.split(",")]
    if None in sizes:
        raise BenchError(f'--llama "{text}": write BATCHxLENGTH[,BATCHxLENGTH...], such as {LLAMA_SIZES}')
    return sizes


def model_shapes(only):
    shapes = [Shape(rows, dim, hidden, activation, model)
              for model, (dim, hidden, activation, all_rows) in MODELS.items() for rows in all_rows]
    chosen = [shape for shape in shapes if only in str(shape)]
    if not chosen:
        raise BenchError(f'--only "{only}": no shape of --models contains this text')
    return chosen


def chosen_shapes(args):
    if args.models and args.shapes:
        raise BenchError("--models measures its own shapes: leave out the others")
    if args.only and not args.models:
        raise BenchError("--only selects shapes of --models")
    if args.models:
        return model_shapes(args.only)
    if not args.shapes and (args.host or args.llama):
        return []
    return [parse_shape(text) for text in args.shapes or README_SHAPES]


def parse_arguments():
    parser = argparse.ArgumentParser(prog="gpu_blocks.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shapes", nargs="*", metavar="SHAPE",
                        help="ROWSxDIMxHIDDEN[:ACTIVATION] with silu (default), gelu or gelu_tanh; without any: the README's")
    parser.add_argument("--models", action="store_true", help="49 shapes of real models instead")
    parser.add_argument("--only", default="", metavar="TEXT", help="with --models: shapes whose name contains TEXT")
    parser.add_argument("--calls", action="store_true", help="plain calls, of a patched module, instead of CUDA graphs")
    parser.add_argument("--energy", action="store_true", help="also mJ per call, from NVML")
    parser.add_argument("--host", action="store_true", help="host time of a call and of two launches")
    parser.add_argument("--llama", nargs="?", const=LLAMA_SIZES, metavar="BATCHxLENGTH[,...]",
                        help=f"a Llama of 16 layers (default: {LLAMA_SIZES})")
    parser.add_argument("--json", metavar="FILE", help="saves each result; what FILE contains is not measured again")
    parser.add_argument("--lib", default="build/cuda/lib", metavar="FOLDER",
                        help="folder of libbare_launches.so, for --host (default: build/cuda/lib)")
    return parser.parse_args()


def find_about(args):
    """What all results of a file have in common."""
    if not torch.cuda.is_available():
        raise BenchError("PyTorch finds no GPU")
    if _library.library is None:
        raise BenchError(f"{_library.load_error}: EPILOGUE_GLU_LIBRARY names the library of a build")
    with open(_library.library._name, "rb") as file:
        library = hashlib.sha256(file.read()).hexdigest()[:16]
    return {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "cuda": torch.version.cuda,
            "library": library, "calls": args.calls, "energy": args.energy}


def machine(about):
    cpu = platform.machine()
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            cpu = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), cpu)
    return f"{about['gpu']}, {cpu}, PyTorch {about['torch']}, CUDA {about['cuda']}, Triton {triton.__version__}"


def measure_host(args, results):
    name = "host time, 1 row of 768x3072"
    print_host(name, results.get(name, lambda: host_times(args.lib, 768, 3072)))


def measure_llama(sizes, results, energy):
    pair = llama_pair()
    for batch, length in sizes:
        name = f"Llama of 16 layers, 2048x8192, {batch} x {length} tokens"
        print_modes(name, results.get(name, lambda: compare(llama_modes(pair, batch, length), energy)))


def measure_block(shape, args, energy):
    return compare(block_modes(shape, as_graphs=not args.calls, with_rivals=not args.models), energy)


def measure_blocks(shapes, args, results, energy):
    measured = []
    for shape in shapes:
        result = results.get(str(shape), lambda: measure_block(shape, args, energy))
        print_modes(str(shape), result)
        measured.append((shape, result))
    print_summary(measured)


@torch.no_grad()
def run(args):
    shapes, llama_sizes = chosen_shapes(args), parse_llama(args.llama) if args.llama is not None else []
    about = find_about(args)
    print(machine(about), flush=True)
    results = Results(args.json, about)
    energy = EnergyCounter() if args.energy else None
    if args.host:
        measure_host(args, results)
    if llama_sizes:
        measure_llama(llama_sizes, results, energy)
    if shapes:
        measure_blocks(shapes, args, results, energy)


def main():
    try:
        run(parse_arguments())
    except BenchError as error:
        print(f"gpu_blocks: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
