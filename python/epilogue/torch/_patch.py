# SPDX-License-Identifier: Apache-2.0
"""Replaces the forward pass of the gated MLPs of a model by the operator, and restores it.

A patched module changes its class and nothing else: the new class derives from the old one and
overrides ``forward``. Hooks, adapters, parametrizations and quantization may be added after
patching, so each call first checks that the module is still plain, else it runs the original
``forward``.
"""
from __future__ import annotations

import copy
import functools
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, Optional, Tuple

import torch

from ._library import DTYPES
from ._operator import glu_mlp, glu_mlp_packed
from ._reason import why
from ._recognize import (
    SEPARATE,
    Layout,
    activation_name,
    activation_of,
    are_plain,
    are_untouched,
    find_layout,
    why_not_gated_mlp,
)

_Tensor: Any = torch.Tensor
_Parameter: Any = torch.nn.Parameter
_Linear: Any = torch.nn.Linear


@dataclass(frozen=True)
class PatchedModule:
    """A module that runs the operator. ``class_name`` is the class before patching."""

    name: str
    class_name: str


@dataclass(frozen=True)
class LeftModule:
    """A gated MLP that was not patched."""

    name: str
    class_name: str
    reason: str


@dataclass(frozen=True)
class PatchResult:
    """What ``patch`` changed, and what it left alone. ``str()`` gives a summary."""

    patched: List[PatchedModule]
    left: List[LeftModule]

    def __str__(self) -> str:
        total = len(self.patched) + len(self.left)
        if total == 0:
            return "found no gated MLP"
        classes = Counter(module.class_name for module in self.patched)
        counts = ", ".join(f"{count} {name}" for name, count in classes.items())
        lines = [f"patched {len(self.patched)} of {total} MLPs" + (f": {counts}" if counts else "")]
        for reason, count in Counter(module.reason for module in self.left).items():
            first = next(module for module in self.left if module.reason == reason)
            lines.append(f"left {count} (first: {first.name or 'the model itself'}): {reason}")
        return "\n".join(lines)


def patch(model: Any, force: bool = False) -> PatchResult:
    """Makes the gated MLPs of ``model`` run the operator, in place.

    Parameters stay where they are. Code for the GPU is generated now, so that a CUDA graph can
    capture the model later. MLPs that the kernel does not apply to are left alone. With ``force``,
    those whose only obstacle is the device or the dtype are patched too, for example because the
    model moves to the GPU later.

    >>> print(epilogue.torch.patch(model))
    patched 32 of 32 MLPs: 32 LlamaMLP
    """
    return _patch(model, force)[0]


def unpatch(model: Any) -> int:
    """Restores the modules that ``patch`` changed and returns their number."""
    return sum(_restore(module) for module in model.modules())


@contextmanager
def patched(model: Any, force: bool = False) -> Iterator[PatchResult]:
    """Patches ``model`` for a ``with`` block. Modules that were patched before stay patched."""
    result, modules = _patch(model, force)
    try:
        yield result
    finally:
        for module in modules:
            _restore(module)


def _patch(model: Any, force: bool) -> Tuple[PatchResult, List[Any]]:
    result = PatchResult([], [])
    changed: List[Any] = []
    try:
        for name, module in list(model.named_modules()):
            original = _original_class(module)
            if original is not None:
                result.patched.append(PatchedModule(name, original.__name__))
                continue
            layout = find_layout(module)
            if layout is None:
                continue
            class_name = type(module).__name__
            reason = why_not_gated_mlp(module, layout) or _why_left(module, layout, force)
            if reason is not None:
                result.left.append(LeftModule(name, class_name, reason))
                continue
            module.__class__ = _class_for(module, layout)
            changed.append(module)
            result.patched.append(PatchedModule(name, class_name))
    except BaseException:  # for example Ctrl-C while code is generated
        for module in changed:
            _restore(module)
        raise
    return result, changed


def _original_class(module: Any) -> Any:
    # Not inherited: a class that derives from ours, such as one of FSDP, cannot be restored.
    return vars(type(module)).get("_epilogue_original")


def _restore(module: Any) -> bool:
    original = _original_class(module)
    if original is None:
        return False
    module.__class__ = original
    return True


