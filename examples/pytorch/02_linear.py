# SPDX-License-Identifier: Apache-2.0
"""A Linear: y = x @ w.t() + b is one kernel, with the bias in the GEMM's epilogue. Compiled, it is still that kernel.

    python 02_linear.py --in-dim 32 --out-dim 64 --trace linear_eager.json
"""
import torch
from recording import add_compile, compiled, parse, parser, record, sizes

flags = parser(__doc__.splitlines()[0])
sizes(flags, batch=1024, in_dim=32, out_dim=64)
flags.add_argument("--no-bias", "--no_bias", action="store_true", help="omit the bias")
add_compile(flags)
args = parse(flags)

layer = torch.nn.Linear(args.in_dim, args.out_dim, bias=not args.no_bias, device=args.device, dtype=args.dtype)
x = torch.randn(args.batch, args.in_dim, device=args.device, dtype=args.dtype)
function = compiled(layer, args)
record("linear_fwd", lambda: function(x), args)
