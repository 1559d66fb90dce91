# SPDX-License-Identifier: Apache-2.0
"""Records traces with PyTorch's profiler, and reads traces with PyTorch's trace reader."""
from torch.profiler import ProfilerActivity, profile, record_function, schedule
from .blocks import DTYPE


def record_torch(module, x, annotation, path):
    """Records three forwards like `epilogue run --trace`. Returns the mean time of each kernel according to
    the profiler's table."""
    for _ in range(3):
        module(x)
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True,
                 schedule=schedule(wait=1, warmup=1, active=3)) as p:
        for _ in range(5):
            with record_function(annotation):
                module(x)
            p.step()
    p.export_chrome_trace(path)
    return {row.key: row.self_device_time_total / row.count for row in p.key_averages()
            if row.self_device_time_total}


def count_kernels_with_torch(path):
    """The number of kernels that PyTorch's trace reader finds in a trace."""
    from torch._inductor.analysis.profile_analysis import JsonProfile
    read = JsonProfile(path, benchmark_name="ours", dtype=DTYPE)
    return sum(1 for event in read.events if event.get("cat") == "kernel")
