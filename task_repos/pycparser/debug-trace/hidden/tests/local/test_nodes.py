"""Every node class offers the same, with or without fields, and c_ast.py is what its generator gives."""

import contextlib
import inspect
import io
import json
import re
import runpy
import shutil
import subprocess
import sys
import weakref
from pathlib import Path

import pytest

from pycparser import c_ast
from pycparser._ast_gen import ASTCodeGenerator
from pycparser.c_parser import CParser

ROOT = Path(__file__).parents[2]
ENTRY = re.compile(r"^(\w+): \[(.*)\]$", re.MULTILINE)
FIELDS = {
    name: [field.strip() for field in fields.split(",") if field.strip()]
    for name, fields in ENTRY.findall((ROOT / "pycparser" / "_c_ast.cfg").read_text())
}
BARE = ["Break", "Continue", "EllipsisParam", "EmptyStatement"]
SOURCE = "void f(int n, ...) { for (;;) { if (n) continue; else break; ; } }"


def names(fields):
    return [field.rstrip("*") for field in fields]


def check(cls, fields):
    """Assert that a class offers what its fields ask for."""
    values = {
        name: [c_ast.ID("x")] if field.endswith("**") else c_ast.ID("y") if "*" in field else "z"
        for name, field in zip(names(fields), fields)
    }
    node = cls(**values)
    assert cls.__slots__ == (*names(fields), "coord", "__weakref__")
    assert list(inspect.signature(cls).parameters) == [*names(fields), "coord"]
    assert repr(node).startswith(f"{cls.__name__}(")
    assert repr(node).count("=") == len(fields) + sum("*" in field for field in fields)
    assert weakref.ref(node)() is node
    assert [child for _, child in node.children()] == list(node)
    assert len(list(node)) == sum("*" in field for field in fields)
    assert not hasattr(node, "__dict__")
    assert cls.attr_names == tuple(field for field in fields if "*" not in field)
    assert cls(coord="a.c:1").coord == "a.c:1" if not fields else node.coord is None


def test_the_fields_are_what_they_were():
    assert sorted(name for name, fields in FIELDS.items() if not fields) == BARE
    assert len(FIELDS) == 49
    assert sum(map(len, FIELDS.values())) == 97


@pytest.mark.parametrize("name", sorted(FIELDS))
def test_every_class_offers_the_same(name):
    check(getattr(c_ast, name), FIELDS[name])


@pytest.mark.parametrize("name", BARE)
def test_without_fields_nothing_stands_between_the_parentheses(name):
    assert repr(getattr(c_ast, name)()) == f"{name}()"


def test_the_command_gives_the_file_that_is_here(tmp_path):
    package = tmp_path / "pycparser"
    shutil.copytree(ROOT / "pycparser", package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "c_ast.py").unlink()
    subprocess.run([sys.executable, "-B", "_build_tables.py"], cwd=package, check=True)
    assert (package / "c_ast.py").read_bytes() == (ROOT / "pycparser" / "c_ast.py").read_bytes()


@pytest.mark.parametrize("fields", ["", "a", "a*", "a**", "a, b*, c**", "c**, b*, a"])
def test_the_generator_knows_other_nodes_too(tmp_path, fields):
    (tmp_path / "other.cfg").write_text(f"# another language\nEmpty: []\nProbe: [{fields}]\n")
    source = io.StringIO()
    ASTCodeGenerator(str(tmp_path / "other.cfg")).generate(source)
    module = {"__name__": "other"}
    exec(source.getvalue(), module)
    check(module["Empty"], [])
    check(module["Probe"], [field.strip() for field in fields.split(",") if field])


def test_a_trace_names_every_node_without_fields():
    errors = io.StringIO()
    with contextlib.redirect_stderr(errors):
        tree = CParser().parse(SOURCE, debug=True)
    for name in BARE:
        assert repr(tree).count(f"{name}()") == 1
    for name in ("Break", "Continue", "EmptyStatement"):
        assert f"<{name} @" in errors.getvalue()


def test_the_example_writes_them_as_json():
    functions = runpy.run_path(str(ROOT / "examples" / "c_json.py"), run_name="c_json")
    tree = CParser().parse(SOURCE, "f.c")
    written = functions["to_json"](tree)
    for name in BARE:
        assert f'"{name}"' in written
    assert functions["to_dict"](functions["from_json"](written)) == json.loads(written)
