# SPDX-License-Identifier: Apache-2.0
"""What can be read, and what is said about the rest."""
import gzip
import io
import os
import signal
import threading
from pathlib import Path

import epilogue
import pytest
from conftest import EAGER
from epilogue import _call, _handle, _library


def test_all_kinds_of_sources(eager, tmp_path):
    expected = eager.steps().steps
    data = Path(EAGER).read_bytes()
    packed = tmp_path / "trace.json.gz"
    packed.write_bytes(gzip.compress(data))
    with open(EAGER, "rb") as file, open(EAGER) as text_file:
        sources = [
            EAGER, Path(EAGER), [EAGER], data, bytearray(data), packed, packed.read_bytes(),
            io.BytesIO(data), file, text_file,
        ]
        for source in sources:
            with epilogue.read(source) as trace:
                assert trace.steps().steps == expected


def test_names_of_sources():
    with open(EAGER, "rb") as file:
        assert epilogue.read(file).files == [EAGER]
    assert epilogue.read(Path(EAGER).read_bytes()).files == ["memory"]


def test_step_pattern(command_json):
    with epilogue.read(EAGER, step_pattern="^mlp_fwd") as trace:
        expected = command_json("steps", EAGER, "--step-pattern", "^mlp_fwd")
        assert trace.steps().json == expected


@pytest.mark.parametrize("source", [3, [], None, [b"x"]])
def test_refuses_other_objects(source):
    with pytest.raises(TypeError):
        epilogue.read(source)


def check_message(error, command, *words):
    """The message is that of the command."""
    assert command(*words, status=2) == f"epilogue: {error.value}\n"
    assert error.value.status == 2


def test_missing_file(command):
    with pytest.raises(epilogue.InputError) as error:
        epilogue.read("missing.json")
    check_message(error, command, "summary", "missing.json")


def test_folder_without_traces(command):
    with pytest.raises(epilogue.InputError) as error:
        epilogue.read("docs")
    check_message(error, command, "summary", "docs")


def test_broken_file(command, tmp_path):
    path = tmp_path / "broken.json"
    path.write_text('{"traceEvents": [{"ph": }]}')
    with pytest.raises(epilogue.InputError) as error:
        epilogue.read(path)
    check_message(error, command, "summary", str(path))
    with pytest.raises(epilogue.InputError, match="^memory: "):
        epilogue.read(b'{"traceEvents": [{"ph": }]}')


def test_size_limit(command, tmp_path):
    path = tmp_path / "large.json.gz"
    path.write_bytes(gzip.compress(Path(EAGER).read_bytes()))
    with pytest.raises(epilogue.InputError) as error:
        epilogue.read(path, max_unpacked="1k")
    check_message(error, command, "summary", str(path), "--max-unpacked", "1k")


def test_path_with_nul():
    with pytest.raises(ValueError, match="NUL"):
        epilogue.read("a\0b")


def test_truncated_file_warns(tmp_path):
    path = tmp_path / "cut.json"
    path.write_bytes(Path(EAGER).read_bytes()[:30000])
    with pytest.warns(epilogue.TraceWarning, match="ends inside the list of events") as warned:
        trace = epilogue.read(path)
    assert len(trace.notes) == 1 and warned[0].filename == __file__


def test_unknown_verbs_and_options(eager):
    with pytest.raises(epilogue.InputError, match="nonsense"):
        eager.run("nonsense").text
    with pytest.raises(epilogue.InputError, match="nonsense"):
        eager.run("summary", nonsense=3).text
    with pytest.raises(epilogue.InputError, match="nonsense"):
        eager.table(sort="nonsense").text


def test_closed_trace():
    trace = epilogue.read(EAGER)
    kernels, steps = trace.kernels, trace.steps()
    assert len(kernels) == 21 and steps.steps
    trace.close()
    trace.close()
    # What was computed before stays.
    assert len(kernels.to_numpy()["id"]) == 21 and steps.steps[0].kernels == 5
    assert trace.files == [EAGER] and "closed" in repr(trace)
    for use in (
        lambda: trace.summary().text,
        lambda: steps.text,
        lambda: len(trace.ops),
        lambda: trace.query("select 1"),
        lambda: trace.expect("step: no sync"),
        lambda: trace.save("x.json"),
        lambda: trace.report("x.html"),
    ):
        with pytest.raises(epilogue.ClosedError, match="the trace is closed"):
            use()


