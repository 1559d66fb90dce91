# SPDX-License-Identifier: Apache-2.0
"""PyTorch's modes: eager, compiled, autotuned, and as a CUDA graph with packed weights."""
import time
import torch
from graphed import graphed
from .blocks import Packed
from .timing import in_turn, issue_us, wall_us


def torch_modes(mlp, inputs, quick):
    """Yields each mode with a function that makes its bodies, one per input."""
    each = lambda f: [lambda x=x: f(x) for x in inputs]
    yield "eager", lambda: each(mlp)
    yield "compile", lambda: each(torch.compile(mlp))
    yield "dynamic", lambda: each(torch.compile(mlp, dynamic=True))
    # Uses CUDA graphs for shapes that are launch-bound. Graphs copy their inputs, which is costly for large shapes.
    mode = "max-autotune" if len(inputs[0]) <= 128 else "max-autotune-no-cudagraphs"
    if not quick or inputs[0].numel() < 1 << 24:
        yield "autotune", lambda: each(torch.compile(mlp, mode=mode))

    def packed_graph():
        packed = torch.compile(Packed(mlp))
        return [graphed(lambda x=x: packed(x)) for x in inputs]

    yield "packed+graph", packed_graph


def measure_torch(mlp, x, label, claims, quick):
    figures = {}
    inputs = [x, x.clone(), x.clone(), x.clone()]
    for name, make in torch_modes(mlp, inputs, quick):
        torch._dynamo.reset()
        start = time.perf_counter()
        bodies = make()
        bodies[0]()
        torch.cuda.synchronize()
        first_ms = (time.perf_counter() - start) * 1000
        for _ in range(12):
            bodies[0]()
        wall, issue = wall_us(in_turn(bodies)), issue_us(bodies[0])
        figures[name] = {"wall_us": wall[0], "wall_us_min": wall[1], "wall_us_max": wall[2],
                         "issue_us": issue[0], "first_call_ms": first_ms}
        claims.note(f"       {label} torch {name}: wall {wall[0]:.1f} us, issue {issue[0]:.1f} us, "
                    f"first call {first_ms:.0f} ms")
    return figures
