# SPDX-License-Identifier: Apache-2.0
"""Recognizes gated MLPs, and what keeps the operator from replacing one."""
from __future__ import annotations

import functools
from typing import Any, NamedTuple, Optional, Tuple

import torch
from torch._subclasses import fake_tensor, functional_tensor
from torch.nn.modules import module as _module

from ._operator import activate

# Names of this module are looked up faster than attributes of torch: the check runs at each call.
_Tensor: Any = torch.Tensor
_Parameter: Any = torch.nn.Parameter
_Linear: Any = torch.nn.Linear
_forward_hooks: Any = _module._global_forward_hooks
_forward_pre_hooks: Any = _module._global_forward_pre_hooks
_backward_hooks: Any = _module._global_backward_hooks
_backward_pre_hooks: Any = _module._global_backward_pre_hooks
# While torch traces, for example in `torch.export`, plain tensors have these types.
_FakeTensor: Any = fake_tensor.FakeTensor
_FunctionalTensor: Any = functional_tensor.FunctionalTensor


class Layout(NamedTuple):
    """Where a gated MLP keeps its parts."""

    projections: Tuple[str, ...]
    activation: str


SEPARATE = Layout(("gate_proj", "up_proj", "down_proj"), "act_fn")
PACKED = Layout(("gate_up_proj", "down_proj"), "activation_fn")

# The forward pass of these classes of Hugging Face transformers is known. Others are tried out.
_FAMILIES = frozenset((
    "LlamaMLP", "MistralMLP", "Qwen2MLP", "Qwen3MLP", "GemmaMLP", "Gemma2MLP", "Gemma3MLP",
    "Phi3MLP",
))
_TRANSFORMERS_ACTIVATIONS = {
    "SiLUActivation": "silu",
    "GELUActivation": "gelu",
    "GELUTanh": "gelu_tanh",
    "PytorchGELUTanh": "gelu_tanh",
    "NewGELUActivation": "gelu_tanh",
}
_FUNCTIONS = (
    (torch.nn.functional.silu, "silu"),
    (torch.nn.functional.gelu, "gelu"),
    (torch.nn.functional.relu, "relu"),
    (torch.relu, "relu"),
)
_GELU_FORMS = {"none": "gelu", "tanh": "gelu_tanh"}


# The check of each call. torch.compile traces it: no exceptions, no mutation. An attribute of a
# module costs about 35 ns, because torch.nn.Module defines __getattr__, an item of a dict 20 ns,
# a call 60 ns.


def are_untouched(modules: Tuple[Any, ...]) -> bool:
    """Whether calling each module runs the ``forward`` of its class, and no hook."""
    for module in modules:
        if module is None:
            continue
        state = module.__dict__
        if (
            state["_forward_hooks"]
            or state["_forward_pre_hooks"]
            or state["_backward_hooks"]
            or state["_backward_pre_hooks"]
            or "forward" in state
        ):
            return False
    return not (_forward_hooks or _forward_pre_hooks or _backward_hooks or _backward_pre_hooks)


def are_plain(tensors: Tuple[Any, ...]) -> bool:
    """Whether each is None or a tensor without a subclass, so not distributed, not quantized."""
    for tensor in tensors:
        kind = type(tensor)
        if (
            tensor is not None
            and kind is not _Parameter
            and kind is not _Tensor
            and kind is not _FakeTensor
            and kind is not _FunctionalTensor
        ):
            return False
    return True


# What can be patched. Each function returns the reason against it, or None.


def find_layout(module: Any) -> Optional[Layout]:
    """The layout of a module that has the projections of a gated MLP, else None."""
    if getattr(type(module), "_epilogue_glu_mlp", False):
        return None
    for layout in (SEPARATE, PACKED):
        if all(module._modules.get(name) is not None for name in layout.projections):
            return layout
    return None


