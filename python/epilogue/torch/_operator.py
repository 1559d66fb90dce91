# SPDX-License-Identifier: Apache-2.0
"""The operators ``epilogue::glu_mlp`` and ``epilogue::glu_mlp_forward``.

Both compute ``down(act(gate(x)) * up(x))``. ``glu_mlp`` has biases and gradients. PyTorch implements
gradients in Python, which costs several microseconds in every call, so ``glu_mlp_forward`` is the
same without them, for calls that need neither. The CUDA kernels are registered from C++
(epilogue/torch/glu_operator.cpp).
"""
from __future__ import annotations

import warnings
from typing import Any, Callable, Dict, Optional, Set, Tuple

import torch
import torch.nn.functional as F
from torch.autograd import forward_ad

from . import _library
from ._library import ACTIVATIONS, NAMES
from ._reason import activation_code, device_reason, dtype_reason, unknown_activation, why

Tensor = Any  # torch.Tensor
Kernel = Callable[..., Tensor]

_FORWARD_SCHEMA = "(Tensor x, Tensor gate, Tensor? up, Tensor down, int activation) -> Tensor"
_SCHEMA = (
    "(Tensor x, Tensor gate, Tensor? up, Tensor down, Tensor? gate_bias, Tensor? up_bias, "
    "Tensor? down_bias, int activation) -> Tensor"
)


def activate(x: Tensor, activation: str) -> Tensor:
    """The activation in ATen."""
    if activation == "silu":
        return F.silu(x)
    if activation == "relu":
        return F.relu(x)
    return F.gelu(x, approximate="tanh" if activation == "gelu_tanh" else "none")


def _activate_backward(grad: Tensor, x: Tensor, activation: int) -> Tensor:
    name = NAMES[activation]
    if name == "silu":
        return torch.ops.aten.silu_backward(grad, x)
    if name == "relu":
        return torch.ops.aten.threshold_backward(grad, x, 0)
    approximate = "tanh" if name == "gelu_tanh" else "none"
    return torch.ops.aten.gelu_backward(grad, x, approximate=approximate)


def _gate_and_up(
    x: Tensor, gate: Tensor, up: Optional[Tensor], gate_bias: Optional[Tensor], up_bias: Optional[Tensor]
) -> Tuple[Tensor, Tensor]:
    if up is None:
        both = F.linear(x, gate, gate_bias).chunk(2, -1)
        return both[0], both[1]
    return F.linear(x, gate, gate_bias), F.linear(x, up, up_bias)


def _aten(
    x: Tensor,
    gate: Tensor,
    up: Optional[Tensor],
    down: Tensor,
    gate_bias: Optional[Tensor],
    up_bias: Optional[Tensor],
    down_bias: Optional[Tensor],
    activation: int,
) -> Tensor:
    g, u = _gate_and_up(x, gate, up, gate_bias, up_bias)
    return F.linear(activate(g, NAMES[activation]) * u, down, down_bias)


_reported: Set[str] = set()


def _run_aten(
    x: Tensor,
    gate: Tensor,
    up: Optional[Tensor],
    down: Tensor,
    gate_bias: Optional[Tensor],
    up_bias: Optional[Tensor],
    down_bias: Optional[Tensor],
    activation: int,
) -> Tensor:
    """The implementation where the custom kernels do not apply. Reports each reason once."""
    reason = why(x, gate, up, down, NAMES[activation], gate_bias, up_bias, down_bias)
    if reason is not None and reason not in _reported:
        _reported.add(reason)
        warnings.warn(f"epilogue.torch.glu_mlp runs ATen: {reason}", stacklevel=2)
    return _aten(x, gate, up, down, gate_bias, up_bias, down_bias, activation)


def _fake(
    x: Tensor,
    gate: Tensor,
    up: Optional[Tensor],
    down: Tensor,
    gate_bias: Optional[Tensor],
    up_bias: Optional[Tensor],
    down_bias: Optional[Tensor],
    activation: int,
) -> Tensor:
    # The output of the kernels is contiguous.
    return x.new_empty((*x.shape[:-1], down.shape[0]))


