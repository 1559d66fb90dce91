# SPDX-License-Identifier: Apache-2.0
"""The same MLP with a hand-written kernel for gelu(gate) * up: no compiler, no guards, any shape.

    python 03_kernels_mlp.py --trace mlp_liger.json

--kernels liger uses Liger's GEGLU layer from the `kernels` package (pip install kernels) or from `liger_kernel`.
--kernels triton uses the kernel in geglu_triton.py. The default is the first one that is installed.
"""
import types

from glu_mlp import GluMlp, random_input
from recording import parse, parser, record, sizes

LIGER = "kernels-community/liger_kernels"

flags = parser(__doc__.splitlines()[0])
sizes(flags, batch=64, seq=128, dim=768, hidden=3072)
flags.add_argument("--kernels", choices=["auto", "liger", "triton"], default="auto")
args = parse(flags)
args.activation = "geglu"


def liger_forward():
    """The forward of Liger's layer, which uses the projections of the module it is bound to, or None if not installed."""
    try:
        from kernels import get_kernel

        return get_kernel(LIGER).layers.LigerGEGLUMLP.forward
    except ImportError:
        pass
    try:
        from liger_kernel.transformers.geglu import LigerGEGLUMLP

        return LigerGEGLUMLP.forward
    except ImportError:
        return None


def triton_forward():
    try:
        from geglu_triton import gelu_mul
    except ImportError:
        return None
    return lambda self, x: self.down_proj(gelu_mul(self.gate_proj(x), self.up_proj(x)))


if args.device != "cuda":
    flags.error("the kernels are written in Triton: they need a GPU")
forward = liger_forward() if args.kernels != "triton" else None
if forward is None and args.kernels == "liger":
    flags.error("--kernels liger: pip install kernels, or liger-kernel")
chosen = "liger" if forward else "triton"
forward = forward or triton_forward()
if forward is None:
    flags.error("none of kernels, liger_kernel and triton can be imported: pip install kernels")
print(f"kernels: {chosen}")

mlp = GluMlp(args)
mlp.forward = types.MethodType(forward, mlp)
x = random_input(args)
record("mlp_fwd", lambda: mlp(x), args)
