# SPDX-License-Identifier: Apache-2.0
"""Rules of ``expect``: what a check returns, and what it raises."""
from __future__ import annotations

from typing import Any, List, Optional, Sequence, Union

from ._types import ExpectResult


class CheckResult(ExpectResult):
    """The result of :meth:`Trace.expect`."""

    @property
    def ok(self) -> bool:  # type: ignore[override]  # for several files, computed here
        """True if all rules hold for all files."""
        return all(file["ok"] for file in self.json.get("files", [self.json]))


class ExpectationError(AssertionError):
    """A rule of :meth:`Trace.expect` is broken. The message lists what was found.

    ``result`` has the details: ``error.result.rules[0].found``.
    """

    def __init__(self, result: CheckResult) -> None:
        super().__init__("not all rules hold\n" + result.text.rstrip("\n"))
        self.result = result

    def __reduce__(self) -> Any:
        # A process that receives the error has no trace: the result keeps its forms.
        return ExpectationError, (self.result.detached(),)


def rule_list(rules: Union[str, Sequence[str]]) -> Optional[List[str]]:
    """The rules of a string, one per line without comments, or of a list. None if it has none."""
    if not isinstance(rules, str):
        return list(rules) or None
    lines = [line.strip() for line in rules.splitlines()]
    return [line for line in lines if line and not _is_comment(line)] or None


def _is_comment(line: str) -> bool:
    return line.startswith("#") and not line.startswith("##")  # names of PyTorch start with ##
