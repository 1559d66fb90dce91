# SPDX-License-Identifier: Apache-2.0
"""Gate, up and activation as one Triton kernel for many rows: what a good engineer writes in an afternoon.

The weights are copied and interleaved row by row (gate, up, gate, up, ...), so that the epilogue combines the even
columns of a block with the odd ones.
"""
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

# Rows, columns of both GEMMs, depth, warps, stages, block rows that are scheduled together.
CONFIGS = [(128, 256, 64, 8, 3, 8), (128, 256, 64, 8, 4, 8), (128, 256, 64, 8, 4, 16),
           (256, 128, 64, 8, 3, 8), (256, 128, 64, 8, 4, 8), (128, 128, 64, 4, 4, 8)]


@triton.jit
def block(x, w, out, m, n, k, GELU: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
          DEPTH: tl.constexpr, TOGETHER: tl.constexpr, PROCESSORS: tl.constexpr):
    row_blocks = tl.cdiv(m, ROWS)
    column_blocks = tl.cdiv(n, COLUMNS)
    for index in tl.range(tl.program_id(0), row_blocks * column_blocks, PROCESSORS, flatten=True):
        first = index // (TOGETHER * column_blocks) * TOGETHER
        height = min(row_blocks - first, TOGETHER)
        inside = index % (TOGETHER * column_blocks)
        row = (first + inside % height) * ROWS
        column = inside // height * COLUMNS
        sums = tl.zeros((ROWS, COLUMNS), tl.float32)
        for step in range(tl.cdiv(k, DEPTH)):
            sums = tl.dot(x.load([row, step * DEPTH]), w.load([column, step * DEPTH]).T, sums)
        gate, up = tl.split(tl.reshape(sums, (ROWS, COLUMNS // 2, 2)))
        if GELU:
            inner = 1.5957691216057308 * gate * (1 + 0.044715 * gate * gate)
        else:
            inner = gate
        out.store([row, column // 2], (gate * tl.sigmoid(inner) * up).to(tl.bfloat16))


class TritonGlu(torch.nn.Module):
    """An MLP with this kernel for gate and up, and `torch.mm` for down. The activation is silu or gelu_tanh."""

    def __init__(self, mlp, x, activation):
        super().__init__()
        gate, up = mlp.gate_proj.weight, mlp.up_proj.weight
        self.weight = torch.stack([gate, up], 1).reshape(2 * len(gate), -1).contiguous()
        self.down = mlp.down_proj.weight
        self.hidden = torch.empty(len(x), len(gate), device=x.device, dtype=x.dtype)
        self.gelu = activation == "gelu_tanh"
        self.processors = torch.cuda.get_device_properties(x.device).multi_processor_count
        self.config = CONFIGS[0]

    def fastest_config(self, x, time_us):
        def time_of(config):
            try:
                return time_us(lambda: self.gate_up(x, config))
            except Exception:  # exceeds the shared memory or registers
                return float("inf")

        return min(CONFIGS, key=time_of)

    def gate_up(self, x, config):
        rows, columns, depth, warps, stages, together = config
        describe = TensorDescriptor.from_tensor
        block[(self.processors,)](
            describe(x, [rows, depth]), describe(self.weight, [columns, depth]),
            describe(self.hidden, [rows, columns // 2]), len(x), len(self.weight), x.shape[1],
            self.gelu, rows, columns, depth, together, self.processors,
            num_warps=warps, num_stages=stages)
        return self.hidden

    def forward(self, x):
        return torch.mm(self.gate_up(x, self.config), self.down.t())