def activation_name(activation: Any) -> Optional[str]:
    """The operator's name of an activation (a module or a function), None if it has none."""
    kind = type(activation)
    if kind is torch.nn.SiLU:
        return "silu"
    if kind is torch.nn.ReLU:
        return "relu"
    if kind is torch.nn.GELU:
        return _GELU_FORMS.get(activation.approximate)
    if kind.__module__ == "transformers.activations" and _has_known_function(activation):
        return _TRANSFORMERS_ACTIVATIONS.get(kind.__name__)
    return next((name for function, name in _FUNCTIONS if activation is function), None)


def _has_known_function(activation: Any) -> bool:
    # Some activations of transformers call `self.act`: one of torch, or their own Python formula.
    function = getattr(activation, "act", None)
    if isinstance(function, functools.partial):
        return (
            function.func is torch.nn.functional.gelu
            and not function.args
            and function.keywords == {"approximate": "tanh"}
        )
    return (
        function is None
        or any(function is known for known, _ in _FUNCTIONS)
        or getattr(function, "__self__", None) is activation
    )


def why_not_gated_mlp(module: Any, layout: Layout) -> Optional[str]:
    """The reason why the operator does not compute what ``module`` computes, None if it does."""
    return (
        _why_touched("the module", module)
        or _why_not_linear(module, layout)
        or _why_activation(module, layout)
        or _why_shapes(module, layout)
        or _why_other(module, layout)
    )


def _why_touched(name: str, module: Any) -> Optional[str]:
    if are_untouched((module,)):
        return None
    if "forward" in module.__dict__:
        return f"{name} has its own forward, set on the instance"
    if _forward_hooks or _forward_pre_hooks or _backward_hooks or _backward_pre_hooks:
        return "hooks for all modules are registered"
    return f"{name} has hooks"


def _why_not_linear(module: Any, layout: Layout) -> Optional[str]:
    for name in layout.projections:
        linear = module._modules[name]
        if type(linear) is not _Linear:
            return f"{name} is a {_qualified_name(linear)}, not a torch.nn.Linear"
        reason = _why_touched(name, linear)
        if reason is not None:
            return reason
        if linear._parameters.get("weight") is None or "bias" not in linear._parameters:
            return f"{name} has a weight or a bias that is not a parameter"
        for tensor in linear._parameters.values():
            if not are_plain((tensor,)):
                return f"{name} has a {_qualified_name(tensor)}, not a plain tensor"
    return None


def _why_activation(module: Any, layout: Layout) -> Optional[str]:
    activation = activation_of(module, layout)
    if activation is None:
        return f"it has no {layout.activation}"
    if activation_name(activation) is None:
        return f"{layout.activation} is {_describe(activation)}, not silu, gelu or relu"
    if isinstance(activation, torch.nn.Module):
        return _why_touched(layout.activation, activation)
    return None


def _why_shapes(module: Any, layout: Layout) -> Optional[str]:
    tensors = [t for name in layout.projections for t in module._modules[name]._parameters.values()]
    tensors = [tensor for tensor in tensors if tensor is not None]
    if any(tensor.device.type == "meta" for tensor in tensors):
        return "the weights are on the meta device, load them first"
    if len({(tensor.dtype, tensor.device) for tensor in tensors}) > 1:
        return "the weights differ in dtype or device"
    *inputs, down = [module._modules[name].weight for name in layout.projections]
    rows = 2 * down.shape[1] if layout == PACKED else down.shape[1]
    if any(w.shape[0] != rows or w.shape[1] != inputs[0].shape[1] for w in inputs):
        return "the shapes of the weights do not fit together"
    return None


