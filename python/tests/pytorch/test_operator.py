# SPDX-License-Identifier: Apache-2.0
"""The operator epilogue::glu_mlp against float64, and as part of PyTorch's machinery."""
from __future__ import annotations

import random
import warnings

import pytest

torch = pytest.importorskip("torch", minversion="2.9")
F = torch.nn.functional

import epilogue.torch as et  # noqa: E402
from epilogue.torch import _library, _operator, _reason  # noqa: E402

ACTIVATIONS = ["silu", "gelu", "gelu_tanh", "relu"]
HOPPER = torch.cuda.is_available() and torch.cuda.get_device_capability() == (9, 0)
needs_hopper = pytest.mark.skipif(not HOPPER, reason="needs a Hopper GPU")


def activate(x, activation):
    if activation == "silu":
        return F.silu(x)
    if activation == "relu":
        return F.relu(x)
    return F.gelu(x, approximate="tanh" if activation == "gelu_tanh" else "none")


def reference(x, gate, up, down, activation="silu", gate_bias=None, up_bias=None, down_bias=None):
    hidden = activate(F.linear(x, gate, gate_bias), activation) * F.linear(x, up, up_bias)
    return F.linear(hidden, down, down_bias)


def block(k, n, out, dtype, device, biases=False, seed=0):
    """gate, up, down and the three biases, or None for each."""
    generator = torch.Generator().manual_seed(seed)

    def tensor(*shape):
        values = torch.randn(shape, generator=generator, dtype=torch.float64) / shape[-1] ** 0.5
        return values.to(device=device, dtype=dtype)

    weights = [tensor(n, k), tensor(n, k), tensor(out, n)]
    return weights + ([tensor(n), tensor(n), tensor(out)] if biases else [None] * 3)


def error(value, exact):
    """Relative to the size of the result: elements near zero are sums with cancellation."""
    difference = (value.double() - exact).norm()
    return float(difference / exact.norm().clamp(min=1e-30))


def double(tensors):
    return [None if t is None else t.double() for t in tensors]


def check(x, weights, activation):
    """At most 1.1 times the error of ATen: both round the hidden activations to the dtype once or
    more."""
    gate, up, down, *biases = weights
    exact = reference(x.double(), *double((gate, up, down)), activation, *double(biases))
    y = et.glu_mlp(x, gate, up, down, activation, *biases)
    aten = reference(x, gate, up, down, activation, *biases)
    assert y.shape == aten.shape and y.dtype == x.dtype and y.is_contiguous()
    assert error(y, exact) <= 1.1 * error(aten, exact)


@needs_hopper
def test_kernel_is_registered_from_cpp():
    assert _library.kernel_error == ""


@needs_hopper
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("biases", [False, True])
def test_matches_float64(dtype, activation, biases):
    for rows in (1, 3, 17, 64, 65, 200, 1000):
        weights = block(256, 520, 136, dtype, "cuda", biases)
        x = torch.randn(rows, 256, device="cuda", dtype=dtype)
        assert et.why(x, *weights[:3], activation, *weights[3:]) is None
        check(x, weights, activation)


@needs_hopper
@pytest.mark.parametrize("biases", [False, True])
def test_packed_weights_give_the_same_bits(biases):
    gate, up, down, *bias = block(256, 512, 256, torch.bfloat16, "cuda", biases)
    x = torch.randn(33, 256, device="cuda", dtype=torch.bfloat16)
    stacked = torch.cat((gate, up))
    stacked_bias = torch.cat(bias[:2]) if biases else None
    packed = et.glu_mlp_packed(x, stacked, down, "silu", stacked_bias, bias[2])
    assert torch.equal(packed, et.glu_mlp(x, gate, up, down, "silu", *bias))


