# SPDX-License-Identifier: Apache-2.0
"""``patch``, ``unpatch`` and ``patched``. On the CPU the operator runs ATen, with ``force``."""
import copy
import functools
import io

import pytest

torch = pytest.importorskip("torch", minversion="2.9")

from epilogue.torch import _patch, patch, patched, unpatch  # noqa: E402

nn, F = torch.nn, torch.nn.functional
pytestmark = pytest.mark.filterwarnings("ignore:epilogue.torch.glu_mlp runs ATen")

FAMILIES = ("llama", "mistral", "qwen2", "qwen3", "gemma", "gemma2", "gemma3_text", "phi3")
K, N = 32, 48


class GatedMlp(nn.Module):
    """A class that ``patch`` does not know."""

    def __init__(self, activation=None, bias=False):
        super().__init__()
        self.gate_proj = nn.Linear(K, N, bias=bias)
        self.up_proj = nn.Linear(K, N, bias=bias)
        self.down_proj = nn.Linear(N, K, bias=bias)
        self.act_fn = nn.SiLU() if activation is None else activation

    def forward(self, x):
        return self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))


class PackedMlp(nn.Module):
    def __init__(self, bias=False):
        super().__init__()
        self.gate_up_proj = nn.Linear(K, 2 * N, bias=bias)
        self.down_proj = nn.Linear(N, K, bias=bias)
        self.activation_fn = nn.GELU(approximate="tanh")

    def forward(self, hidden_states):
        gate, up = self.gate_up_proj(hidden_states).chunk(2, dim=-1)
        return self.down_proj(up * self.activation_fn(gate))


class UpFirst(PackedMlp):
    def forward(self, x):
        up, gate = self.gate_up_proj(x).chunk(2, dim=-1)
        return self.down_proj(up * self.activation_fn(gate))


class Swapped(GatedMlp):
    def forward(self, x):
        return self.down_proj(self.gate_proj(x) * self.act_fn(self.up_proj(x)))


class Clamped(GatedMlp):
    def forward(self, x):
        up = self.up_proj(x).clamp(-10, 10)
        return self.down_proj(self.act_fn(self.gate_proj(x)) * up)


class FunctionalDropout(GatedMlp):
    def forward(self, x):
        return F.dropout(super().forward(x), 0.5, self.training)


class ChildDropout(GatedMlp):
    def __init__(self):
        super().__init__()
        self.dropout = nn.Dropout(0.5)

    def forward(self, x):
        return self.dropout(super().forward(x))


class LearnedScale(GatedMlp):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, x):
        return self.scale * super().forward(x)


class ReturnsTuple(GatedMlp):
    def forward(self, x):
        return super().forward(x), None


class NeedsMask(GatedMlp):
    def forward(self, x, mask):
        return super().forward(x) * mask


class OtherLinear(nn.Linear):
    pass


class LoraLinear(nn.Module):
    """An adapter as peft adds it: it wraps the projection and exposes its weight."""

    def __init__(self, base):
        super().__init__()
        self.base_layer = base
        self.lora_A = nn.Linear(base.in_features, 4, bias=False)
        self.lora_B = nn.Linear(4, base.out_features, bias=False)

    @property
    def weight(self):
        return self.base_layer.weight

    def forward(self, x):
        return self.base_layer(x) + self.lora_B(self.lora_A(x))


class SubclassTensor(torch.Tensor):
    pass


class Doubled(nn.Module):
    def forward(self, weight):
        return 2 * weight


class Stack(nn.Module):
    def __init__(self, *blocks):
        super().__init__()
        self.blocks = nn.ModuleList(blocks)

    def forward(self, x):
        for block in self.blocks:
            x = x + block(x)
        return x


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


@pytest.fixture
def operator_calls(monkeypatch):
    """The names of the operators that patched modules have called."""
    calls = []
    for name in ("glu_mlp", "glu_mlp_packed"):
        def call(*args, _name=name, _function=getattr(_patch, name), **kwargs):
            calls.append(_name)
            return _function(*args, **kwargs)
        monkeypatch.setattr(_patch, name, call)
    return calls


def reason_of(module, force=True):
    result = patch(module, force=force)
    assert not result.patched
    (left,) = result.left
    return left.reason


