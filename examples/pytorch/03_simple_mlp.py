# SPDX-License-Identifier: Apache-2.0
"""A gated MLP, down(gelu(gate(x)) * up(x)): five kernels; compiled, gelu and mul are fused.

    python 03_simple_mlp.py --batch 64 --seq 128 --trace mlp_eager.json
"""
from glu_mlp import ACTIVATIONS, GluMlp, random_input
from recording import add_compile, compiled, parse, parser, record, sizes

flags = parser(__doc__.splitlines()[0])
sizes(flags, batch=64, seq=128, dim=768, hidden=3072)
flags.add_argument("--activation", choices=ACTIVATIONS, default="geglu")
add_compile(flags)
args = parse(flags)

x = random_input(args)
function = compiled(GluMlp(args), args)
record("mlp_fwd", lambda: function(x), args)
