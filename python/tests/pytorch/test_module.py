# SPDX-License-Identifier: Apache-2.0
"""``GluMlp``. On the CPU the operator runs ATen."""
import copy
import io

import pytest

torch = pytest.importorskip("torch", minversion="2.9")

from epilogue.torch import GluMlp, _module, patch  # noqa: E402

nn, F = torch.nn, torch.nn.functional
pytestmark = pytest.mark.filterwarnings("ignore:epilogue.torch.glu_mlp runs ATen")

ACTIVATIONS = {
    "silu": F.silu,
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "relu": F.relu,
}


class GatedMlp(nn.Module):
    def __init__(self, activation, bias=False):
        super().__init__()
        self.gate_proj = nn.Linear(16, 24, bias=bias)
        self.up_proj = nn.Linear(16, 24)
        self.down_proj = nn.Linear(24, 8, bias=bias)
        self.act_fn = activation

    def forward(self, x):
        return self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


@pytest.fixture
def operator_calls(monkeypatch):
    calls = []
    function = _module.glu_mlp

    def call(*args):
        calls.append(args)
        return function(*args)

    monkeypatch.setattr(_module, "glu_mlp", call)
    return calls


def formula(mlp, x):
    gate, up, down = mlp.gate_proj, mlp.up_proj, mlp.down_proj
    hidden = ACTIVATIONS[mlp.activation](F.linear(x, gate.weight, gate.bias))
    return F.linear(hidden * F.linear(x, up.weight, up.bias), down.weight, down.bias)


@pytest.mark.parametrize("bias", (False, True))
@pytest.mark.parametrize("out_size", (None, 8))
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_computes_the_gated_mlp(operator_calls, activation, out_size, bias):
    mlp = GluMlp(16, 24, out_size, activation, bias, dtype=torch.float64)
    x = torch.randn(2, 3, 16, dtype=torch.float64)
    found = mlp(x)
    assert found.shape == (2, 3, out_size or 16)
    torch.testing.assert_close(found, formula(mlp, x))
    assert len(operator_calls) == 1


def test_has_the_parameter_names_of_hugging_face():
    names = ["gate_proj.weight", "up_proj.weight", "down_proj.weight"]
    assert list(GluMlp(16, 24).state_dict()) == names


def test_repr_shows_the_activation():
    assert "activation='gelu'" in repr(GluMlp(16, 24, activation="gelu"))


def test_rejects_unknown_activations():
    with pytest.raises(ValueError, match="unknown activation 'swish'"):
        GluMlp(16, 24, activation="swish")


def test_gradients_are_correct():
    mlp = GluMlp(8, 12, bias=True, dtype=torch.float64)
    x = torch.randn(3, 8, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(mlp, (x,))


@pytest.mark.parametrize("activation, name", ((nn.SiLU(), "silu"), (nn.GELU("tanh"), "gelu_tanh")))
def test_converts_and_shares_the_parameters(activation, name):
    source = GatedMlp(activation).double().eval()
    mlp = GluMlp.from_mlp(source)
    assert mlp.activation == name and not mlp.training
    assert {id(p) for p in mlp.parameters()} == {id(p) for p in source.parameters()}
    x = torch.randn(3, 16, dtype=torch.float64)
    torch.testing.assert_close(mlp(x), source(x))


def test_converts_patched_modules():
    source = GatedMlp(nn.SiLU(), bias=True)
    expected = [id(p) for p in source.parameters()]
    patch(source, force=True)
    assert [id(p) for p in GluMlp.from_mlp(source).parameters()] == expected


def test_rejects_modules_that_compute_something_else():
    with pytest.raises(ValueError, match="act_fn is Tanh"):
        GluMlp.from_mlp(GatedMlp(nn.Tanh()))
    with pytest.raises(ValueError, match="does not have gate_proj"):
        GluMlp.from_mlp(nn.Linear(2, 2))


def test_patch_skips_it():
    result = patch(nn.Sequential(GluMlp(16, 24)), force=True)
    assert not result.patched and not result.left


def test_hooks_of_projections_fire(operator_calls):
    mlp = GluMlp(16, 24)
    seen = []
    mlp.up_proj.register_forward_hook(lambda *args: seen.append(args))
    x = torch.randn(3, 16)
    torch.testing.assert_close(mlp(x), formula(mlp, x))
    assert seen and not operator_calls


def test_copies_and_saves():
    mlp = GluMlp(16, 24, activation="relu")
    x = torch.randn(3, 16)
    torch.testing.assert_close(copy.deepcopy(mlp)(x), mlp(x))
    file = io.BytesIO()
    torch.save(mlp, file)
    file.seek(0)
    torch.testing.assert_close(torch.load(file, weights_only=False)(x), mlp(x))


def test_compiles_without_graph_breaks():
    names = []

    def backend(graph, inputs):
        names.extend(str(node.target) for node in graph.graph.nodes)
        return graph.forward

    mlp = GluMlp(16, 24)
    x = torch.randn(3, 16)
    torch._dynamo.reset()
    found = torch.compile(mlp, fullgraph=True, backend=backend)(x)
    torch.testing.assert_close(found, mlp(x))
    assert any("epilogue" in name for name in names), names


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU")
def test_runs_on_the_gpu():
    mlp = GluMlp(64, 128, device="cuda", dtype=torch.bfloat16)
    x = torch.randn(16, 64, device="cuda", dtype=torch.bfloat16)
    with torch.no_grad():
        found, expected = mlp(x), formula(mlp, x)
    limit = 2 * torch.finfo(torch.bfloat16).eps * float(expected.abs().max())
    assert float((found.float() - expected.float()).abs().max()) <= limit