def _why_other(module: Any, layout: Layout) -> Optional[str]:
    """For classes that are not known: other state, or another result than the formula's."""
    kind = type(module)
    is_known = kind.__name__ in _FAMILIES and kind.__module__.startswith("transformers.")
    if is_known and getattr(kind.forward, "__module__", None) == kind.__module__:
        return None
    parts = {*layout.projections, layout.activation}
    for name, child in module._modules.items():
        if child is not None and name not in parts:
            return f"it has another submodule, {name} ({type(child).__name__})"
    if any(t is not None for t in (*module._parameters.values(), *module._buffers.values())):
        return "it has parameters or buffers outside of its projections"
    return _why_different(module, layout)


def _why_different(module: Any, layout: Layout) -> Optional[str]:
    """Runs the module on two rows and compares with the formula, in both training modes."""
    first = module._modules[layout.projections[0]].weight
    devices = [first.device] if first.device.type == "cuda" else []
    was_training = module.training
    with torch.no_grad(), torch.random.fork_rng(devices=devices):
        try:
            x = _check_input(module, layout)
            expected = _formula(module, layout, x)
            # Functional dropout is visible in training mode only.
            for training in (was_training, not was_training):
                module.training = training
                reason = _why_unequal(type(module).forward(module, x), expected)
                if reason is not None:
                    return reason
        except Exception as error:  # The module may do anything.
            return f"its forward failed on a test input ({type(error).__name__}: {error})"
        finally:
            module.training = was_training
    return None


def _check_input(module: Any, layout: Layout) -> Any:
    """Two rows, scaled so that the largest input of the activation is about 4 and about 64.

    The first shows the curve of the activation, the second shows limits: known models clamp at 7
    and at 10.
    """
    weight = module._modules[layout.projections[0]].weight
    generator = torch.Generator(device="cpu").manual_seed(0)
    x = torch.randn(1, 2, weight.shape[1], generator=generator, device="cpu").to(weight)
    inputs = [module._modules[name].weight for name in layout.projections[:-1]]
    hidden = torch.cat([torch.nn.functional.linear(x, w) for w in inputs], -1)
    limits = torch.tensor([4.0, 64.0], device=weight.device).reshape(1, 2, 1)
    return (x * (limits / hidden.float().abs().amax(-1, keepdim=True))).to(weight.dtype)


def _formula(module: Any, layout: Layout, x: Any) -> Any:
    linear = torch.nn.functional.linear
    *inputs, down = [module._modules[name] for name in layout.projections]
    results = [linear(x, part.weight, part.bias) for part in inputs]
    gate, up = results[0].chunk(2, dim=-1) if layout == PACKED else results
    activation = activation_name(activation_of(module, layout))
    assert activation is not None
    hidden = activate(gate, activation) * up
    return linear(hidden, down.weight, down.bias)


def _why_unequal(found: Any, expected: Any) -> Optional[str]:
    if not isinstance(found, torch.Tensor):
        return f"its forward returns a {type(found).__name__}, not a tensor"
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return "its forward returns another shape or dtype than a gated MLP"
    norms = expected.double().norm(dim=-1)
    if not bool(torch.isfinite(norms).all()) or bool((norms == 0).any()):
        return "its forward cannot be compared, because the result is zero or not finite"
    # The same formula in another order differs by roundings. In 16 bits, those of the activation
    # and of the result amount to less than one eps in the norm. In 32 and 64 bits, the order of the
    # sums counts too: a few eps for the 10^4 terms of a dot product.
    eps = torch.finfo(expected.dtype).eps
    limit = eps if expected.element_size() == 2 else 16 * eps
    error = float(((found.double() - expected.double()).norm(dim=-1) / norms).max())
    if error <= limit:
        return None
    return f"its forward computes something else (relative error {error:.1g} on a test input)"


def activation_of(module: Any, layout: Layout) -> Any:
    return getattr(module, layout.activation, None)


def _qualified_name(value: Any) -> str:
    kind = type(value)
    return f"{kind.__module__}.{kind.__qualname__}"


def _describe(activation: Any) -> str:
    if isinstance(activation, torch.nn.Module):
        return repr(activation)
    return getattr(activation, "__name__", None) or _qualified_name(activation)