def runs_original(module, operator_calls, reference=None):
    """Whether a patched module runs the forward pass of its original class, as ``reference``."""
    x = torch.randn(3, K)
    operator_calls.clear()
    found = module(x)
    if operator_calls:
        return False
    expected = reference(x) if reference else type(module)._epilogue_original.forward(module, x)
    torch.testing.assert_close(found, expected)
    return True


def test_unknown_class_runs_the_operator(operator_calls):
    module = GatedMlp().double()
    x = torch.randn(2, 5, K, dtype=torch.float64)
    expected = module(x)
    result = patch(module, force=True)
    assert [(m.name, m.class_name) for m in result.patched] == [("", "GatedMlp")]
    assert not result.left
    torch.testing.assert_close(module(x), expected)
    assert operator_calls == ["glu_mlp"]
    assert type(module).__name__ == "EpilogueGatedMlp"
    assert isinstance(module, GatedMlp)


@pytest.mark.parametrize("bias", (False, True))
def test_packed_class_runs_the_operator(operator_calls, bias):
    module = PackedMlp(bias).double()
    x = torch.randn(3, K, dtype=torch.float64)
    expected = module(x)
    assert len(patch(module, force=True).patched) == 1
    torch.testing.assert_close(module(x), expected)
    assert operator_calls == ["glu_mlp_packed"]


def test_keyword_arguments_run_the_original(operator_calls):
    module = PackedMlp()
    x = torch.randn(3, K)
    expected = module(x)
    patch(module, force=True)
    torch.testing.assert_close(module(hidden_states=x), expected)
    assert not operator_calls


@pytest.mark.parametrize("activation, name", (
    (nn.SiLU(), "silu"),
    (nn.ReLU(), "relu"),
    (nn.GELU(), "gelu"),
    (nn.GELU(approximate="tanh"), "gelu_tanh"),
    (F.silu, "silu"),
    (F.gelu, "gelu"),
    (F.relu, "relu"),
    (torch.relu, "relu"),
    (nn.Tanh(), None),
    (nn.LeakyReLU(), None),
    (functools.partial(F.gelu, approximate="tanh"), None),
    (lambda x: x, None),
), ids=str)
def test_names_activations_of_torch(activation, name):
    assert _patch.activation_name(activation) == name


@pytest.mark.parametrize("key, name", (
    ("silu", "silu"),
    ("swish", "silu"),
    ("gelu", "gelu"),
    ("gelu_python", "gelu"),
    ("gelu_pytorch_tanh", "gelu_tanh"),
    ("gelu_new", "gelu_tanh"),
    ("relu", "relu"),
    ("quick_gelu", None),
    ("gelu_10", None),
    ("relu2", None),
))
def test_names_activations_of_transformers(operator_calls, key, name):
    activation = pytest.importorskip("transformers.activations").ACT2FN[key]
    assert _patch.activation_name(activation) == name
    if name is None:
        return
    module = GatedMlp(activation).double()
    x = torch.randn(3, K, dtype=torch.float64)
    expected = module(x)
    assert len(patch(module, force=True).patched) == 1
    torch.testing.assert_close(module(x), expected)
    assert operator_calls


@pytest.mark.parametrize(
    "activation", (F.silu, F.gelu, torch.relu, nn.GELU(), nn.GELU("tanh")), ids=str
)
@pytest.mark.parametrize("bias", (False, True))
def test_patched_result_is_equal(operator_calls, activation, bias):
    module = GatedMlp(activation, bias).double()
    x = torch.randn(2, 3, K, dtype=torch.float64)
    expected = module(x)
    patch(module, force=True)
    torch.testing.assert_close(module(x), expected)
    assert operator_calls == ["glu_mlp"]


@pytest.mark.parametrize("make, text", (
    (Swapped, "computes something else"),
    (Clamped, "computes something else"),
    (UpFirst, "computes something else"),
    (FunctionalDropout, "computes something else"),
    (ChildDropout, "another submodule, dropout"),
    (LearnedScale, "parameters or buffers outside"),
    (ReturnsTuple, "returns a tuple"),
    (NeedsMask, "failed on a test input (TypeError"),
    (lambda: GatedMlp(nn.Tanh()), "act_fn is Tanh()"),
), ids=str)
@pytest.mark.parametrize("training", (False, True))
def test_leaves_another_formula(make, text, training):
    module = make().train(training)
    before = {name: p.clone() for name, p in module.named_parameters()}
    assert text in reason_of(module)
    assert module.training == training
    assert all(torch.equal(p, before[name]) for name, p in module.named_parameters())