def _setup_context(ctx: Any, inputs: Tuple[Any, ...], output: Tensor) -> None:
    ctx.save_for_backward(*inputs[:7])
    ctx.activation = inputs[7]


def _backward(ctx: Any, grad: Tensor) -> Tuple[Optional[Tensor], ...]:
    """Computes gate and up again with ATen, instead of keeping them: 8 GEMMs instead of 6."""
    x, gate, up, down, gate_bias, up_bias, down_bias = ctx.saved_tensors
    need = ctx.needs_input_grad
    k, n, out = x.shape[-1], down.shape[1], down.shape[0]
    rows, grads = x.reshape(-1, k), grad.reshape(-1, out)
    g, u = _gate_and_up(rows, gate, up, gate_bias, up_bias)
    active = activate(g, NAMES[ctx.activation])
    result: Dict[int, Tensor] = {}
    if need[3]:
        result[3] = grads.t() @ (active * u)
    if need[6]:
        result[6] = grads.sum(0)
    if not any(need[i] for i in (0, 1, 2, 4, 5)):
        return tuple(result.get(i) for i in range(8))
    hidden = grads @ down
    grad_g = _activate_backward(hidden * u, g, ctx.activation)
    grad_u = hidden * active
    if up is None:
        grad_g = torch.cat((grad_g, grad_u), -1)
    if need[0]:
        grad_x = grad_g @ gate if up is None else grad_g @ gate + grad_u @ up
        result[0] = grad_x.reshape(x.shape)
    if need[1]:
        result[1] = grad_g.t() @ rows
    if need[4]:
        result[4] = grad_g.sum(0)
    if up is not None and need[2]:
        result[2] = grad_u.t() @ rows
    if up is not None and need[5]:
        result[5] = grad_u.sum(0)
    return tuple(result.get(i) for i in range(8))


def _autocast(name: str, device: str) -> Kernel:
    """The operator under ``torch.autocast``: casts to the dtype of the context, but not float64."""
    key = torch._C.DispatchKey.AutocastCUDA if device == "cuda" else torch._C.DispatchKey.AutocastCPU
    keys = torch._C.DispatchKeySet(key)

    def cast(argument: Any) -> Any:
        if not isinstance(argument, torch.Tensor) or argument.device.type != device:
            return argument
        if not argument.is_floating_point() or argument.dtype == torch.float64:
            return argument
        return argument.to(torch.get_autocast_dtype(device))

    def run(*arguments: Any) -> Tensor:
        cast_arguments = [cast(argument) for argument in arguments]
        with torch._C._ExcludeDispatchKeyGuard(keys):
            return getattr(torch.ops.epilogue, name).default(*cast_arguments)

    return run


def _without_biases(kernel: Kernel) -> Kernel:
    """The same for the arguments of ``glu_mlp_forward``."""

    def run(x: Tensor, gate: Tensor, up: Optional[Tensor], down: Tensor, activation: int) -> Tensor:
        return kernel(x, gate, up, down, None, None, None, activation)

    return run


def _define(name: str, schema: str, adapt: Callable[[Kernel], Kernel]) -> None:
    _torch_library.define(name + schema, tags=(torch.Tag.pt2_compliant_tag,))
    _torch_library.impl(name, adapt(_run_aten), "CompositeExplicitAutograd")
    _torch_library.impl(name, _autocast(name, "cuda"), "AutocastCUDA")
    _torch_library.impl(name, _autocast(name, "cpu"), "AutocastCPU")
    torch.library.register_fake(f"epilogue::{name}", adapt(_fake), lib=_torch_library)


def _register() -> None:
    """Registers the operators. Where PyTorch refuses the CUDA kernels, ``_run_aten`` serves CUDA too."""
    _define("glu_mlp", _SCHEMA, lambda kernel: kernel)
    _define("glu_mlp_aten", _SCHEMA, lambda kernel: kernel)
    _define("glu_mlp_forward", _FORWARD_SCHEMA, _without_biases)
    # No PyTorch code for gradients runs, not even the code that warns about missing ones.
    _torch_library.impl("glu_mlp_forward", torch.library.fallthrough_kernel, "Autograd")
    torch.library.register_autograd(
        "epilogue::glu_mlp", _backward, setup_context=_setup_context, lib=_torch_library
    )
    _library.register_kernels()


