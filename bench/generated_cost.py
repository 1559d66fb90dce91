# SPDX-License-Identifier: Apache-2.0
"""What kernels that PyTorch's compiler generates take: the slots of pointwise/operators.def, and the
constants of analysis/cost/generated_cost.cpp.

    python3 bench/generated_cost.py

Prints, on a CUDA GPU, the cost of each function in slots of the f32 units (from chains of 4 and 12 of it), the time
of pointwise kernels by size, and that of reductions by length of row."""
import torch, torch.nn.functional as F
from torch.profiler import profile, ProfilerActivity

ELEMENTS = 2**25
F32_SLOTS_PER_NS = 67e3 / 2  # of an H200: its f32 peak, two FLOPs a slot
FUNCTIONS = {
    "exp": lambda x: torch.exp(-x), "log": torch.log, "sqrt": torch.sqrt, "rsqrt": torch.rsqrt,
    "sigmoid": torch.sigmoid, "tanh": torch.tanh, "silu": F.silu, "gelu": F.gelu,
    "gelu tanh": lambda x: F.gelu(x, approximate="tanh"), "sin": torch.sin, "cos": torch.cos, "erf": torch.erf,
    "pow 2": lambda x: x**2, "div": lambda x: x / (x + 3), "reciprocal": lambda x: 1 / x, "softplus": F.softplus,
    "mish": F.mish, "elu": F.elu, "log1p": torch.log1p, "clamp": lambda x: x.clamp(0.1, 2.0),
    "hardswish": F.hardswish, "leaky relu": F.leaky_relu, "relu": F.relu,
}


def kernel_us(function, *inputs, calls=8):
    """Device time of one call: for each kernel the median, as often as it runs."""
    with torch.no_grad():
        for _ in range(3):
            function(*inputs)
        torch.cuda.synchronize()
        with profile(activities=[ProfilerActivity.CUDA]) as profiler:
            for _ in range(calls):
                function(*inputs)
            torch.cuda.synchronize()
    times = {}
    for event in profiler.events():
        if event.device_type == torch.autograd.DeviceType.CUDA:
            times.setdefault(event.name, []).append(event.device_time)
    return sum(sorted(each)[len(each) // 2] * len(each) / calls for each in times.values())


def chain(function, count):
    def repeated(x):
        for _ in range(count):
            x = function(x) * 0.3 + 0.5  # stays where every function is defined
        return x
    return torch.compile(repeated)


def rms_norm(x, weight):
    wide = x.float()
    return weight * (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype)


def main():
    x = (torch.rand(ELEMENTS, device="cuda") + 0.2).bfloat16()
    for name, function in FUNCTIONS.items():
        torch._dynamo.reset()
        ns = (kernel_us(chain(function, 12), x) - kernel_us(chain(function, 4), x)) * 1e3 / 8 / ELEMENTS
        print(f"{name:12} {ns * F32_SLOTS_PER_NS:6.1f} slots")
    gated = torch.compile(lambda x, y: F.relu(x) * y)
    for power in range(10, 29, 2):
        torch._dynamo.reset()
        a, b = (torch.rand(2**power, device="cuda").bfloat16() for _ in range(2))
        us = kernel_us(gated, a, b)
        print(f"relu(x) * y of {6 * 2**power / 1e6:9.3f} MB  {us:8.2f} us  {6 * 2**power / us / 1e6:.2f} TB/s")
    for rows, columns in ((65536, 512), (32768, 1024), (16384, 2048), (8192, 4096), (2048, 16384)):
        a, weight = torch.randn(rows, columns, **dict(device="cuda")).bfloat16(), torch.ones(columns, device="cuda").bfloat16()
        kinds = {"rms_norm": rms_norm, "layer_norm": lambda x, w: F.layer_norm(x, w.shape, w, w),
                 "softmax": lambda x, w: torch.softmax(x.float(), -1).to(x.dtype)}
        for name, function in kinds.items():
            torch._dynamo.reset()
            us = kernel_us(torch.compile(function), a, weight)
            print(f"{name:10} of {rows} x {columns:5}  {us:6.1f} us  {4 * rows * columns / us / 1e6:.2f} TB/s")


main()