def test_leaves_what_it_cannot_compare():
    module = GatedMlp()
    nn.init.zeros_(module.down_proj.weight)
    assert "zero or not finite" in reason_of(module)


@pytest.mark.parametrize("dtype", (torch.bfloat16, torch.float32, torch.float64))
def test_check_accepts_the_formula_in_each_dtype(dtype):
    assert len(patch(GatedMlp(bias=True).to(dtype), force=True).patched) == 1


def test_check_keeps_the_random_state():
    module = FunctionalDropout()
    state = torch.get_rng_state()
    patch(module, force=True)
    assert torch.equal(torch.get_rng_state(), state)


def test_leaves_weights_that_the_kernel_cannot_use():
    text = "the weights are float32 on cpu: the kernels need 16 bits on a CUDA GPU"
    assert reason_of(GatedMlp(), force=False) == text


def test_leaves_meta_weights():
    with torch.device("meta"):
        module = GatedMlp()
    assert "meta device" in reason_of(module)


def test_leaves_mixed_dtypes():
    module = GatedMlp()
    module.up_proj.double()
    assert "differ in dtype" in reason_of(module)


def test_leaves_other_linear_classes():
    module = GatedMlp()
    module.up_proj = OtherLinear(K, N)
    assert "OtherLinear, not a torch.nn.Linear" in reason_of(module)


def hook(module, *args):
    return None


HOOKS = (
    "register_forward_hook",
    "register_forward_pre_hook",
    "register_full_backward_hook",
    "register_full_backward_pre_hook",
)


@pytest.mark.parametrize("target", ("", "gate_proj", "up_proj", "down_proj", "act_fn"))
@pytest.mark.parametrize("register", HOOKS)
def test_leaves_modules_with_hooks(register, target):
    module = GatedMlp()
    getattr(module.get_submodule(target), register)(hook)
    assert "has hooks" in reason_of(module)


@pytest.mark.parametrize("target", ("gate_proj", "up_proj", "down_proj", "act_fn"))
@pytest.mark.parametrize("register", HOOKS)
def test_hooks_after_patching_run_the_original(operator_calls, register, target):
    module = GatedMlp()
    patch(module, force=True)
    handle = getattr(module.get_submodule(target), register)(hook)
    assert runs_original(module, operator_calls)
    handle.remove()
    assert not runs_original(module, operator_calls)


def test_hooks_of_the_block_fire_after_patching(operator_calls):
    module = GatedMlp()
    patch(module, force=True)
    seen = []
    module.register_forward_hook(lambda *args: seen.append(args))
    module(torch.randn(3, K))
    assert operator_calls == ["glu_mlp"] and len(seen) == 1


def test_global_hooks_run_the_original(operator_calls):
    module = GatedMlp()
    patch(module, force=True)
    seen = []
    handle = nn.modules.module.register_module_forward_hook(lambda m, *args: seen.append(type(m)))
    try:
        assert runs_original(module, operator_calls)
        assert nn.Linear in seen
        assert reason_of(GatedMlp()) == "hooks for all modules are registered"
    finally:
        handle.remove()
    assert not runs_original(module, operator_calls)


@pytest.mark.parametrize("target", ("", "gate_proj", "act_fn"))
def test_leaves_modules_with_an_instance_forward(target):
    module = GatedMlp()
    part = module.get_submodule(target)
    part.forward = part.forward
    assert "own forward" in reason_of(module)


def test_instance_forward_after_patching_runs_the_original(operator_calls):
    module = GatedMlp()
    patch(module, force=True)
    module.up_proj.forward = lambda x: 2 * F.linear(x, module.up_proj.weight)
    assert runs_original(module, operator_calls)
    del module.up_proj.forward
    assert not runs_original(module, operator_calls)


def test_parametrization_after_patching_runs_the_original(operator_calls):
    module = GatedMlp()
    reference = copy.deepcopy(module)
    patch(module, force=True)
    nn.utils.parametrize.register_parametrization(module.up_proj, "weight", Doubled())
    assert runs_original(module, operator_calls, lambda x: 2 * reference(x))
    nn.utils.parametrize.remove_parametrizations(module.up_proj, "weight", leave_parametrized=False)
    assert not runs_original(module, operator_calls)


