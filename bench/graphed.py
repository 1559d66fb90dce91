# SPDX-License-Identifier: Apache-2.0
"""Captures calls into CUDA graphs, for benchmarks."""
import torch


def graphed(body):
    """A function that replays `body`."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(5):
            body()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        body()
    return graph.replay
