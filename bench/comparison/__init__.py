# SPDX-License-Identifier: Apache-2.0
"""The parts of against_torch.py, and what they share: blocks, claims, timing, traces, our program."""
