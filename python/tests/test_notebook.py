# SPDX-License-Identifier: Apache-2.0
"""Runs examples/python/walkthrough.ipynb and compares its outputs with those in the repository."""
import json
import os
import runpy
import shutil
import subprocess
import sys

import pytest
from conftest import REPOSITORY

FOLDER = REPOSITORY / "examples/python"


def shown(notebook):
    """What each cell shows. Times and ids of the run are left out."""
    return [
        [output.get("data", output.get("text")) for output in cell.get("outputs", [])]
        for cell in notebook["cells"]
    ]


@pytest.fixture(scope="module")
def stored():
    return json.loads((FOLDER / "walkthrough.ipynb").read_text())


def test_cells_are_those_of_the_script(stored):
    made = runpy.run_path(str(FOLDER / "make_notebook.py"))["notebook"]()
    assert [cell["source"] for cell in stored["cells"]] == [cell["source"] for cell in made["cells"]]


def test_outputs_are_stored(stored):
    code = [cell for cell in stored["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] for cell in code)
    assert all(output["output_type"] != "error" for cell in code for output in cell["outputs"])


def test_outputs_are_current(stored, tmp_path):
    # `sys.executable -m nbconvert` would miss Debian's, which is not in a virtual environment.
    program = shutil.which("jupyter-nbconvert")
    if program is None:
        pytest.skip("jupyter-nbconvert is not installed")
    pytest.importorskip("pandas", reason="pandas is not installed")
    folder = tmp_path / "examples/python"
    folder.mkdir(parents=True)
    (tmp_path / "tests").symlink_to(REPOSITORY / "tests")
    shutil.copy(FOLDER / "walkthrough.ipynb", folder)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run(
        [program, "--to", "notebook", "--execute", "--output", "out.ipynb", "walkthrough.ipynb"],
        cwd=folder, env=environment, capture_output=True, text=True,
    )
    assert done.returncode == 0, done.stderr
    assert shown(json.loads((folder / "out.ipynb").read_text())) == shown(stored)
