# SPDX-License-Identifier: Apache-2.0
"""Records an MLP on a GPU with the installed package, and checks what it finds. Prints one line per check.

Needs PyTorch 2 with a GPU. scripts/test_on_gpu runs it with the wheel.
"""
import os
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

import torch

import epilogue

failures = []
PLUGIN_TEST = """
import pytest
import torch

@pytest.fixture
def mlp():
    return torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.GELU(), torch.nn.Linear(1024, 256)).cuda().half()

def test_passes(expect_trace, mlp):
    trace = expect_trace(mlp, torch.randn(64, 256, device="cuda").half())
    trace.expect(["step: gemm == 2", "step: no memcpy"])

def test_rules(expect_trace, mlp):
    trace = expect_trace(mlp, torch.randn(64, 256, device="cuda").half())
    expect_trace.rules(trace, "mlp.rules")

def test_fails(expect_trace, mlp):
    trace = expect_trace(mlp, torch.randn(64, 256, device="cuda").half())
    trace.expect("step: gemm == 7")
"""


def check(name, function):
    try:
        found = function()
        print(f"ok      {name}: {found}")
    except Exception:  # The other checks still run.
        failures.append(name)
        print(f"FAILED  {name}")
        traceback.print_exc()


def glu_mlp(x, gate, up, down):
    """The MLP of a transformer. The annotation is the subject of the rules below."""
    with torch.profiler.record_function("mlp_fwd"):
        hidden = torch.nn.functional.gelu(x @ gate.T) * (x @ up.T)
        return hidden @ down.T


def kernels_per_step(trace):
    counts = {step.kernels for step in trace.steps().steps}
    assert len(counts) == 1, counts
    return counts.pop()


def check_eager(trace):
    assert kernels_per_step(trace) == 5, trace.steps()
    assert torch.cuda.get_device_name() in str(trace.summary()), trace.summary()
    trace.expect(["mlp_fwd: kernels == 5", "mlp_fwd: gemm == 3", "step: no memcpy"])
    return "5 kernels per step, 3 of them GEMMs"


def check_compiled(eager, compiled):
    count = kernels_per_step(compiled)
    assert count < 5, compiled.steps()
    result = epilogue.compare(eager, compiled)
    assert result.json["same_gpu_work"] is False, result
    assert any(group["fused"] or group["changed"] or group["gone"] for group in result.json["groups"]), result
    assert epilogue.compare(eager, eager).json["same_gpu_work"] is True
    return f"{count} kernels per step; {result.json['verdict']}"


def check_tables(trace):
    kernels = trace.kernels.to_numpy()
    expected = next(iter(trace.query("select sum(dur_ns) as total from kernels")))["total"]
    assert int(kernels["dur_ns"].sum()) == expected, expected
    return f"{len(trace.kernels)} rows of kernels, {expected / 1e3:.1f} us"


def check_broken_rule(trace):
    try:
        trace.expect("mlp_fwd: kernels == 4")
    except epilogue.ExpectationError as error:
        assert "5" in str(error), error
        return "a broken rule raises ExpectationError with what was found"
    raise AssertionError("a broken rule passed")


def check_saved(trace, folder):
    path = folder / "eager.json.gz"
    trace.save(path)
    assert epilogue.compare(trace, epilogue.read(path)).json["same_gpu_work"] is True
    done = subprocess.run([sys.executable, "-c", "import epilogue._command as c; c.main()", "expect", str(path), "mlp_fwd: kernels == 5"],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return "save, read and the command agree"


def run_pytest(folder, *options):
    # The entry point of the wheel loads the plugin.
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_mlp.py", *options]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=dict(os.environ))
    return done.returncode, done.stdout + done.stderr


def check_plugin(folder):
    (folder / "test_mlp.py").write_text(PLUGIN_TEST)
    status, text = run_pytest(folder, "-k", "test_rules", "--epilogue-update")
    assert status == 0 and (folder / "mlp.rules").read_text().strip(), text
    status, text = run_pytest(folder, "-k", "not test_fails", "--junitxml=report.xml")
    assert status == 0 and "2 passed" in text, text
    assert "epilogue.step.kernels" in (folder / "report.xml").read_text()
    status, text = run_pytest(folder, "-k", "test_fails")
    assert status == 1 and "1 failed" in text and "gemm == 7" in text, text
    return "2 tests pass, 1 fails with its rule, rules are written, JUnit has the measures"


def main():
    if not torch.cuda.is_available():
        print("gpu_record: PyTorch has no GPU")
        return 1
    print(f"epilogue {epilogue.version} in {Path(epilogue.__file__).parent}, PyTorch {torch.__version__}, {torch.cuda.get_device_name()}")
    torch.manual_seed(0)
    shapes = ((2048, 768), (3072, 768), (3072, 768), (768, 3072))
    inputs = [torch.randn(shape, device="cuda", dtype=torch.bfloat16) for shape in shapes]
    with torch.inference_mode():
        eager = epilogue.record(glu_mlp, *inputs)
        compiled = epilogue.record(torch.compile(glu_mlp), *inputs)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        check("record eager", lambda: check_eager(eager))
        check("record compiled, compare", lambda: check_compiled(eager, compiled))
        check("tables", lambda: check_tables(eager))
        check("expect", lambda: check_broken_rule(eager))
        check("save", lambda: check_saved(eager, folder))
        check("pytest plugin", lambda: check_plugin(folder))
    print(f"gpu_record: {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
