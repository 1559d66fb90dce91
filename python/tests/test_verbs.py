# SPDX-License-Identifier: Apache-2.0
"""Every verb returns what the command prints."""
import copy
import functools
import json
import re
import threading

import epilogue
import pytest
from conftest import COMPILED, EAGER


class WithOptions:
    """A trace whose methods get further options."""

    def __init__(self, trace, **options):
        self._trace, self._options = trace, options

    def __getattr__(self, name):
        return functools.partial(getattr(self._trace, name), **self._options)


VERBS = {
    "summary": (lambda t: t.summary(), ["summary"]),
    "table": (lambda t: t.table(), ["table"]),
    "table_sorted": (
        lambda t: t.table(sort="self_cpu_time_total", limit=7),
        ["table", "--sort", "self_cpu_time_total", "--limit", "7"],
    ),
    "table_by_shape": (lambda t: t.table(by_shape=True, stats=True), ["table", "--by-shape", "--stats"]),
    "gemms": (lambda t: t.gemms(), ["table", "--gemms"]),
    "steps": (lambda t: t.steps(), ["steps"]),
    "tree": (lambda t: t.tree(), ["tree"]),
    "tree_depth": (lambda t: t.tree(depth=2, full=True), ["tree", "--depth", "2", "--full"]),
    "breakdown": (lambda t: t.breakdown(), ["breakdown"]),
    "critical": (lambda t: t.breakdown(critical=True, all=True), ["breakdown", "--critical", "--all"]),
    "advise": (lambda t: t.advise(), ["advise"]),
    "advise_all": (lambda t: t.advise(all=True), ["advise", "--all"]),
    "explain": (lambda t: t.explain(), ["explain"]),
}


@pytest.mark.parametrize("verb", VERBS)
def test_json_equals_the_command(verb, trace_path, read, command_json):
    call, words = VERBS[verb]
    assert call(read(trace_path)).json == command_json(words[0], trace_path, *words[1:])


def without_run(text):
    """Without the lines that suggest `epilogue run`, which the library does not have."""
    text = re.sub(r"\n\nRun this block here, in every mode:\n.*\n", "\n", text)
    return re.sub(r"next: epilogue .*\n", "", text)



@pytest.mark.parametrize("verb", VERBS)
def test_text_equals_the_command(verb, read, command):
    call, words = VERBS[verb]
    text = call(read(EAGER)).text
    assert "epilogue run" not in text and "run mlp" not in text
    assert without_run(text) == without_run(command(words[0], EAGER, *words[1:]))


@pytest.mark.parametrize("verb", VERBS)
def test_json_of_schema_1_equals_the_command(verb, eager, command):
    call, words = VERBS[verb]
    expected = json.loads(command(words[0], EAGER, *words[1:], "--json=1"))
    assert expected["schema"] == 1
    assert call(WithOptions(eager, json=1)).json == expected


def test_schema_1_has_the_old_names(eager, compiled):
    step = eager.steps(json=1).steps[0]
    assert step.busy == eager.steps().steps[0].busy_share and "busy_share" not in step
    assert epilogue.compare(eager, compiled, json=1).schema == 1
    assert epilogue.explain("nvjet_tst_64x8_64x16_1x2_h_bz_bias_TNT", json=1).schema == 1
    assert eager.advise(against=compiled, json=1).schema == 1
    assert eager.expect("step: no sync", json=1).schema == 1
    with pytest.raises(epilogue.InputError, match='"json": expected 1 or 2, not 3'):
        eager.steps(json=3).json


def test_markdown_equals_the_command(eager, command):
    assert eager.steps().markdown == command("steps", EAGER, "--md")


def test_options_of_one_file(eager, command_json):
    assert eager.tree(step=3, under="mlp_fwd").json == command_json(
        "tree", EAGER, "--step", "3", "--under", "mlp_fwd"
    )
    assert eager.advise(under="mlp_fwd").json == command_json("advise", EAGER, "--under", "mlp_fwd")
    assert eager.summary(names="raw").text != eager.summary().text


@pytest.fixture
def names_file(tmp_path):
    """Says that the largest GEMM is another kernel."""
    path = tmp_path / "names.txt"
    path.write_text("nvjet_sm90_tst_256x128* library=acme kind=pointwise ops=rope\n")
    return path


@pytest.mark.parametrize("verb", VERBS)
def test_names_file_equals_the_command(verb, eager, names_file, command_json):
    call, words = VERBS[verb]
    expected = command_json(words[0], EAGER, *words[1:], "--names-file", str(names_file))
    assert call(WithOptions(eager, names_file=names_file)).json == expected
    with epilogue.read(EAGER, names_file=names_file) as trace:
        assert call(trace).json == expected


def libraries(result):
    return [kernel.library for kernel in result.kernels]


def test_names_file_of_a_call_replaces_that_of_the_trace(eager, names_file, tmp_path):
    other = tmp_path / "other.txt"
    other.write_text("nvjet* library=other kind=gemm\n")
    with epilogue.read(EAGER, names_file=str(names_file)) as trace:
        assert libraries(trace.explain())[:2] == ["acme", "cublas"]
        assert libraries(trace.explain(names_file=other))[:2] == ["other", "other"]
        assert libraries(trace.explain())[:2] == ["acme", "cublas"]
    assert libraries(eager.explain(names_file=names_file))[:2] == ["acme", "cublas"]
    assert libraries(eager.explain())[:2] == ["cublas", "cublas"]


