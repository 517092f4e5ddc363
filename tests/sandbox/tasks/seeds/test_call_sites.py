"""The calls of a function are found wherever they are."""

import pytest

from sandbox.tasks.seeds.call_sites import call_sites
from sandbox.tasks.seeds.languages import Source, parsed


def source(path: str, text: str) -> Source:
    found = parsed(path, text.encode())
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("suffix", "text", "changed"),
    [
        ("py", "def f(a, b): pass\nself.f(g(3), 4)\n", "def f(a, b): pass\nself.f(4, g(3))\n"),
        ("go", "package a\nfunc f() { x.f(1, 2) }", "package a\nfunc f() { x.f(2, 1) }"),
        ("js", "function f(a, b) {} f( 1, 2 );", "function f(a, b) {} f( 2, 1 );"),
        ("c", "void f(int a, int b) { f(1, 2); }", "void f(int a, int b) { f(2, 1); }"),
        ("go", "package a\nfunc f(a, b C) { f(1, 2) }", "package a\nfunc f(a, b C) { f(2, 1) }"),
    ],
)  # fmt: skip
def test_calls_of_what_is_defined_once_are_found(suffix: str, text: str, changed: str) -> None:
    found = source(f"a.{suffix}", text)
    (place,) = call_sites([found])["f"]
    assert place.applied(found.data).decode() == changed


def test_they_are_found_in_other_files() -> None:
    files = [source("a.py", "def f(a, b): pass\nf(1, 2)\n"), source("b.py", "f(1, 2)\nf(3, 4)\n")]
    assert [place.path for place in call_sites(files)["f"]] == ["a.py", "b.py", "b.py"]


@pytest.mark.parametrize(
    "text",
    [
        "def f(a, b): pass\ndef f(b, a): pass\nf(1, 2)\n",
        "def f(a): pass\nf(1)\n",
        "def f(a, b): pass\nf(1, b=2)\n",
        "f(1, 2)\n",
        "class A:\n    def f(a, b): pass\nx.f(1, 2)\n",
        "def f(a, b): return g\nf(1)(2, 3)\n",
    ],
)
def test_what_has_two_definitions_or_one_argument_is_left_out(text: str) -> None:
    assert "f" not in call_sites([source("a.py", text)])
