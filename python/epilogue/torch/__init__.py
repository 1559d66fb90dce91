# SPDX-License-Identifier: Apache-2.0
"""The gated MLP of transformers as one PyTorch operator, with custom kernels on Hopper GPUs.

>>> import epilogue.torch
>>> print(epilogue.torch.patch(model))                 # replaces the MLPs of a model
>>> y = epilogue.torch.glu_mlp(x, gate, up, down)      # or call the operator

``docs/pytorch.md`` shows what runs where, and what it costs.
"""
from __future__ import annotations

from ._module import GluMlp
from ._operator import glu_mlp, glu_mlp_packed, prepare
from ._patch import PatchResult, patch, patched, unpatch
from ._reason import why

__all__ = [
    "GluMlp",
    "PatchResult",
    "glu_mlp",
    "glu_mlp_packed",
    "patch",
    "patched",
    "prepare",
    "unpatch",
    "why",
]
