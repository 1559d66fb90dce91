# SPDX-License-Identifier: Apache-2.0
"""Writes wheels without a package of Python. The same inputs give the same bytes."""
import base64
import hashlib
import zipfile

from package_files import ROOT, PackageError, dotted


def python_files(package, excluded=()):
    """The sources below a folder of python/, by their place in the wheel."""
    folder = ROOT / "python"
    paths = [path for path in (folder / package).rglob("*") if path.suffix in (".py", ".pyi") or path.name == "py.typed"]
    return {str(path.relative_to(folder)): (path.read_bytes(), False) for path in paths
            if not any((folder / name) in path.parents for name in excluded)}


def _record(files, name):
    lines = []
    for path, (content, _) in sorted(files.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{path},sha256={digest},{len(content)}\n")
    return "".join(lines) + f"{name},,\n"


def _write_zip(path, files):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, (content, is_executable) in sorted(files.items()):
            entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix: the mode below is used
            entry.external_attr = (0o100755 if is_executable else 0o100644) << 16
            archive.writestr(entry, content)


def write_wheel(build, output, is_local, distribution, files, texts, max_bytes):
    """Writes `files`, {name: (bytes, is_executable)}, with `texts` and the licences in the folder for metadata."""
    tag = f"py3-none-{build.platform_tag(is_local)}"
    info = f"{distribution}-{build.version}.dist-info"
    texts = {
        **texts,
        "WHEEL": f"Wheel-Version: 1.0\nGenerator: epilogue\nRoot-Is-Purelib: false\nTag: {tag}\n",
        "licenses/LICENSE": (ROOT / "LICENSE").read_text(encoding="utf-8"),
        f"sboms/{build.sbom.name}": build.sbom.read_text(encoding="utf-8"),
    }
    data = {name: text.encode() for name, text in texts.items()}
    data.update({f"licenses/third-party/{name}": text for name, text in build.licenses(is_local).items()})
    files = {**files, **{f"{info}/{name}": (content, False) for name, content in data.items()}}
    name = f"{info}/RECORD"
    files[name] = (_record(files, name).encode(), False)
    path = output / f"{distribution}-{build.version}-{tag}.whl"
    _write_zip(path, files)
    size = path.stat().st_size
    if size > max_bytes and not is_local:
        path.unlink()
        raise PackageError(f"{path.name}: has {size} bytes, more than the limit of {max_bytes}")
    print(f"wheel: {path} ({size / 1e6:.1f} MB, needs glibc {dotted(build.newest_glibc())})")
    return path