def test_adapter_after_patching_runs_the_original(operator_calls):
    module = GatedMlp()
    patch(module, force=True)
    base = module.gate_proj
    module.gate_proj = LoraLinear(base)
    assert runs_original(module, operator_calls)
    module.gate_proj = base
    assert not runs_original(module, operator_calls)


def test_leaves_modules_with_adapters():
    module = GatedMlp()
    module.gate_proj = LoraLinear(module.gate_proj)
    assert "LoraLinear, not a torch.nn.Linear" in reason_of(module)


def test_leaves_tensor_subclasses():
    module = GatedMlp()
    weight = module.down_proj.weight.detach().as_subclass(SubclassTensor)
    module.down_proj.weight = nn.Parameter(weight)
    assert "SubclassTensor, not a plain tensor" in reason_of(module)


@pytest.mark.parametrize("name", ("weight", "bias"))
def test_tensor_subclass_after_patching_runs_the_original(operator_calls, name):
    module = GatedMlp(bias=True)
    patch(module, force=True)
    tensor = getattr(module.up_proj, name).detach().as_subclass(SubclassTensor)
    setattr(module.up_proj, name, nn.Parameter(tensor))
    module(torch.randn(3, K))
    assert not operator_calls


@pytest.mark.parametrize("name", ("weight", "bias"))
def test_moved_parameter_runs_the_original(operator_calls, name):
    module = GatedMlp(bias=True)
    patch(module, force=True)
    tensor = getattr(module.gate_proj, name).detach()
    delattr(module.gate_proj, name)
    module.gate_proj.register_buffer(name, tensor)
    assert runs_original(module, operator_calls)


def test_tensor_subclass_as_input_runs_the_original(operator_calls):
    module = GatedMlp()
    patch(module, force=True)
    module(torch.randn(3, K).as_subclass(SubclassTensor))
    assert not operator_calls


@pytest.mark.parametrize("before, after", (
    (nn.SiLU(), nn.Tanh()),
    (F.silu, torch.tanh),
    (F.silu, nn.Tanh()),
), ids=str)
def test_replaced_activation_runs_the_original(operator_calls, before, after):
    module = GatedMlp(before)
    patch(module, force=True)
    module.act_fn = after
    assert runs_original(module, operator_calls)


def test_changed_gelu_form_runs_the_original(operator_calls):
    module = GatedMlp(nn.GELU())
    patch(module, force=True)
    module.act_fn.approximate = "tanh"
    assert runs_original(module, operator_calls)


def test_functional_call_uses_the_given_parameters(operator_calls):
    module = GatedMlp().double()
    x = torch.randn(3, K, dtype=torch.float64)
    parameters = {name: 2 * p.detach() for name, p in module.named_parameters()}
    expected = torch.func.functional_call(module, parameters, (x,))
    patch(module, force=True)
    torch.testing.assert_close(torch.func.functional_call(module, parameters, (x,)), expected)
    assert operator_calls


def test_gradients_are_equal():
    reference = GatedMlp(bias=True).double()
    module = copy.deepcopy(reference)
    patch(module, force=True)
    x = torch.randn(3, K, dtype=torch.float64, requires_grad=True)
    y = x.detach().clone().requires_grad_()
    grad = torch.randn(3, K, dtype=torch.float64)
    reference(x).backward(grad)
    module(y).backward(grad)
    torch.testing.assert_close(y.grad, x.grad)
    for expected, found in zip(reference.parameters(), module.parameters()):
        torch.testing.assert_close(found.grad, expected.grad)


def test_state_dict_and_parameters_are_unchanged():
    model = Stack(GatedMlp(bias=True), PackedMlp())
    before, ids = model.state_dict(), [id(p) for p in model.parameters()]
    patch(model, force=True)
    after = model.state_dict()
    assert list(after) == list(before)
    assert all(torch.equal(after[name], before[name]) for name in before)
    assert [id(p) for p in model.parameters()] == ids
    other = Stack(GatedMlp(bias=True), PackedMlp())
    assert not model.load_state_dict(other.state_dict()).missing_keys
    x = torch.randn(3, K)
    torch.testing.assert_close(model(x), other(x))


def test_moves_to_another_dtype(operator_calls):
    module = GatedMlp()
    patch(module, force=True)
    module.to(torch.bfloat16)
    assert module(torch.randn(3, K, dtype=torch.bfloat16)).dtype == torch.bfloat16
    assert operator_calls


