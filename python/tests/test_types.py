# SPDX-License-Identifier: Apache-2.0
"""mypy knows the fields of results, and finds names that are not fields."""
import os
import shutil
import subprocess

import pytest
from conftest import REPOSITORY

VALID = """\
import epilogue

trace = epilogue.read("trace.json")
kernels: int = trace.steps().steps[0].kernels
regime: str = trace.summary().regime
gpu_us: float = trace.summary().files[0].kernels[0].gpu_us
m = trace.gemms().gemms[0].m
bound = trace.breakdown(critical=True).path[0].bound
last: int = trace.run("ranks").ranks[0].arrived_last
rows = trace.run("query", sql="select 1").rows
ok: bool = trace.expect("step: no sync").ok
same: bool = epilogue.compare(trace, trace).same_gpu_work
old = trace.steps(json=1)["steps"][0]["busy"]
"""
# Each with the name that mypy shall report.
TYPOS = [
    ("trace.steps().steps[0].kernel", '"kernel"'),
    ("trace.summary().regimes", '"regimes"'),
    ("trace.steps().files[0].step", '"step"'),
    ("trace.run('ranks').ranks[0].last", '"last"'),
    ("trace.expect('step: no sync').rules[0].find", '"find"'),
    ("epilogue.explain('x').kernels[0].tiles", '"tiles"'),
]


@pytest.fixture
def mypy(tmp_path):
    program = shutil.which("mypy")
    if program is None:
        pytest.skip("mypy is not installed")

    def check(code):
        """The lines that mypy prints. Types come from the repository, not from an installed wheel."""
        (tmp_path / "script.py").write_text(code)
        environment = {**os.environ, "MYPYPATH": str(REPOSITORY / "python")}
        words = [program, "--strict", "--no-site-packages", "--cache-dir", os.devnull, "--no-error-summary", "script.py"]
        done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.stderr == "" and done.returncode in (0, 1), done.stderr
        return [line for line in done.stdout.splitlines() if line.startswith("script.py")]

    return check


def test_mypy_finds_only_typos_in_field_names(mypy):
    lines = mypy(VALID + "".join(f"{typo}\n" for typo, _ in TYPOS))
    first = VALID.count("\n") + 1
    assert len(lines) == len(TYPOS), lines
    for number, (line, (_, name)) in enumerate(zip(lines, TYPOS), start=first):
        assert line.startswith(f"script.py:{number}: error:") and f"has no attribute {name}" in line, line
