# SPDX-License-Identifier: Apache-2.0
"""add(matmul(x, w), b): two operators, two kernels; compiled, one kernel (addmm).

    python 01_matmul_add.py --size 64 --trace matmul_add_64.json
"""
import torch
from recording import add_compile, compiled, parse, parser, positive, record, sizes

flags = parser(__doc__.splitlines()[0])
sizes(flags, size=1024)
flags.add_argument("--rows", type=positive, metavar="N", help="rows of x and b, by default --size")
flags.add_argument("--cols", type=positive, metavar="N", help="columns of w and b, by default --size")
flags.add_argument("--bias", action="store_true", help="make b a vector, one value per column, as in a Linear")
flags.add_argument("--layout", choices=["nn", "tn"], default="nn", help="layout of w; tn: transposed, as in a Linear")
add_compile(flags)
args = parse(flags)

rows, cols = args.rows or args.size, args.cols or args.size
options = {"device": args.device, "dtype": args.dtype}
x = torch.randn(rows, args.size, **options)
w = torch.randn(cols, args.size, **options).t() if args.layout == "tn" else torch.randn(args.size, cols, **options)
b = torch.randn(cols, **options) if args.bias else torch.randn(rows, cols, **options)


def matmul_add(x, w, b):
    return torch.add(torch.matmul(x, w), b)


function = compiled(matmul_add, args)
record("matmul_add", lambda: function(x, w, b), args)