def test_deepcopy_keeps_the_patch(operator_calls):
    model = Stack(GatedMlp(), GatedMlp())
    model.blocks[1].gate_proj.weight = model.blocks[0].gate_proj.weight
    patch(model, force=True)
    clone = copy.deepcopy(model)
    assert len(patch(clone, force=True).patched) == 2
    assert clone.blocks[0].gate_proj.weight is clone.blocks[1].gate_proj.weight
    assert clone.blocks[0].gate_proj.weight is not model.blocks[0].gate_proj.weight
    x = torch.randn(3, K)
    torch.testing.assert_close(clone(x), model(x))
    assert len(operator_calls) == 4
    assert unpatch(clone) == 2 and type(model.blocks[0]) is not GatedMlp


def test_saved_model_loads_unpatched():
    model = Stack(GatedMlp(), PackedMlp())
    patch(model, force=True)
    file = io.BytesIO()
    torch.save(model, file)
    assert b"Epilogue" not in file.getvalue()
    file.seek(0)
    loaded = torch.load(file, weights_only=False)
    assert [type(block) for block in loaded.blocks] == [GatedMlp, PackedMlp]
    assert type(model.blocks[0]) is not GatedMlp
    x = torch.randn(3, K)
    torch.testing.assert_close(loaded(x), model(x))


def test_unpatch_restores():
    model = Stack(GatedMlp(), PackedMlp())
    patch(model, force=True)
    assert unpatch(model) == 2
    assert [type(block) for block in model.blocks] == [GatedMlp, PackedMlp]
    assert "_epilogue" not in " ".join(model.blocks[0].__dict__)
    assert unpatch(model) == 0


def test_context_restores():
    model = Stack(GatedMlp())
    with patched(model, force=True) as result:
        assert len(result.patched) == 1
        assert type(model.blocks[0]) is not GatedMlp
    assert type(model.blocks[0]) is GatedMlp


def test_context_restores_after_an_exception():
    model = Stack(GatedMlp())
    with pytest.raises(KeyError), patched(model, force=True):
        raise KeyError
    assert type(model.blocks[0]) is GatedMlp


def test_context_keeps_what_was_patched_before():
    model = Stack(GatedMlp(), GatedMlp())
    patch(model.blocks[0], force=True)
    with patched(model, force=True) as result:
        assert len(result.patched) == 2
    assert type(model.blocks[0]) is not GatedMlp
    assert type(model.blocks[1]) is GatedMlp


def test_patching_twice_changes_nothing():
    model = Stack(GatedMlp())
    first = patch(model, force=True)
    kind = type(model.blocks[0])
    assert patch(model, force=True) == first
    assert type(model.blocks[0]) is kind


def test_shared_modules_count_once():
    block = GatedMlp()
    result = patch(Stack(block, block), force=True)
    assert [module.name for module in result.patched] == ["blocks.0"]


def test_summary():
    model = Stack(GatedMlp(), GatedMlp(), PackedMlp(), Swapped(), GatedMlp(nn.Tanh()))
    model.blocks.append(GatedMlp(nn.Tanh()))
    lines = str(patch(model, force=True)).splitlines()
    assert lines[0] == "patched 3 of 6 MLPs: 2 GatedMlp, 1 PackedMlp"
    assert lines[1].startswith("left 1 (first: blocks.3): its forward computes something else")
    assert lines[2:] == ["left 2 (first: blocks.4): act_fn is Tanh(), not silu, gelu or relu"]
    assert str(patch(nn.Linear(2, 2))) == "found no gated MLP"


def compile_and_call(module, *args):
    """Compiles without graph breaks and returns the result and the names in the graph."""
    names = []

    def backend(graph, inputs):
        names.extend(str(node.target) for node in graph.graph.nodes)
        return graph.forward

    torch._dynamo.reset()
    return torch.compile(module, fullgraph=True, backend=backend)(*args), names