def test_close_while_other_threads_read():
    trace = epilogue.read(EAGER)
    errors = []

    def work():
        try:
            while True:
                trace.summary().text
        except epilogue.ClosedError:
            pass
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    trace.close()
    for thread in threads:
        thread.join()
    assert errors == []


def test_save_and_report(eager, compiled, tmp_path, command_json):
    for name in ("a.json", "a.json.gz", "a.json.zst"):
        path = tmp_path / name
        eager.save(path)
        assert epilogue.read(path).kernels.to_numpy()["dur_ns"].sum() == sum(eager.kernels["dur_ns"])
    assert (tmp_path / "a.json.gz").stat().st_size < (tmp_path / "a.json").stat().st_size
    eager.report(tmp_path / "one.html")
    eager.report(tmp_path / "two.html", after=compiled)
    assert "<html" in (tmp_path / "one.html").read_text()
    assert "mlp_compile" in (tmp_path / "two.html").read_text()
    with pytest.raises(epilogue.InputError, match="no/such/folder"):
        eager.save("no/such/folder/trace.json")
    with pytest.raises(IndexError):
        eager.save(tmp_path / "b.json", file=1)


@pytest.fixture(scope="module")
def large_trace(tmp_path_factory):
    """160 MB, far more than is read between two calls of the progress function."""
    event = '{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": %d, "dur": 1},\n'
    path = tmp_path_factory.mktemp("large") / "large.json"
    with open(path, "w") as file:
        file.write('{"traceEvents": [\n')
        for block in range(200):
            file.writelines(event % (block * 10000 + i) for i in range(10000))
        file.write('{"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "python"}}]}\n')
    return path


class InterruptingProgress(_call.Progress):
    """Presses Ctrl-C when the callback is first called."""

    seen = []

    def __call__(self, user, fraction):
        self.seen.append(fraction)
        if len(self.seen) == 1:
            os.kill(os.getpid(), signal.SIGINT)
        return super().__call__(user, fraction)


@pytest.fixture
def ctrl_c():
    """Ctrl-C raises KeyboardInterrupt, also in a background job, where the shell ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def interrupting(monkeypatch, ctrl_c):
    monkeypatch.setattr(InterruptingProgress, "seen", [])
    monkeypatch.setattr(_handle, "Progress", InterruptingProgress)
    return InterruptingProgress.seen


def test_ctrl_c_ends_a_read(large_trace, interrupting, monkeypatch):
    opened = []

    class RecordedHandle(_handle.Handle):
        def __init__(self, pointer):
            opened.append(pointer)
            super().__init__(pointer)

    monkeypatch.setattr(_handle, "Handle", RecordedHandle)
    with pytest.raises(KeyboardInterrupt):
        epilogue.read(large_trace)
    assert len(interrupting) >= 1
    assert opened == [], "the read went on to its end"
    assert threading.active_count() == 1


def test_ctrl_c_ends_a_statement(eager, interrupting):
    endless = "with recursive c(x) as (select 1 union all select x + 1 from c) select count(*) from c"
    with pytest.raises(KeyboardInterrupt):
        eager.query(endless)
    assert eager.query("select 1 one")[0] == {"one": 1}


def test_ctrl_c_leaves_a_call_that_cannot_be_cancelled(ctrl_c):
    end = threading.Event()

    def work():
        os.kill(os.getpid(), signal.SIGINT)
        end.wait()

    with pytest.raises(KeyboardInterrupt):
        _call.interruptible(work)
    end.set()


@pytest.mark.parametrize(
    "library, message",
    [("missing.so", "missing.so: cannot open shared object"), ("libm.so.6", "epi_trace_abi")],
)
def test_library_that_cannot_be_loaded(monkeypatch, library, message):
    monkeypatch.setenv("EPILOGUE_LIBRARY", library)
    monkeypatch.setattr(_library, "_loaded", None)
    with pytest.raises(epilogue.LibraryError, match=message) as error:
        epilogue.read(EAGER)
    assert "set EPILOGUE_LIBRARY" in str(error.value) and isinstance(error.value, ImportError)


def test_progress_line(monkeypatch, capsys):
    monkeypatch.setattr(_call, "_is_terminal", lambda: True)
    monkeypatch.setattr(_call, "SHOW_AFTER_S", 0.0)
    progress = _call.Progress()
    progress(None, 0.5)
    assert _call.interruptible(lambda: threading.Event().wait(0.3), progress, "reading x") is False
    assert "\rreading x  50%" in capsys.readouterr().err