@needs_hopper
def test_layouts_of_x():
    weights = block(128, 256, 128, torch.bfloat16, "cuda")
    base = torch.randn(6, 10, 256, device="cuda", dtype=torch.bfloat16)
    layouts = [
        base[..., :128],  # a row stride
        base[:, ::2, :128],
        base[..., 4:132],  # not aligned
        base[:, :, ::2],  # columns two apart
        base.transpose(0, 1)[..., :128],  # rows that are not equally spaced
        base[:1, :1, :128],
        base[0, 0, :128],  # one dimension
        base[:, :0, :128],  # no rows
        base[:1, :1, :128].expand(4, 5, 128),
        base.flatten()[4 : 4 + 8 * 128].view(8, 128),  # dense, not aligned
        base.flatten()[:128].view(128, 1).t(),  # one row, with any stride
    ]
    for x in layouts:
        check(x, weights, "silu")


def test_zero_rows_have_zero_gradients():
    device, dtype = ("cuda", torch.bfloat16) if HOPPER else ("cpu", torch.float32)
    gate, up, down = (t.requires_grad_() for t in block(64, 64, 64, dtype, device)[:3])
    x = torch.zeros(0, 64, device=device, dtype=dtype, requires_grad=True)
    et.glu_mlp(x, gate, up, down).sum().backward()
    assert x.grad.shape == (0, 64) and not gate.grad.any()


@needs_hopper
@pytest.mark.parametrize("case", ["float32", "not_multiple_of_8", "not_contiguous", "not_aligned"])
def test_runs_aten_and_gives_the_reason_once(case):
    k = 100 if case == "not_multiple_of_8" else 128
    dtype = torch.float32 if case == "float32" else torch.bfloat16
    gate, up, down, *_ = block(k, 256, 128, dtype, "cuda")
    if case == "not_contiguous":
        up = up.t().contiguous().t()
    if case == "not_aligned":
        up = torch.empty(256 * k + 1, device="cuda", dtype=dtype)[1:].view(256, k).copy_(up)
    x = torch.randn(9, k, device="cuda", dtype=dtype)
    reason = et.why(x, gate, up, down)
    assert reason is not None
    _operator._reported.clear()
    with pytest.warns(UserWarning, match="runs ATen"):
        y = et.glu_mlp(x, gate, up, down)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        et.glu_mlp(x, gate, up, down)
    assert torch.equal(y, reference(x, gate, up, down))


def test_runs_on_the_cpu():
    x = torch.randn(4, 32)
    gate, up, down, *biases = block(32, 48, 24, torch.float32, "cpu", True)
    expected = reference(x, gate, up, down, "gelu", *biases)
    torch.testing.assert_close(et.glu_mlp(x, gate, up, down, "gelu", *biases), expected)
    assert et.why(x, gate, up, down) == "x is on cpu: the kernels need a CUDA GPU"


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("biases", [False, True])
def test_gradcheck(activation, packed, biases):
    tensors = block(6, 5, 4, torch.float64, "cpu", biases)
    gate, up, down, *bias = [None if t is None else t.requires_grad_() for t in tensors]
    x = torch.randn(2, 3, 6, dtype=torch.float64, requires_grad=True)
    if packed:
        stacked = torch.cat((gate, up)).detach().requires_grad_()
        stacked_bias = torch.cat(bias[:2]).detach().requires_grad_() if biases else None
        arguments = (x, stacked, down, activation, stacked_bias, bias[2])
        assert torch.autograd.gradcheck(et.glu_mlp_packed, arguments)
    else:
        assert torch.autograd.gradcheck(et.glu_mlp, (x, gate, up, down, activation, *bias))


