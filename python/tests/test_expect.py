# SPDX-License-Identifier: Apache-2.0
"""Rules: in scripts, and in tests through the plugin."""
import importlib.util
import pickle
import xml.etree.ElementTree as ElementTree

import epilogue
import pytest
from conftest import COMPILED, EAGER, PLUGIN, REPOSITORY

BROKEN = "mlp_fwd: kernels == 6"
HOLDS = "mlp_fwd: gemm == 3"


def test_rules_that_hold(eager, command_json):
    result = eager.expect(HOLDS)
    assert result.ok and result.json == command_json("expect", EAGER, HOLDS)
    assert eager.expect([HOLDS, "step: no sync"]).ok
    assert len(eager.expect(f"{HOLDS}\nstep: no sync\n").rules) == 2


def test_broken_rules(eager, command):
    with pytest.raises(epilogue.ExpectationError) as error:
        eager.expect([BROKEN, HOLDS])
    first, _, rest = str(error.value).partition("\n")
    assert first == "not all rules hold"
    assert rest.strip("\n") == command("expect", EAGER, BROKEN, HOLDS, status=1).strip("\n")
    assert error.value.result.rules[0].found == 5
    assert isinstance(error.value, AssertionError)
    copy = pickle.loads(pickle.dumps(error.value))
    assert str(copy) == str(error.value) and copy.result.json == error.value.result.json
    assert eager.expect(BROKEN, raise_error=False).ok is False


def test_rules_for_several_files(command_json):
    rule = "mlp_fwd: kernels == 5"
    with epilogue.read([EAGER, COMPILED]) as traces:
        result = traces.expect(rule, raise_error=False)
        assert result.json == command_json("expect", EAGER, rule, "--also", COMPILED, status=1)
        assert result.ok is False and [file.ok for file in result.files] == [True, False]
        assert traces.expect(HOLDS).ok is True
        with pytest.raises(epilogue.ExpectationError, match="mlp_compile.json\nBROKEN"):
            traces.expect(rule)


def test_rules_files(eager, command, tmp_path):
    rules = eager.suggest_rules()
    assert rules == command("expect", EAGER, "--init")
    path = tmp_path / "mlp.rules"
    path.write_text(rules)
    assert eager.expect(rules_file=path).ok
    assert eager.expect(rules).ok  # with its comments
    assert eager.expect(HOLDS, rules_file=path).ok
    path.write_text(f"{BROKEN}\n")
    with pytest.raises(epilogue.ExpectationError, match="found 5"):
        eager.expect(rules_file=path)


def test_rules_file_with_a_relative_path(eager, tmp_path):
    (tmp_path / "base.json").write_bytes((REPOSITORY / EAGER).read_bytes())
    path = tmp_path / "same.rules"
    path.write_text("mlp_fwd: same kernels as base.json\n")
    assert eager.expect(rules_file=path).ok


def test_rules_that_cannot_be_read(eager, command):
    with pytest.raises(epilogue.InputError) as error:
        eager.expect("mlp_fwd: kernelz == 5")
    assert command("expect", EAGER, "mlp_fwd: kernelz == 5", status=2) == f"epilogue: {error.value}\n"
    with pytest.raises(epilogue.InputError, match="missing.rules"):
        eager.expect(rules_file="missing.rules")


@pytest.fixture
def suite(pytester):
    """Runs tests in another process."""

    def run(body, *options):
        pytester.makepyfile(test_suite=f"TRACE = {str(REPOSITORY / EAGER)!r}\n\n{body}")
        return pytester.runpytest_subprocess(*PLUGIN, "-p", "no:cacheprovider", *options)

    return run


READS = """
def test_mlp(expect_trace):
    expect_trace.read(TRACE).expect("mlp_fwd: kernels == {count}")
"""
RULES = """
def test_mlp(expect_trace):
    expect_trace.rules(expect_trace.read(TRACE), "mlp.rules")
"""


def test_plugin_passes(suite):
    suite(READS.format(count=5)).assert_outcomes(passed=1)


def test_plugin_fails_with_what_was_found(suite):
    result = suite(READS.format(count=6))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*BROKEN  mlp_fwd: kernels == 6", "*found 5; broken in 3 of 3 instances"]
    )
    assert "_trace.py" not in result.stdout.str()


def test_plugin_writes_rules(suite, pytester):
    result = suite(RULES)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*mlp.rules: no such file; pytest --epilogue-update writes it"])
    suite(RULES, "--epilogue-update").assert_outcomes(passed=1)
    path = pytester.path / "mlp.rules"
    assert "mlp_fwd: kernels == 5\n" in path.read_text()
    suite(RULES).assert_outcomes(passed=1)
    path.write_text("mlp_fwd: kernels == 4\n")
    suite(RULES).assert_outcomes(failed=1)
    suite(RULES, "--epilogue-update").assert_outcomes(passed=1)
    assert "mlp_fwd: kernels == 5\n" in path.read_text()


def test_plugin_finds_the_names_file_beside_the_test(suite, pytester):
    (pytester.path / "names.txt").write_text("nvjet* library=acme kind=pointwise\n")
    suite("""
def test_mlp(expect_trace):
    expect_trace.read(TRACE, names_file="names.txt").expect("mlp_fwd: gemm == 0")
""").assert_outcomes(passed=1)


def test_junit_does_not_warn(suite):
    suite(READS.format(count=5), "--junitxml=out.xml", "-W", "error").assert_outcomes(passed=1)


def test_junit_has_the_measures(suite, pytester):
    suite(READS.format(count=5), "--junitxml=out.xml").assert_outcomes(passed=1)
    document = ElementTree.parse(pytester.path / "out.xml")
    found = {entry.get("name"): entry.get("value") for entry in document.iter("property")}
    assert found["epilogue.step.kernels"] == "5"
    assert found["epilogue.step.gpu_us"] == "234.269"
    assert found["epilogue.step.busy_share"] == "0.657765"
    assert found["epilogue.rule mlp_fwd: kernels == 5"] == "5"


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed")
def test_plugin_records(suite):
    result = suite("""
import torch

def test_linear(expect_trace):
    trace = expect_trace(torch.nn.Linear(8, 8), torch.randn(4, 8), steps=2, warmup=1)
    trace.expect("step: count aten::linear == 1")

def test_two_linear(expect_trace):
    trace = expect_trace(torch.nn.Linear(8, 8), torch.randn(4, 8), steps=2, warmup=1)
    trace.expect("step: count aten::linear == 2")
""")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*BROKEN  step: count aten::linear == 2"])
