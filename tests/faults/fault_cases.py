# SPDX-License-Identifier: Apache-2.0
"""The commands that run_faults runs, with the files they read and write."""
import dataclasses
import gzip
import json
import os
import pathlib
import platform
import struct
import subprocess

DATA = pathlib.Path(__file__).resolve().parent.parent / "data"
OLD = b"<!-- epilogue: the old file -->\n"


@dataclasses.dataclass
class Case:
    name: str
    command: list
    prepare: object  # called with the tool and the folder in which the command runs
    input: str = "trace.json"  # part of the path of the first file that the command opens; empty for any file
    code: int = 0  # the exit code without a fault
    also: tuple = ()  # exit codes with a fault, besides `code` and 2
    outputs: tuple = ()  # files that the command creates or replaces
    random_outputs: tuple = ()  # those that differ from run to run but have a fixed size
    same_output: bool = True  # standard output is the same in every run
    max_runs: int | None = None  # how many allocations fail, evenly spread, if the command repeats itself


def trace(tool, folder):
    (folder / "trace.json").write_bytes((DATA / "hta_like" / "base.json").read_bytes())


def packed_trace(tool, folder):
    content = (DATA / "hta_like" / "base.json").read_bytes()
    (folder / "trace.json.gz").write_bytes(gzip.compress(content, mtime=0))


def with_old(prepare, name):
    """Also creates an old version of the output `name`."""
    def prepared(tool, folder):
        prepare(tool, folder)
        (folder / name).write_bytes(OLD)
    return prepared


def weights(tool, folder):
    """A checkpoint with the three layers of a small MLP."""
    header, offset = {}, 0
    for name, shape in (("gate_proj", [16, 8]), ("up_proj", [16, 8]), ("down_proj", [8, 16])):
        end = offset + 4 * shape[0] * shape[1]
        header[f"{name}.weight"] = {"dtype": "F32", "shape": shape, "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    data = struct.pack(f"<{offset // 4}f", *((i % 17 - 8) / 8 for i in range(offset // 4)))
    (folder / "small.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)


def package(tool, folder):
    """A signed package, its key and its keyring. The code is never loaded, so any library for this machine will do."""
    def hub(*arguments):
        environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "EPILOGUE_CACHE": ""}
        subprocess.run([tool, "hub", *arguments], cwd=folder, env=environment, check=True, capture_output=True)
    examples = DATA.parent.parent / "examples" / "package"
    (folder / "package.json").write_bytes((examples / "package.json").read_bytes())
    (folder / "libswiglu.so").write_bytes(pathlib.Path(os.environ["FAULTS"]).read_bytes())
    hub("keygen", "mine.key", "--keyring", "keyring", "--name", "me")
    hub("build", "package.json", "--variant", f"abi1-cpu-{platform.machine()}-linux", "--commit", "1", "-o", "packages")
    hub("sign", "packages", "--key", "mine.key")


HUB = ["me/swiglu@1", "--source", "packages", "--keyring", "keyring"]
RULES = ["step: kernels >= 0", "trace: kernels >= 1"]


def cases(tool):
    reader = [
        Case("table", ["table", "trace.json"], trace),
        Case("table-gz", ["table", "trace.json.gz"], packed_trace),
        Case("summary", ["trace.json"], trace),
        Case("report", ["report", "trace.json", "-o", "page.html"], with_old(trace, "page.html"), outputs=("page.html",)),
        Case("export", ["query", "trace.json", "--export", "out.sqlite"], trace, outputs=("out.sqlite",)),
        Case("query", ["query", "trace.json", "select count(*) from events"], trace),
        Case("expect", ["expect", "trace.json", *RULES, "--junit", "out.xml"], trace, outputs=("out.xml",)),
        Case("expect-broken", ["expect", "trace.json", "step: kernels == 77"], trace, code=1),
    ]
    version = subprocess.run([tool, "--version"], capture_output=True, text=True, check=True).stdout
    if "EPI_RUNTIME=OFF" in version:
        return reader
    # A package that cannot be checked may be refused with 1, which is how `hub` reports one that is not trusted.
    return reader + [
        Case("hub-verify", ["hub", "verify", *HUB], package, "keyring", also=(1,)),
        Case("hub-lock", ["hub", "lock", *HUB], package, "keyring", also=(1,), outputs=("epilogue.lock",)),
        Case("hub-keygen", ["hub", "keygen", "new.key", "--keyring", "keyring", "--name", "new"], package,
             "", outputs=("new.key", "keyring"), random_outputs=("new.key", "keyring"), same_output=False),
        Case("weights", ["run", "mlp", "--weights", "small.safetensors", "--batch", "1", "--seq", "2", "--device", "cpu"],
             weights, "small.safetensors", same_output=False, max_runs=1500),
    ]
