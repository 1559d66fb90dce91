# SPDX-License-Identifier: Apache-2.0
"""The modes that gpu_blocks.py compares, as {name: calls}. A mode has one call per copy of the weights."""
import copy
import ctypes
from statistics import median

import torch
from torch.nn import functional

import epilogue.torch as et

from . import BenchError
from .timing import elapsed_us, graphed, host_us
from .triton_glu import TritonGlu

try:
    from liger_kernel.transformers.functional import liger_geglu, liger_swiglu
    LIGER = {"silu": liger_swiglu, "gelu_tanh": liger_geglu}
except ImportError:
    LIGER = {}

OPTIONS = {"device": "cuda", "dtype": torch.bfloat16}
ACTIVATIONS = {"silu": torch.nn.SiLU(), "gelu": torch.nn.GELU(), "gelu_tanh": torch.nn.GELU(approximate="tanh")}
CACHE_BYTES = 60 << 20  # larger than the L2 cache of an H200
TRITON_ROWS = 4096  # its kernel is for many rows
MAX_DIFFERENCE = 0.02  # between modes, which differ by rounding to bf16: about 2^-8
HOST_ROUNDS = 5


class Mlp(torch.nn.Module):
    def __init__(self, dim, hidden, activation="silu"):
        super().__init__()
        self.gate_proj = torch.nn.Linear(dim, hidden, bias=False, **OPTIONS)
        self.up_proj = torch.nn.Linear(dim, hidden, bias=False, **OPTIONS)
        self.down_proj = torch.nn.Linear(hidden, dim, bias=False, **OPTIONS)
        self.act_fn = ACTIVATIONS[activation]
        for weight in self.parameters():
            torch.nn.init.normal_(weight, std=weight.shape[1] ** -0.5)

    def forward(self, x):
        return self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))

    def weights(self):
        return self.gate_proj.weight, self.up_proj.weight, self.down_proj.weight


class PackedMlp(torch.nn.Module):
    """Gate and up as one GEMM over stacked weights, as serving engines do."""

    def __init__(self, mlp):
        super().__init__()
        self.gate_up = torch.cat((mlp.gate_proj.weight, mlp.up_proj.weight)).detach()
        self.down_proj, self.act_fn = mlp.down_proj, mlp.act_fn

    def forward(self, x):
        gate, up = functional.linear(x, self.gate_up).chunk(2, -1)
        return self.down_proj(self.act_fn(gate) * up)


class LigerMlp(torch.nn.Module):
    def __init__(self, mlp, activation):
        super().__init__()
        self.gate_proj, self.up_proj, self.down_proj = mlp.gate_proj, mlp.up_proj, mlp.down_proj
        self.fused = LIGER[activation]

    def forward(self, x):
        return self.down_proj(self.fused(self.gate_proj(x), self.up_proj(x)))


def patched(module):
    clone = copy.deepcopy(module)
    result = et.patch(clone)
    if result.left or not result.patched:
        raise BenchError(f"epilogue.torch does not patch the module: {result}")
    return clone


def compiled(modules):
    return [torch.compile(module, dynamic=False) for module in modules]