_torch_library = torch.library.Library("epilogue", "FRAGMENT")
_register()

# Names of this module are looked up faster than attributes of torch.
_is_grad_enabled = torch.is_grad_enabled
_is_tracing = torch.compiler.is_dynamo_compiling
_is_transformed = torch._C._are_functorch_transforms_active
_complete = torch.ops.epilogue.glu_mlp.default
_forward = torch.ops.epilogue.glu_mlp_forward.default
_forward_now = _forward._op  # without a Python call in between, which torch.compile needs


# torch.func and forward-mode gradients need the rules of ATen's operators.


def glu_mlp(
    x: Tensor,
    gate: Tensor,
    up: Tensor,
    down: Tensor,
    activation: str = "silu",
    gate_bias: Optional[Tensor] = None,
    up_bias: Optional[Tensor] = None,
    down_bias: Optional[Tensor] = None,
) -> Tensor:
    """``down(act(gate(x)) * up(x))`` with the weights of ``nn.Linear``: two kernels on Hopper.

    x is ``[..., k]``, gate and up are ``[n, k]``, down is ``[out, n]``. activation is "silu",
    "gelu", "gelu_tanh" or "relu". Where the custom kernels do not apply, ATen runs, and a warning
    gives the reason once (``why``).

    >>> y = epilogue.torch.glu_mlp(x, mlp.gate_proj.weight, mlp.up_proj.weight, mlp.down_proj.weight)
    """
    code = ACTIVATIONS.get(activation)
    if code is None:
        raise unknown_activation(activation)
    if not _is_tracing() and (_is_transformed() or forward_ad._current_level >= 0):
        return _aten(x, gate, up, down, gate_bias, up_bias, down_bias, code)
    if gate_bias is None and up_bias is None and down_bias is None:
        if not _is_grad_enabled() or not (
            x.requires_grad or gate.requires_grad or up.requires_grad or down.requires_grad
        ):
            forward = _forward if _is_tracing() else _forward_now
            return forward(x, gate, up, down, code)
    return _complete(x, gate, up, down, gate_bias, up_bias, down_bias, code)


def glu_mlp_packed(
    x: Tensor,
    gate_up: Tensor,
    down: Tensor,
    activation: str = "silu",
    gate_up_bias: Optional[Tensor] = None,
    down_bias: Optional[Tensor] = None,
) -> Tensor:
    """As ``glu_mlp``. gate_up is ``[2 * n, k]``: the rows of gate, then those of up."""
    code = ACTIVATIONS.get(activation)
    if code is None:
        raise unknown_activation(activation)
    if not _is_tracing() and (_is_transformed() or forward_ad._current_level >= 0):
        return _aten(x, gate_up, None, down, gate_up_bias, None, down_bias, code)
    if gate_up_bias is None and down_bias is None:
        if not _is_grad_enabled() or not (
            x.requires_grad or gate_up.requires_grad or down.requires_grad
        ):
            forward = _forward if _is_tracing() else _forward_now
            return forward(x, gate_up, None, down, code)
    return _complete(x, gate_up, None, down, gate_up_bias, None, down_bias, code)


def prepare(
    device_index: int,
    dtype: Any,
    activation: str,
    k: int,
    n: int,
    out: int,
    has_gate_bias: bool = False,
    has_up_bias: bool = False,
    has_down_bias: bool = False,
) -> Optional[str]:
    """Generates the code of such blocks, or loads it from the cache, ahead of a graph capture.

    Returns the reason if the custom kernels do not apply to them.
    """
    code = activation_code(activation)
    reason = device_reason(device_index)
    if reason is None and dtype not in _library.DTYPES:
        reason = dtype_reason("the weights are", dtype)
    if reason is not None:
        return reason
    biases = (has_gate_bias, has_up_bias, has_down_bias)
    return _library.prepare(_library.make_block(device_index, dtype, code, k, n, out, *biases)) or None
