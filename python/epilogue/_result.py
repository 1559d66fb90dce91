# SPDX-License-Identifier: Apache-2.0
"""What a verb returns: attributes from its JSON, and its text."""
from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Mapping, Optional

from . import _html
from ._library import JSON, MARKDOWN, TEXT


class Record(Mapping[str, Any]):
    """A JSON object: ``record.name`` is ``record["name"]``.

    Use ``record["items"]`` for names that a mapping has as methods.
    """

    def __init__(self, values: Dict[str, Any]) -> None:
        self._values = values

    def __getitem__(self, key: str) -> Any:
        return wrap(self._values[key])

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    if not TYPE_CHECKING:  # Type checkers know the fields from _types.py, and find other names.

        def __getattr__(self, name: str) -> Any:
            # Notebooks and copy ask for names that start with "_": no JSON field does.
            if name.startswith("_"):
                raise AttributeError(name)
            if name not in self._values:
                raise AttributeError(f'no field "{name}"; fields: {", ".join(self._values)}')
            return wrap(self._values[name])

    def __dir__(self) -> List[str]:
        return [*super().__dir__(), *self._values]

    def __repr__(self) -> str:
        return f"Record({self._values!r})"


def wrap(value: Any) -> Any:
    """Objects become records, also inside of lists."""
    if isinstance(value, dict):
        return Record(value)
    if isinstance(value, list):
        return [wrap(element) for element in value]
    return value


class Forms:
    """The forms of a result, by number."""

    def __init__(self, texts: Dict[int, str]) -> None:
        self._texts = texts

    def __call__(self, form: int) -> str:
        return self._texts[form]


class Result:
    """The result of a verb.

    ``print(result)`` shows the text of the command. The fields of its JSON are attributes. Each
    form is computed when it is first used; an invalid option raises :class:`epilogue.Error` then.

    >>> steps = trace.steps()
    >>> steps.steps[0].kernels
    5
    >>> steps["steps"][0]["name"]
    'ProfilerStep#2'
    >>> print(steps)                # also steps.text, steps.markdown, steps.json
    """

    def __init__(self, run: Callable[[int], str]) -> None:
        self._run = run
        self._forms: Dict[int, str] = {}
        self._json: Optional[Dict[str, Any]] = None

    def _form(self, form: int) -> str:
        if form not in self._forms:
            self._forms[form] = self._run(form)
        return self._forms[form]

    def detached(self) -> Result:
        """The same result without its trace: all forms are computed. It can be pickled."""
        return type(self)(Forms({form: self._form(form) for form in (TEXT, JSON, MARKDOWN)}))

    @property
    def json(self) -> Dict[str, Any]:
        """What the command prints with ``--json``, as a dict."""
        if self._json is None:
            self._json = json.loads(self._form(JSON))
            del self._forms[JSON]
        assert self._json is not None
        return self._json

    @property
    def text(self) -> str:
        """What the command prints."""
        return self._form(TEXT)

    @property
    def markdown(self) -> str:
        """What the command prints with ``--md``, for a pull request."""
        return self._form(MARKDOWN)

    def __getitem__(self, key: str) -> Any:
        return wrap(self.json[key])

    def __iter__(self) -> Iterator[str]:
        return iter(self.json)

    def __contains__(self, key: object) -> bool:
        return key in self.json

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):
                raise AttributeError(name)
            if name not in self.json:
                raise AttributeError(f'no field "{name}"; fields: {", ".join(self.json)}')
            return wrap(self.json[name])

    def __dir__(self) -> List[str]:
        return [*super().__dir__(), *self.json]

    def __str__(self) -> str:
        return self.text.rstrip("\n")

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return _html.preformatted(self.text)
