# SPDX-License-Identifier: Apache-2.0
"""``python -m epilogue``: the command of the wheel."""
from ._command import main

main()