def _why_left(module: Any, layout: Layout, force: bool) -> Optional[str]:
    """The reason why the kernels do not apply. Generates the code of a new kind of block."""
    gate, *up, down = [module._modules[name] for name in layout.projections]
    weight = gate.weight
    if weight.device.type != "cuda" or weight.dtype not in DTYPES:
        if force:
            return None
        dtype = str(weight.dtype)[6:]
        return f"the weights are {dtype} on {weight.device.type}: the kernels need 16 bits on a CUDA GPU"
    activation = activation_name(activation_of(module, layout))
    assert activation is not None
    up_weight, up_bias = (up[0].weight, up[0].bias) if up else (None, None)
    x = weight.new_empty((1, weight.shape[1]))
    return why(x, weight, up_weight, down.weight, activation, gate.bias, up_bias, down.bias)


def _class_for(module: Any, layout: Layout) -> Any:
    original: Any = type(module)
    activation = activation_of(module, layout)
    kind: Any = type(activation)
    function = None
    if not isinstance(activation, torch.nn.Module):
        kind, function = type(None), activation
    gelu_form = activation.approximate if kind is torch.nn.GELU else None
    return _make_class(original, layout, activation_name(activation), kind, function, gelu_form)


@functools.lru_cache(maxsize=None)
def _make_class(
    original: Any,
    layout: Layout,
    activation: str,
    act_class: Any,
    act_function: Any,
    gelu_form: Optional[str],
) -> Any:
    """The class of a patched module. The activation is a module or, without a class, a function."""
    act_name = layout.activation

    # Both: a parameter that is missing, because a tool has moved it, is `self`, so not plain.
    def forward_separate(self: Any, *args: Any, **kwargs: Any) -> Any:
        modules = self._modules
        gate, up, down = modules.get("gate_proj"), modules.get("up_proj"), modules.get("down_proj")
        act = modules.get(act_name)
        if (
            type(gate) is _Linear
            and type(up) is _Linear
            and type(down) is _Linear
            and type(act) is act_class
            and (act_function is None or getattr(self, act_name, None) is act_function)
            and (gelu_form is None or act.approximate == gelu_form)
            and are_untouched((gate, up, down, act))
            and len(args) == 1
            and not kwargs
        ):
            x = args[0]
            gate, up, down = gate._parameters, up._parameters, down._parameters
            g, u, d = gate.get("weight", self), up.get("weight", self), down.get("weight", self)
            gb, ub, db = gate.get("bias", self), up.get("bias", self), down.get("bias", self)
            if (
                type(x) is _Tensor  # The usual case, without the loop.
                and type(g) is type(u) is type(d) is _Parameter
                and gb is ub is db is None
            ) or are_plain((x, g, u, d, gb, ub, db)):
                return glu_mlp(x, g, u, d, activation, gb, ub, db)
        return original.forward(self, *args, **kwargs)

    def forward_packed(self: Any, *args: Any, **kwargs: Any) -> Any:
        modules = self._modules
        gate_up, down = modules.get("gate_up_proj"), modules.get("down_proj")
        act = modules.get(act_name)
        if (
            type(gate_up) is _Linear
            and type(down) is _Linear
            and type(act) is act_class
            and (act_function is None or getattr(self, act_name, None) is act_function)
            and (gelu_form is None or act.approximate == gelu_form)
            and are_untouched((gate_up, down, act))
            and len(args) == 1
            and not kwargs
        ):
            x = args[0]
            gate_up, down = gate_up._parameters, down._parameters
            g, d = gate_up.get("weight", self), down.get("weight", self)
            gb, db = gate_up.get("bias", self), down.get("bias", self)
            if are_plain((x, g, d, gb, db)):
                return glu_mlp_packed(x, g, d, activation, gb, db)
        return original.forward(self, *args, **kwargs)

    def reduce_ex(self: Any, protocol: Any) -> Any:
        # A saved model loads as the original class, also where this package is not installed.
        # Protocol 1, because later ones insist on the class of the object.
        function, args, *rest = original.__reduce_ex__(self, 1)
        args = tuple(original if value is patched_class else value for value in args)
        return (function, args, *rest)

    def deepcopy(self: Any, memo: Dict[int, Any]) -> Any:
        if hasattr(original, "__deepcopy__"):
            clone = original.__deepcopy__(self, memo)
        else:
            function, args, state = self.__reduce_ex__(1)[:3]
            clone = function(*args)
            memo[id(self)] = clone
            clone.__setstate__(copy.deepcopy(state, memo))
        if type(clone) is original:
            clone.__class__ = type(self)
        return clone

    patched_class = type(original)(
        f"Epilogue{original.__name__}",
        (original,),
        {
            "__module__": original.__module__,
            "__doc__": original.__doc__,
            "_epilogue_original": original,
            "forward": forward_separate if layout == SEPARATE else forward_packed,
            "__reduce_ex__": reduce_ex,
            "__deepcopy__": deepcopy,
        },
    )
    return patched_class
