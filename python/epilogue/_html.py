# SPDX-License-Identifier: Apache-2.0
"""HTML for notebooks."""
from __future__ import annotations

from typing import Any, Iterable, Sequence

_PRE = "line-height:1.25;overflow-x:auto;white-space:pre"


def escape(text: str) -> str:
    """``html.escape``, imported when it is first used: most programs show no HTML."""
    from html import escape as html_escape

    return html_escape(text)


def preformatted(text: str) -> str:
    """The text as the command prints it."""
    return f'<pre style="{_PRE}">{escape(text)}</pre>'


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]], caption: str) -> str:
    """A table: numbers to the right, strings to the left and cut."""
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = "".join(f"<tr>{''.join(_cell(value) for value in row)}</tr>" for row in rows)
    return (
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        f"<p>{escape(caption)}</p>"
    )


def _cell(value: Any) -> str:
    if value is None:
        return "<td></td>"
    if isinstance(value, (int, float)):
        return f'<td style="text-align:right">{value}</td>'
    text = str(value)
    shown = text if len(text) <= 60 else text[:59] + "…"
    return f'<td style="text-align:left" title="{escape(text)}">{escape(shown)}</td>'
