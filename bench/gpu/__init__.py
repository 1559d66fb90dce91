# SPDX-License-Identifier: Apache-2.0
"""What bench/gpu_blocks.py consists of: the modes of a block, timing, results."""


class BenchError(Exception):
    """Why there is nothing to measure. The message tells the user what to change."""