@pytest.mark.parametrize("make", (
    GatedMlp,
    PackedMlp,
    lambda: GatedMlp(bias=True),
    lambda: GatedMlp(nn.GELU(approximate="tanh")),
    lambda: GatedMlp(F.silu),
    lambda: Stack(GatedMlp(), PackedMlp()),
), ids=("separate", "packed", "bias", "gelu", "function", "stack"))
@pytest.mark.parametrize("grad", (False, True))
def test_compiles_without_graph_breaks(make, grad):
    model = make()
    x = torch.randn(3, K)
    with torch.set_grad_enabled(grad):
        expected = model(x)
        patch(model, force=True)
        found, names = compile_and_call(model, x)
    torch.testing.assert_close(found, expected)
    assert any("epilogue" in name for name in names), names


def test_compiles_the_original_of_a_changed_module():
    model = GatedMlp()
    patch(model, force=True)
    model.gate_proj = LoraLinear(model.gate_proj)
    x = torch.randn(3, K)
    expected = model(x)
    found, names = compile_and_call(model, x)
    torch.testing.assert_close(found, expected)
    assert not any("epilogue" in name for name in names), names


def test_exports_the_operator():
    model = Stack(GatedMlp())
    patch(model, force=True)
    x = torch.randn(3, K)
    with torch.no_grad():
        program = torch.export.export(model, (x,))
    assert "epilogue" in str(program.graph)
    torch.testing.assert_close(program.module()(x), model(x))


def family_model(family, dtype=torch.float32):
    transformers = pytest.importorskip("transformers")
    config = transformers.AutoConfig.for_model(
        family, hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, head_dim=16, vocab_size=96, max_position_embeddings=64,
        pad_token_id=0, bos_token_id=1, eos_token_id=2,
    )
    model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="eager")
    return model.to(dtype).eval()


@pytest.mark.parametrize("family", FAMILIES)
def test_patches_hugging_face_families(operator_calls, family):
    model = family_model(family)
    tokens = torch.arange(3, 13).reshape(2, 5)
    with torch.no_grad():
        expected = model(tokens).logits
        result = patch(model, force=True)
        found = model(tokens).logits
    assert len(result.patched) == 2 and not result.left
    assert result.patched[0].name == "model.layers.0.mlp"
    assert str(result).startswith("patched 2 of 2 MLPs: 2 ")
    assert len(operator_calls) == 2
    torch.testing.assert_close(found, expected)
    assert unpatch(model) == 2


@pytest.mark.parametrize("family", ("llama", "gemma2", "phi3"))
def test_compiles_hugging_face_blocks(family):
    block = family_model(family).model.layers[0].mlp
    x = torch.randn(3, 64)
    with torch.no_grad():
        expected = block(x)
        patch(block, force=True)
        found, names = compile_and_call(block, x)
    torch.testing.assert_close(found, expected)
    assert any("epilogue" in name for name in names), names


HOPPER = torch.cuda.is_available() and torch.cuda.get_device_capability() == (9, 0)
needs_hopper = pytest.mark.skipif(not HOPPER, reason="needs a Hopper GPU")


@needs_hopper
@pytest.mark.parametrize("force", (False, True))
def test_passes_on_the_reason_of_the_kernels(monkeypatch, force):
    monkeypatch.setattr(_patch, "why", lambda *args: "no such kernel")
    result = patch(Stack(GatedMlp(), PackedMlp()).to("cuda:0", torch.bfloat16), force=force)
    assert [module.reason for module in result.left] == 2 * ["no such kernel"]


@needs_hopper
def test_restores_all_if_patching_fails(monkeypatch):
    model = Stack(GatedMlp(), PackedMlp()).to("cuda:0", torch.bfloat16)
    calls = []

    def fail_second(*args):
        calls.append(args)
        if len(calls) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(_patch, "why", fail_second)
    with pytest.raises(KeyboardInterrupt):
        patch(model)
    assert unpatch(model) == 0


@needs_hopper
@pytest.mark.parametrize("dtype", (torch.bfloat16, torch.float16), ids=str)
@pytest.mark.parametrize("family", FAMILIES)
def test_patches_families_on_the_gpu(operator_calls, family, dtype):
    model = family_model(family, dtype).cuda()
    assert not patch(model).left
    x = torch.randn(16, 64, dtype=dtype, device="cuda")
    block = model.model.layers[0].mlp
    with torch.no_grad():
        found = block(x)
        expected = block._epilogue_original.forward(block, x)
    assert operator_calls
    # Roundings of the hidden values and of the result, each half an eps, relative to the largest.
    limit = 2 * torch.finfo(dtype).eps * float(expected.abs().max())
    assert float((found.float() - expected.float()).abs().max()) <= limit
