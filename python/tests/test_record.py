# SPDX-License-Identifier: Apache-2.0
"""Recording with torch.profiler. These tests need PyTorch, the first does not."""
import subprocess
import sys
import tempfile

import epilogue
import pytest


def test_without_torch_the_message_is_clear(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match="recording a trace needs PyTorch"):
        epilogue.record(print)
    with pytest.raises(ImportError, match="recording a trace needs PyTorch"):
        epilogue.profile()


def test_import_does_not_import_torch():
    code = "import sys, epilogue; print([m for m in ('torch', 'numpy', 'pandas') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_arguments_are_checked():
    with pytest.raises(ValueError, match="steps must be at least 1"):
        epilogue.record(print, steps=0)


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="PyTorch is not installed")


def test_record_marks_steps(torch):
    calls = []

    def linear(x, weight):
        calls.append(1)
        return x @ weight

    trace = epilogue.record(linear, torch.randn(4, 8), torch.randn(8, 8), steps=4, warmup=2)
    assert len(calls) == 6
    assert trace.files == ["linear.json"]
    names = [step.name for step in trace.steps().steps]
    assert len(names) == 4 and all(name.startswith("ProfilerStep#") for name in names)
    trace.expect(["step: count aten::matmul == 1", "step: kernels == 0"])


def test_record_deletes_its_file(torch, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    epilogue.record(torch.nn.Linear(8, 8), torch.randn(4, 8))
    assert list(tmp_path.iterdir()) == []


def test_record_passes_options_on(torch):
    if not torch.autograd.kineto_available():
        pytest.skip("this PyTorch is built without Kineto and records no shapes")
    x = torch.randn(4, 8)
    shapes = "select count(*) n from args where key = 'Input Dims'"
    assert epilogue.record(torch.relu, x).query(shapes)[0]["n"] > 0
    assert epilogue.record(torch.relu, x, record_shapes=False).query(shapes)[0]["n"] == 0


def test_record_with_a_names_file(torch):
    with pytest.raises(epilogue.InputError, match="missing.txt: no such file"):
        epilogue.record(torch.relu, torch.randn(4), names_file="missing.txt")


def test_record_passes_exceptions_on(torch):
    def fail():
        raise RuntimeError("inside")

    with pytest.raises(RuntimeError, match="inside"):
        epilogue.record(fail)
    assert epilogue.record(torch.relu, torch.randn(4)).steps().steps


def test_profile_records_a_block(torch):
    with epilogue.profile() as recording:
        with pytest.raises(epilogue.Error, match="after the `with` block"):
            recording.trace
        with torch.profiler.record_function("forward"):
            torch.randn(4, 8).relu()
        with pytest.raises(epilogue.Error, match="needs profile"):
            recording.step()
    recording.trace.expect("forward: count aten::relu == 1")


def test_profile_with_steps(torch):
    with epilogue.profile(steps=2, warmup=1) as recording:
        for _ in range(3):
            torch.randn(4, 8).relu()
            recording.step()
    assert len(recording.trace.steps().steps) == 2


def test_profile_that_ends_early(torch):
    with pytest.raises(epilogue.InputError, match="nothing was recorded: the block ended after 1 steps"):
        with epilogue.profile(steps=2, warmup=3) as recording:
            recording.step()


def test_profile_with_a_schedule_and_a_handler(torch):
    seen = []
    with epilogue.profile(
        schedule=torch.profiler.schedule(wait=0, warmup=1, active=1, repeat=2),
        on_trace_ready=seen.append,
    ) as recording:
        for _ in range(4):
            torch.randn(4, 8).relu()
            recording.step()
    assert len(seen) == 2
    assert len(recording.trace.steps().steps) == 1  # Of the last cycle.
    with pytest.raises(TypeError, match="either steps or schedule"):
        epilogue.profile(steps=1, schedule=lambda step: None)
