# SPDX-License-Identifier: Apache-2.0
"""No module of the package imports itself through others, not even inside of a function."""
import ast
import graphlib

from conftest import REPOSITORY

ROOT = REPOSITORY / "python"


def modules(folder):
    """The modules of a package by their names, and their files."""
    found = {}
    for path in sorted(folder.rglob("*.py")):
        name = ".".join(path.relative_to(folder.parent).with_suffix("").parts)
        found[name.removesuffix(".__init__")] = path
    return found


def imported_names(node, package):
    """The names in an import statement, absolute. `from a import b` may import the module `a.b`."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if not isinstance(node, ast.ImportFrom):
        return []
    parents = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
    base = ".".join([*parents, *([node.module] if node.module else [])])
    return [f"{base}.{alias.name}" for alias in node.names]


def imports(name, known):
    package = name if known[name].name == "__init__.py" else name.rpartition(".")[0]
    found = set()
    for node in ast.walk(ast.parse(known[name].read_text(encoding="utf-8"))):
        for imported in imported_names(node, package):
            # `from ._errors import Error`: the module is all but the last part.
            found.add(imported if imported in known else imported.rpartition(".")[0])
    return found & known.keys()


def circle(known):
    """The modules of a circle. None if there is none."""
    try:
        graphlib.TopologicalSorter({name: imports(name, known) for name in known}).prepare()
    except graphlib.CycleError as error:
        return error.args[1]
    return None


def test_modules_have_no_import_circle():
    known = modules(ROOT / "epilogue")
    assert "epilogue._errors" in imports("epilogue._trace", known) | imports("epilogue._record", known)
    assert circle(known) is None


def test_circles_are_found(tmp_path):
    folder = tmp_path / "a"
    folder.mkdir()
    (folder / "__init__.py").write_text("from .b import f\n")
    (folder / "b.py").write_text("from . import c\n")
    (folder / "c.py").write_text("def f():\n    from .b import g\n")
    assert set(circle(modules(folder))) == {"a.b", "a.c"}
    (folder / "c.py").write_text("import a\n")
    assert set(circle(modules(folder))) == {"a", "a.b", "a.c"}
