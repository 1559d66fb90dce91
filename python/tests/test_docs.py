# SPDX-License-Identifier: Apache-2.0
"""Runs the examples of docs/python.md, and compares the outputs that it shows."""
import contextlib
import importlib.util
import io
import re

import pytest
from conftest import PLUGIN, REPOSITORY

PAGE = REPOSITORY / "docs/python.md"
BLOCK = re.compile(r"^```python(?P<kind>[ \w]*)\n(?P<code>.*?)^```\n(?:```text\n(?P<output>.*?)^```\n)?", re.M | re.S)
HAS_TORCH = importlib.util.find_spec("torch") is not None


def blocks(kind):
    return [block for block in BLOCK.finditer(PAGE.read_text()) if block["kind"].strip() == kind]


def needs_torch(code):
    return re.search(r"\btorch\b|epilogue\.(record|profile)\(|\bp\.trace\b", code) is not None


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Examples write into the current folder."""
    (tmp_path / "tests").symlink_to(REPOSITORY / "tests")
    monkeypatch.chdir(tmp_path)


def run(block, names):
    line = PAGE.read_text()[: block.start("code")].count("\n")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile("\n" * line + block["code"], str(PAGE), "exec"), names)
    if block["output"] is not None:
        lines = [text.rstrip() for text in printed.getvalue().splitlines()]
        assert lines == block["output"].splitlines(), f"{PAGE}:{line}"


def test_examples_without_torch(folder):
    pytest.importorskip("pandas", reason="pandas is not installed")
    names = {}
    found = [block for block in blocks("") if not needs_torch(block["code"])]
    assert len(found) >= 9
    for block in found:
        run(block, names)


@pytest.mark.skipif(not HAS_TORCH, reason="PyTorch is not installed")
def test_examples_with_torch(folder):
    names = {}
    found = [block for block in blocks("") if needs_torch(block["code"])]
    assert len(found) >= 3
    for block in found:
        run(block, names)


def test_examples_for_a_gpu(folder):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    if not torch.cuda.is_available():
        pytest.skip("no GPU")
    names = {}
    run(blocks("")[0], names)
    for block in blocks("gpu"):
        run(block, names)


@pytest.mark.skipif(not HAS_TORCH, reason="PyTorch is not installed")
def test_examples_for_pytest(pytester):
    (block,) = blocks("pytest")
    pytester.makepyfile(test_mlp=block["code"])
    options = (*PLUGIN, "-p", "no:cacheprovider")
    pytester.runpytest_subprocess(*options, "--epilogue-update").assert_outcomes(passed=2)
    pytester.runpytest_subprocess(*options).assert_outcomes(passed=2)