@needs_hopper
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_gradients_in_bf16(activation):
    """At most 1.1 times the error of ATen's own gradients against float64."""
    tensors = block(256, 512, 256, torch.bfloat16, "cuda", True)
    x = torch.randn(64, 256, device="cuda", dtype=torch.bfloat16)
    grad = torch.randn(64, 256, device="cuda", dtype=torch.bfloat16)

    def gradients(function, dtype):
        leaves = [t.detach().to(dtype).requires_grad_() for t in (x, *tensors)]
        y = function(*leaves[:4], activation, *leaves[4:])
        return torch.autograd.grad(y, leaves, grad.to(dtype))

    exact = gradients(reference, torch.float64)
    aten = gradients(reference, torch.bfloat16)
    ours = gradients(et.glu_mlp, torch.bfloat16)
    for value, theirs, truth in zip(ours, aten, exact):
        assert error(value, truth) <= 1.1 * error(theirs, truth)


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_opcheck(device):
    if device == "cuda" and not HOPPER:
        pytest.skip("needs a Hopper GPU")
    dtype = torch.bfloat16 if device == "cuda" else torch.float64
    for biases in (False, True):
        gate, up, down, *bias = block(64, 128, 64, dtype, device, biases)
        x = torch.randn(5, 64, device=device, dtype=dtype)
        for requires_grad in (False, True):
            tensors = [None if t is None else t.detach().requires_grad_(requires_grad)
                       for t in (x, gate, up, down, *bias)]
            torch.library.opcheck(torch.ops.epilogue.glu_mlp.default, (*tensors, 1))
        with torch.no_grad():
            torch.library.opcheck(
                torch.ops.epilogue.glu_mlp_forward.default, (x, gate, up, down, 1)
            )


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_compile_without_graph_breaks_or_recompiles(device):
    if device == "cuda" and not HOPPER:
        pytest.skip("needs a Hopper GPU")
    dtype = torch.bfloat16 if device == "cuda" else torch.float32
    weights = block(64, 128, 64, dtype, device)[:3]
    torch._dynamo.reset()
    counter = torch._dynamo.testing.CompileCounterWithBackend(
        "inductor" if device == "cuda" else "eager"
    )

    @torch.compile(fullgraph=True, dynamic=True, backend=counter)
    def run(x):
        return et.glu_mlp(x * 2, *weights)

    for rows in (2, 3, 64, 65, 300):
        x = torch.randn(rows, 64, device=device, dtype=dtype)
        with torch.no_grad():
            assert torch.equal(run(x), et.glu_mlp(x * 2, *weights))
    assert counter.frame_count == 1


@needs_hopper
def test_compile_with_gradients():
    gate, up, down = block(64, 128, 64, torch.bfloat16, "cuda")[:3]
    x = torch.randn(8, 64, device="cuda", dtype=torch.bfloat16)

    def gradients(function):
        leaves = [t.detach().clone().requires_grad_() for t in (x, gate, up, down)]
        return torch.autograd.grad(function(*leaves).float().square().sum(), leaves)

    # The compiler fuses pointwise operators of the backward pass, which then round less often.
    exact = gradients(lambda *t: reference(*(a.double() for a in t)))
    compiled = gradients(torch.compile(et.glu_mlp, fullgraph=True))
    for value, eager, truth in zip(compiled, gradients(et.glu_mlp), exact):
        assert error(value, truth.double()) <= 1.1 * error(eager, truth.double())


@needs_hopper
def test_compile_with_cuda_graphs():
    weights = block(256, 512, 256, torch.bfloat16, "cuda")[:3]
    torch._dynamo.reset()

    @torch.compile(mode="reduce-overhead")
    def run(x):
        return et.glu_mlp(et.glu_mlp(x, *weights), *weights)

    with torch.no_grad():
        for _ in range(5):  # warm-up, capture, replays
            x = torch.randn(4, 256, device="cuda", dtype=torch.bfloat16)
            expected = et.glu_mlp(et.glu_mlp(x, *weights), *weights)
            assert torch.equal(run(x), expected)


