# SPDX-License-Identifier: Apache-2.0
"""Claims about one run: a value each, and whether it holds."""


class Claims:
    def __init__(self, quiet):
        self.broken, self.figures, self.quiet = 0, {}, quiet

    def note(self, text):
        if not self.quiet:
            print(text, flush=True)

    def add(self, text, value, ok, **more):
        self.figures[text] = {"value": value, "ok": bool(ok), **more}
        self.broken += not ok
        self.note(f"{'ok    ' if ok else 'BROKEN'} {text}: {value:.3f}  {more if more else ''}")
