# SPDX-License-Identifier: Apache-2.0
"""Writes walkthrough.ipynb without outputs. To run it in place:

    python3 examples/python/make_notebook.py
    jupyter-nbconvert --to notebook --execute --inplace --ExecutePreprocessor.record_timing=False \
        examples/python/walkthrough.ipynb
"""
import json
from pathlib import Path

CELLS = [
    "# What did `torch.compile` change?\n\nTwo traces of the same MLP, eager and compiled. "
    "[docs/python.md](../../docs/python.md) explains each call. With PyTorch, "
    "`epilogue.record(model, x)` returns such a trace.",
    ">import epilogue\n\neager = epilogue.read(\"../../tests/data/traces/mlp_eager.json\")\neager",
    "## Where the time goes",
    ">eager.breakdown()",
    "## Kernels as a table",
    ">eager.kernels",
    ">frame = eager.kernels.to_pandas()\nframe.groupby(\"kind\", observed=True)[\"dur_ns\"].describe()",
    "## SQL",
    ">eager.query(\"\"\"\n    select o.name, count(*) kernels, sum(k.dur_ns) / 1000.0 us\n"
    "    from kernels k join ops o on k.op = o.id group by o.name order by us desc\"\"\")",
    "## Eager and compiled",
    ">compiled = epilogue.read(\"../../tests/data/traces/mlp_compile.json\")\n"
    "epilogue.compare(eager, compiled, under=\"mlp_fwd\")",
    "## Checks",
    ">eager.expect([\"mlp_fwd: kernels == 5\", \"step: no sync\"])",
    ">try:\n    compiled.expect(\"mlp_fwd: kernels == 5\")\n"
    "except epilogue.ExpectationError as error:\n    print(error)",
]


def cell(number, text):
    is_code = text.startswith(">")
    source = text[1:] if is_code else text
    made = {
        "cell_type": "code" if is_code else "markdown",
        "id": f"cell-{number}",
        "metadata": {},
        "source": source.splitlines(keepends=True),
    }
    return {**made, "execution_count": None, "outputs": []} if is_code else made


def notebook():
    return {
        "cells": [cell(number, text) for number, text in enumerate(CELLS)],
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


if __name__ == "__main__":
    path = Path(__file__).with_name("walkthrough.ipynb")
    path.write_text(json.dumps(notebook(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