def test_names_file_without_a_method(eager, compiled, names_file, command_json, tmp_path):
    words = "--names-file", str(names_file)
    result = epilogue.compare(eager, COMPILED, names_file=names_file)
    assert result.json == command_json("compare", EAGER, COMPILED, *words)
    assert libraries(epilogue.explain("nvjet_sm90_tst_256x128_x", names_file=names_file)) == ["acme"]
    result = eager.advise(against=compiled, names_file=names_file)
    assert result.json == command_json("advise", EAGER, "--against", COMPILED, *words)
    eager.report(tmp_path / "page.html", names_file=names_file)
    assert "acme" in (tmp_path / "page.html").read_text()


def test_names_file_for_rules(eager, names_file, command):
    with pytest.raises(epilogue.ExpectationError):
        eager.expect("mlp_fwd: gemm == 3", names_file=names_file)
    assert eager.expect("mlp_fwd: gemm == 1", names_file=names_file).ok
    expected = command("expect", EAGER, "--init", "--names-file", str(names_file))
    assert eager.suggest_rules(names_file=names_file) == expected != eager.suggest_rules()


def test_names_file_that_cannot_be_read(eager, tmp_path):
    with pytest.raises(epilogue.InputError, match="missing.txt: no such file"):
        eager.steps(names_file="missing.txt").text
    with pytest.raises(epilogue.InputError, match="missing.txt: no such file"):
        epilogue.read(EAGER, names_file="missing.txt")
    (tmp_path / "bad.txt").write_text("nvjet* kind=nonsense\n")
    with pytest.raises(epilogue.InputError, match="bad.txt:1: .*nonsense"):
        eager.steps(names_file=tmp_path / "bad.txt").text


def test_threads_with_different_names(names_file):
    found = {}

    def work(key, options):
        for _ in range(10):
            found.setdefault(key, set()).add(libraries(trace.explain(**options))[0])

    with epilogue.read(EAGER) as trace:
        calls = {"with": {"names_file": names_file}, "without": {}}
        threads = [threading.Thread(target=work, args=call) for call in calls.items()]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found == {"with": {"acme"}, "without": {"cublas"}}


def test_compare(eager, compiled, command, command_json):
    result = epilogue.compare(eager, compiled)
    assert result.json == command_json("compare", EAGER, COMPILED)
    assert result.text == command("compare", EAGER, COMPILED)
    assert result.same_gpu_work is False
    under = epilogue.compare(EAGER, COMPILED, under="mlp_fwd")
    assert under.json == command_json("compare", EAGER, COMPILED, "--under", "mlp_fwd")


def test_advise_against(eager, command_json):
    expected = command_json("advise", EAGER, "--against", COMPILED)
    assert eager.advise(against=COMPILED).json == expected


def test_explain_names(command_json):
    name = "nvjet_tst_64x8_64x16_1x2_h_bz_bias_TNT"
    result = epilogue.explain(name)
    assert result.json == command_json("explain", name)
    assert result.kernels[0].library == "cublas"


def test_several_files(command_json):
    with epilogue.read([EAGER, COMPILED]) as traces:
        assert len(traces) == 2
        assert traces.files == [EAGER, COMPILED]
        for verb in ("summary", "table", "steps", "tree", "breakdown", "advise"):
            assert traces.run(verb).json == command_json(verb, EAGER, COMPILED), verb
        assert len(traces.steps().files) == 2


def test_a_folder_of_ranks(tmp_path, command_json):
    for rank, path in enumerate((EAGER, COMPILED)):
        text = open(path).read()
        start = f'{{"distributedInfo": {{"rank": {rank}, "world_size": 2}},'
        (tmp_path / f"rank{rank}.json").write_text(text.replace("{", start, 1))
    with epilogue.read(tmp_path) as ranks:
        assert len(ranks) == 2 and ranks.ranks == [0, 1]
        assert ranks.summary().json == command_json("summary", str(tmp_path))


def test_attributes_of_results(eager):
    steps = eager.steps()
    assert steps.schema == 2
    assert steps.steps[0].kernels == 5
    assert steps["steps"][0]["kernels"] == 5
    assert "steps" in steps and "steps" in dir(steps)
    assert dict(steps.steps[0])["name"] == "ProfilerStep#2"
    with pytest.raises(AttributeError, match='no field "kernel"; fields: name'):
        steps.steps[0].kernel
    with pytest.raises(AttributeError, match='no field "stepz"'):
        steps.stepz
    assert not hasattr(steps, "_repr_png_")


def test_texts_and_html(eager):
    assert str(eager.summary()) == repr(eager.summary()) == eager.summary().text.rstrip("\n")
    assert "HOST-BOUND" in eager._repr_html_() and "GGGG" in eager._repr_html_()
    raw = eager.explain(names="raw")
    assert "<8," in raw.text and "&lt;8," in raw._repr_html_() and "<8," not in raw._repr_html_()
    assert repr(eager).count("\n") == 0 and "243 events" in repr(eager)


def test_results_are_computed_when_used(eager):
    result = eager.tree(step=99)
    with pytest.raises(epilogue.InputError, match="99"):
        result.json


def test_ranks_and_notes(eager):
    assert eager.ranks == [None]  # The file has no rank.
    assert eager.notes == []
    assert epilogue.version.count(".") == 2 and epilogue.__version__ == epilogue.version


def test_records_are_copied(eager):
    row = eager.table().rows[0]
    assert copy.deepcopy(row) == row


def test_options_may_be_of_other_types(eager, tmp_path):
    numpy = pytest.importorskip("numpy", reason="numpy is not installed")
    assert len(eager.table(limit=numpy.int64(3)).rows) == 3
    eager.run("report", output=tmp_path / "r.html").text
    assert (tmp_path / "r.html").exists()


def test_explain_needs_names():
    for names in ((), (None,), (["a"],)):
        with pytest.raises(TypeError, match="takes kernel names"):
            epilogue.explain(*names)