def test_torch_func():
    """Forward-mode gradients, vmap and grad go through ATen."""
    gate, up, down = block(6, 5, 4, torch.float64, "cpu")[:3]
    x, tangent = (torch.randn(3, 6, dtype=torch.float64) for _ in range(2))

    def ours(t):
        return et.glu_mlp(t, gate, up, down)

    def aten(t):
        return reference(t, gate, up, down)

    for values in zip(torch.func.jvp(ours, (x,), (tangent,)), torch.func.jvp(aten, (x,), (tangent,))):
        torch.testing.assert_close(*values)
    torch.testing.assert_close(torch.func.vmap(ours)(x), aten(x))
    torch.testing.assert_close(torch.func.grad(lambda t: ours(t).sum())(x),
                               torch.func.grad(lambda t: aten(t).sum())(x))
    with torch.autograd.forward_ad.dual_level(), torch.no_grad():
        dual = torch.autograd.forward_ad.make_dual(x, tangent)
        found = torch.autograd.forward_ad.unpack_dual(ours(dual)).tangent
    torch.testing.assert_close(found, torch.func.jvp(aten, (x,), (tangent,))[1])


def test_autocast_on_the_cpu():
    weights = [t.requires_grad_() for t in block(16, 24, 16, torch.float32, "cpu")[:3]]
    x = torch.randn(4, 16, requires_grad=True)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y, expected = et.glu_mlp(x, *weights), reference(x, *weights)
    assert y.dtype == torch.bfloat16 and torch.equal(y, expected)
    y.float().sum().backward()
    assert x.grad.dtype == torch.float32
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert et.glu_mlp(x.double(), *(w.double() for w in weights)).dtype == torch.float64


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_export(device):
    if device == "cuda" and not HOPPER:
        pytest.skip("needs a Hopper GPU")
    dtype = torch.bfloat16 if device == "cuda" else torch.float32
    mlp = et.GluMlp(64, 128, device=device, dtype=dtype)
    x = torch.randn(4, 64, device=device, dtype=dtype)
    rows = torch.export.Dim("rows", min=2)
    with torch.no_grad():
        program = torch.export.export(mlp, (x,), dynamic_shapes=({0: rows},))
        other = torch.randn(7, 64, device=device, dtype=dtype)
        torch.testing.assert_close(program.module()(other), mlp(other))


@needs_hopper
def test_cuda_graph():
    weights = block(256, 512, 256, torch.bfloat16, "cuda", seed=3)[:3]
    x = torch.randn(40, 256, device="cuda", dtype=torch.bfloat16)
    graph = torch.cuda.CUDAGraph()
    with torch.no_grad(), torch.cuda.graph(graph):  # also the first call for this block
        y = et.glu_mlp(x, *weights)
    for _ in range(3):
        x.copy_(torch.randn_like(x))
        graph.replay()
        assert torch.equal(y, et.glu_mlp(x, *weights))


@needs_hopper
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_autocast(dtype):
    weights = block(64, 128, 64, torch.float32, "cuda")[:3]
    x = torch.randn(8, 64, device="cuda")
    with torch.autocast("cuda", dtype=dtype):
        y = et.glu_mlp(x, *weights)
    assert torch.equal(y, et.glu_mlp(x.to(dtype), *(w.to(dtype) for w in weights)))


