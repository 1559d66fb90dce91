# SPDX-License-Identifier: Apache-2.0
"""Where the tests find the package, the command and the traces.

EPILOGUE_LIBRARY  libepilogue_trace.so (default: build/dev, or the installed wheel)
EPILOGUE_COMMAND  the command to compare with (default: build/dev/bin/epilogue)
EPILOGUE_TRACES   a folder of traces (default: tests/data/traces and tests/data/pytorch)
EPILOGUE_DUCKDB   libduckdb.so (scripts/setup_duckdb)
"""
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
_spec = importlib.util.find_spec("epilogue")
# The folder of the C++ sources is a namespace package for Python: it has no origin.
IS_INSTALLED = _spec is not None and _spec.origin is not None
# The wheel registers the plugin.
PLUGIN = () if IS_INSTALLED else ("-p", "epilogue.pytest_plugin")
if not IS_INSTALLED:
    sys.path.insert(0, str(REPOSITORY / "python"))
    os.environ["PYTHONPATH"] = str(REPOSITORY / "python")  # For tests that start Python.
    built = sorted((REPOSITORY / "build" / "dev").glob("lib*/libepilogue_trace.so"))
    if built:
        os.environ.setdefault("EPILOGUE_LIBRARY", str(built[0]))

pytest_plugins = ["pytester"]
EAGER = "tests/data/traces/mlp_eager.json"
COMPILED = "tests/data/traces/mlp_compile.json"


def trace_paths():
    folder = os.environ.get("EPILOGUE_TRACES")
    folders = [Path(folder)] if folder else [Path("tests/data/traces"), Path("tests/data/pytorch")]
    found = []
    for folder in folders:
        files = sorted((REPOSITORY / folder).glob("*.json*"))
        found += [str(folder / file.name) for file in files]
    assert found, f"no traces in {folders}"
    return found


def pytest_generate_tests(metafunc):
    if "trace_path" in metafunc.fixturenames:
        metafunc.parametrize("trace_path", trace_paths(), ids=lambda path: Path(path).name)


@pytest.fixture(autouse=True)
def in_repository(monkeypatch):
    """Paths are relative to the repository, and appear so in results."""
    monkeypatch.chdir(REPOSITORY)


@pytest.fixture(scope="session")
def command():
    """Runs the command: ``command("steps", path, "--json")`` returns its standard output."""
    program = os.environ.get("EPILOGUE_COMMAND", str(REPOSITORY / "build/dev/bin/epilogue"))

    def run(*words, status=0):
        done = subprocess.run([program, *words], cwd=REPOSITORY, capture_output=True, text=True)
        assert done.returncode == status, done.stderr
        return done.stdout if status != 2 else done.stderr

    return run


@pytest.fixture(scope="session")
def command_json(command):
    return lambda *words, **options: json.loads(command(*words, "--json", **options))


@pytest.fixture(scope="session")
def read():
    """Reads a trace once for all tests of a module."""
    import warnings

    import epilogue

    opened = {}

    def read_once(path):
        if path not in opened:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", epilogue.TraceWarning)
                opened[path] = epilogue.read(path)
        return opened[path]

    yield read_once
    for trace in opened.values():
        trace.close()


@pytest.fixture
def eager(read):
    return read(EAGER)


@pytest.fixture
def compiled(read):
    return read(COMPILED)
