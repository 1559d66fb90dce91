# SPDX-License-Identifier: Apache-2.0
"""Captures calls into CUDA graphs, for benchmarks."""
import torch


def graphed(body):
    """A function that replays `body`, whose tensors live as long as the function."""
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