@needs_hopper
def test_activation_checkpointing():
    gate, up, down = block(64, 128, 64, torch.bfloat16, "cuda")[:3]
    x = torch.randn(8, 64, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    y = torch.utils.checkpoint.checkpoint(et.glu_mlp, x, gate, up, down, use_reentrant=False)
    direct = et.glu_mlp(x, gate, up, down)
    assert torch.equal(y, direct)
    assert torch.equal(*(torch.autograd.grad(t.sum(), x)[0] for t in (y, direct)))


@needs_hopper
def test_errors():
    gate, up, down, *_ = block(64, 128, 64, torch.bfloat16, "cuda")
    x = torch.randn(8, 64, device="cuda", dtype=torch.bfloat16)
    with pytest.raises(RuntimeError, match=r"gate has shape \[128, 64\], expected \[128, 32\]"):
        et.glu_mlp(x[:, :32], gate, up, down)
    with pytest.raises(RuntimeError, match="up has shape"):
        et.glu_mlp(x, gate, up[:64], down)
    with pytest.raises(RuntimeError, match="expected x and up to have the same dtype"):
        et.glu_mlp(x, gate, up.float(), down)
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        et.glu_mlp(x, gate, up.cpu(), down)
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        et.glu_mlp(x.cpu(), gate, up, down)
    with pytest.raises(RuntimeError, match="weights 2"):
        et.glu_mlp(x, gate[0], up, down)


def test_unknown_activation():
    x, weights = torch.randn(2, 8), block(8, 8, 8, torch.float32, "cpu")[:3]
    with pytest.raises(ValueError, match="unknown activation 'swish'"):
        et.glu_mlp(x, *weights, "swish")


def check_aten_runs_because(reason):
    """``why`` and the warning of the operator that the CUDA kernel calls where it does not apply."""
    gate, up, down, *_ = block(64, 136, 64, torch.bfloat16, "cuda")
    x = torch.randn(3, 64, device="cuda", dtype=torch.bfloat16)
    assert et.why(x, gate, up, down) == reason
    _operator._reported.clear()
    with pytest.warns(UserWarning, match=reason):
        y = torch.ops.epilogue.glu_mlp_aten(x, gate, up, down, None, None, None, 1)
    assert torch.equal(y, reference(x, gate, up, down))


@needs_hopper
def test_gives_the_reason_if_code_cannot_be_generated(monkeypatch):
    monkeypatch.setattr(_reason, "prepare", lambda block: "NVRTC is missing")
    check_aten_runs_because("NVRTC is missing")


@needs_hopper
def test_gives_the_reason_if_pytorch_refuses_the_kernels(monkeypatch):
    monkeypatch.setattr(_library, "kernel_error", "PyTorch refuses the registration")
    uncached = _reason.device_reason.__wrapped__
    for module in (_operator, _reason):
        monkeypatch.setattr(module, "device_reason", uncached)
    assert et.prepare(0, torch.bfloat16, "silu", 64, 136, 64) == "PyTorch refuses the registration"
    check_aten_runs_because("PyTorch refuses the registration")


@needs_hopper
def test_random_calls_on_two_streams():
    """1000 calls with random shapes, dtypes and strides, some of them in graphs."""
    generator = random.Random(1)
    sizes = [(64, 128, 64), (256, 768, 264), (1024, 512, 1024)]
    weights = {
        (size, dtype): block(*size, dtype, "cuda", seed=i)[:3]
        for i, size in enumerate(sizes) for dtype in (torch.bfloat16, torch.float16)
    }
    streams = [torch.cuda.Stream(), torch.cuda.Stream()]
    memory = []
    for i in range(1000):
        (size, dtype), block_weights = generator.choice(list(weights.items()))
        rows = generator.choice([1, 2, 7, 16, 63, 64, 65, 128, 129, 300])
        width = size[0] + 8 * generator.randrange(3)
        x = torch.randn(rows, width, device="cuda", dtype=dtype)[:, : size[0]]
        expected = reference(x, *block_weights)
        stream = generator.choice(streams)
        stream.wait_stream(torch.cuda.current_stream())
        with torch.no_grad(), torch.cuda.stream(stream):
            if generator.random() < 0.05:
                graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graph, stream=stream):
                    y = et.glu_mlp(x, *block_weights)
                graph.replay()
            else:
                y = et.glu_mlp(x, *block_weights)
        torch.cuda.current_stream().wait_stream(stream)
        # Two roundings of 8 bits each, in different places.
        tolerance = 2**-7 if dtype == torch.bfloat16 else 2**-10
        assert error(y, expected.double()) < tolerance
        if i in (500, 999):
            torch.cuda.synchronize()
            memory.append(torch.cuda.memory_allocated())
    assert memory[1] <= memory[0] + (1 << 20)
