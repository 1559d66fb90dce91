# SPDX-License-Identifier: Apache-2.0
"""The console scripts ``epilogue`` and ``epi``: they run the command that the wheel contains."""
from __future__ import annotations

import os
import sys
from pathlib import Path


def main() -> int:
    """Replaces this process by the command, with the same arguments."""
    program = Path(__file__).with_name("_lib") / "epilogue"
    try:
        os.execv(program, ["epilogue", *sys.argv[1:]])
    except OSError as error:
        print(f"epilogue: {program}: cannot be run: {error.strerror}", file=sys.stderr)
        return 2