def block_modes(shape, as_graphs, with_rivals):
    """The modes of an MLP as CUDA graphs or as plain calls. Rivals are Triton and Liger."""
    torch.manual_seed(0)
    torch._dynamo.reset()
    copies = max(1, min(8, -(-4 * CACHE_BYTES // (6 * shape.dim * shape.hidden))))
    mlps = [Mlp(shape.dim, shape.hidden, shape.activation) for _ in range(copies)]
    x = torch.randn(shape.rows, shape.dim, **OPTIONS)
    reason = et.why(x, *mlps[0].weights(), shape.activation)
    if reason:
        raise BenchError(f"{shape}: epilogue.torch would run ATen, because {reason}")
    modules = _our_modules(mlps, shape.activation, as_graphs)
    modules.update({"eager": mlps, "compile": compiled(mlps), "packed, compile": compiled(map(PackedMlp, mlps))})
    if with_rivals:
        modules.update(_rivals(mlps, x, shape.activation))
    _check_results(modules, x)
    wrap = graphed if as_graphs else lambda body: body
    return {name: [wrap(lambda f=f: f(x)) for f in functions] for name, functions in modules.items()}


def _our_modules(mlps, activation, as_graphs):
    if as_graphs:
        return {"Epilogue": [lambda x, w=mlp.weights(): et.glu_mlp(x, *w, activation=activation) for mlp in mlps]}
    modules = [patched(mlp) for mlp in mlps]
    return {"patched": modules, "patched, compile": compiled(modules)}


def _rivals(mlps, x, activation):
    rivals = {}
    if len(x) >= TRITON_ROWS and activation != "gelu":
        blocks = [TritonGlu(mlp, x, activation) for mlp in mlps]
        config = blocks[0].fastest_config(x, _quick_us)
        for block in blocks:
            block.config = config
        rivals["Triton"] = blocks
    if activation in LIGER:
        rivals["Liger"] = [LigerMlp(mlp, activation) for mlp in mlps]
    return rivals


def _quick_us(body):
    elapsed_us([body], 3)
    return median(elapsed_us([body], 20) for _ in range(3))


def _check_results(modules, x):
    expected = modules["eager"][0](x).float()
    for name, (first, *_) in modules.items():
        difference = ((first(x).float() - expected).norm() / expected.norm()).item()
        if not difference <= MAX_DIFFERENCE:
            raise BenchError(f"{name}: the relative difference from eager mode is {difference:.3f}")


def llama_pair():
    """A Llama of 16 layers, 2048x8192, and the same model patched."""
    try:
        from transformers import LlamaConfig, LlamaForCausalLM
    except ImportError:
        raise BenchError("--llama: the package transformers is not installed") from None
    config = LlamaConfig(hidden_size=2048, intermediate_size=8192, num_hidden_layers=16, num_attention_heads=32,
                         num_key_value_heads=8, vocab_size=32000)
    torch.manual_seed(0)
    plain = LlamaForCausalLM(config).to(**OPTIONS).eval()
    return plain, patched(plain)


def llama_modes(pair, batch, length):
    torch._dynamo.reset()
    tokens = torch.randint(0, 32000, (batch, length), device=OPTIONS["device"])
    models = dict(zip(("eager", "patched"), pair))
    models.update(zip(("compile", "patched, compile"), compiled(pair)))
    return {name: [lambda f=f: f(tokens, use_cache=False, logits_to_keep=1)] for name, f in models.items()}


def _bare_launches(folder):
    """A function that measures two launches of an empty kernel in C++."""
    try:
        library = ctypes.CDLL(f"{folder}/libbare_launches.so")
    except OSError as error:
        raise BenchError(f"--host: {error} (--lib names the folder, the target bare_launches builds it)") from None
    library.bare_launches_us.restype = ctypes.c_double
    library.bare_launches_us.argtypes = [ctypes.c_int, ctypes.c_void_p]
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
    return lambda: library.bare_launches_us(1000, stream)


def host_times(folder, dim, hidden):
    """{name: medians of the host time of calls with one row, in turns}."""
    mlp = Mlp(dim, hidden)
    x, weights, module = torch.randn(1, dim, **OPTIONS), mlp.weights(), patched(mlp)

    def operator():
        et.glu_mlp(x, *weights)

    def inference_mode():
        with torch.inference_mode():
            return host_us(operator)

    measures = {
        "two launches of an empty kernel": _bare_launches(folder),
        "operator, inference_mode": inference_mode,
        "operator, no_grad": lambda: host_us(operator),
        "patched module, no_grad": lambda: host_us(lambda: module(x)),
        "ATen eager, no_grad": lambda: host_us(lambda: mlp(x)),
    }
    times = {name: [] for name in measures}
    for _ in range(HOST_ROUNDS):
        for name, measure in measures.items():
            times[name].append(measure())
    return times
