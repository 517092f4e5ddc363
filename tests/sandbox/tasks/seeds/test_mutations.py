"""What each kind of defect makes of a line, and that all that is found can be planted."""

import pytest

from sandbox.tasks.differences import lines_of
from sandbox.tasks.seeds.call_graph import CallGraph
from sandbox.tasks.seeds.languages import Source, languages, parsed
from sandbox.tasks.seeds.mutations import kinds, mutations
from sandbox.tasks.seeds.taken_back import taken_back
from tests import ROOT

PYTHON = {
    "boundary": ("a < b", "a <= b"),
    "turned-comparison": ("a < b", "a > b"),
    "equality": ("a not in b", "a in b"),
    "condition": ("if a.b:\n    c()", "if not a.b:\n    c()"),
    "lost-negation": ("not a", "a"),
    "connective": ("a and b", "a or b"),
    "lost-condition": ("a and b", "a"),
    "arithmetic": ("a - b", "a + b"),
    "augmented": ("a += b", "a = b"),
    "argument-order": ("f(a, b)", "f(b, a)"),
    "operand-order": ("a - b", "b - a"),
    "dropped-guard": ("if a:\n    raise b\nc", "c"),
    "lost-branch": ("if a:\n    b\nelse:\n    c", "if a:\n    b\n"),
    "lost-case": ("if a:\n    b\nelif c:\n    d\n", "if a:\n    b\n"),
    "exchanged-choice": ("a if b else c", "c if b else a"),
    "wrong-constant": ("a[3]", "a[4]"),
    "wrong-unit": ("1024", "1000"),
    "flag": ("True", "False"),
    "default-argument": ("def f(a=None): pass", "def f(a=0): pass"),
    "dropped-keyword": ("f(a, b=c)", "f(a )"),
    "slice": ("a[:b]", "a[:b + 1]"),
    "wrong-attribute": ("a.lstrip()", "a.rstrip()"),
    "wrong-function": ("any(a)", "all(a)"),
    "lost-copy": ("dict(a)", "a"),
    "swallowed-exception": (
        "try:\n    a\nexcept B:\n    raise",
        "try:\n    a\nexcept B:\n    pass",
    ),
    "missed-exception": (
        "try:\n    a\nexcept (B, C):\n    d",
        "try:\n    a\nexcept B:\n    d",
    ),
    "dropped-call": ("def f():\n    a.close()", "def f():\n    pass"),
    "dropped-assignment": ("def f():\n    a.b = c", "def f():\n    pass"),
    "loop-end": ("while a:\n    break", "while a:\n    continue"),
    "none-or-empty": ("a is None", "not a"),
    "encoding": ("open(a, encoding='utf-8')", "open(a, encoding='latin-1')"),
    "pattern": ("re.match(r'a+b*', c)", "re.match(r'a*b*', c)"),
    "scanned-membership": ("a in b", "a in list(b)"),
    "counted-length": ("len(a)", "sum(1 for _ in a)"),
    "gathered-first": ("any(a for a in b)", "any(list(a for a in b))"),
    "gathered-argument": ("for a in b:\n    c", "for a in list(b):\n    c"),
    "lost-memory": ("@cache\ndef f(): pass", "def f(): pass"),
    "unbounded-memory": ("deque(a, maxlen=b)", "deque(a, maxlen=None)"),
}
OTHERS = [
    ("a.js", "boundary", "a >= b;", "a > b;"),
    ("a.js", "equality", "a === b;", "a !== b;"),
    ("a.js", "condition", "if (a) { b(); }", "if (!a) { b(); }"),
    ("a.js", "dropped-guard", "function f() { if (a) { return; } b(); }", "function f() {  b(); }"),
    ("a.js", "slice", "a.slice(1);", "a.slice(1 + 1);"),
    ("a.js", "lost-copy", "f([...a]);", "f(a);"),
    ("a.js", "none-or-empty", "typeof a === 'undefined';", "!a;"),
    ("a.ts", "flag", "const a: boolean = true;", "const a: boolean = false;"),
    ("a.c", "dropped-call", "void f(void) { g(); h = 1; }", "void f(void) {  h = 1; }"),
    ("a.c", "loop-end", "void f(void) { for (;;) break; }", "void f(void) { for (;;) continue; }"),
    ("a.go", "argument-order", "package a\nvar x = f(b, c)\n", "package a\nvar x = f(c, b)\n"),
    ("a.go", "dropped-call", "package a\nfunc f() { g(); h() }", "package a\nfunc f() { ; h() }"),
    ("a.rs", "connective", "fn f() -> bool { a && b }", "fn f() -> bool { a || b }"),
]  # fmt: skip


MEMORY = {
    "short-allocation": (
        "void f(void) { a = malloc(n + 1); }",
        "void f(void) { a = malloc(n); }",
    ),
    "early-release": (
        "void f(void) { g(a); h->deallocate(a); }",
        "void f(void) { h->deallocate(a); g(a); }",
    ),
}
"""Kinds of languages in which memory is given back by hand."""


def source(path: str, text: str) -> Source:
    found = parsed(path, text.encode())
    assert found is not None
    return found


def planted(path: str, text: str, kind: str) -> list[str]:
    found = source(path, text)
    return [m.applied(found.data).decode() for m in mutations(found) if m.kind == kind]


@pytest.mark.parametrize("kind", PYTHON)
def test_each_kind_does_what_it_says(kind: str) -> None:
    before, after = PYTHON[kind]
    assert after in planted("a.py", before, kind)


@pytest.mark.parametrize("kind", MEMORY)
def test_memory_is_misused_in_c(kind: str) -> None:
    before, after = MEMORY[kind]
    assert after in planted("a.c", before, kind)


def test_there_are_at_least_twenty_and_each_is_tried() -> None:
    assert set(kinds()) == {*PYTHON, *MEMORY}
    assert len(PYTHON) >= 20


@pytest.mark.parametrize(("path", "kind", "before", "after"), OTHERS)
def test_other_languages_are_the_same_mechanism(
    path: str, kind: str, before: str, after: str
) -> None:
    assert after in planted(path, before, kind)


@pytest.mark.parametrize("language", languages())
def test_all_that_is_asked_of_a_language_fits_its_grammar(language: str) -> None:
    """A query that names what a grammar does not have is refused when it is compiled."""
    empty = source(f"a{languages()[language].suffixes[0]}", "")
    for kind in kinds().values():
        for names, query in kind.queries.items():
            assert set(names.split()) <= set(languages())
            if language in names.split():
                assert list(empty.found(query)) == []
                assert not kind.instead or language in kind.instead
    assert empty.calls() == set()


def test_what_is_found_in_a_real_file_can_be_planted_and_differs() -> None:
    found = source("glob.py", (ROOT / "sandbox/model/glob.py").read_text())
    every = list(mutations(found))
    assert len(every) > 30
    right = [m for m in every if parsed("glob.py", m.applied(found.data)) is not None]
    assert len(right) > 0.9 * len(every)
    assert all(m.applied(found.data) != found.data for m in every)
    assert list(mutations(found)) == every, "the same each time"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("void f(void) {\n    g();\n    h = 1;\n}\n", "void f(void) {\n    h = 1;\n}\n"),
        ("void f(void) {\n    g(1,\n      2);  \n}\n", "void f(void) {\n}\n"),
        ("void f(void) { g(); // why\n}\n", "void f(void) {  // why\n}\n"),
        ("void f(void) { g();\n}\n", "void f(void) {\n}\n"),
        ("void f(void) {\r\n  g();\r\n}\r\n", "void f(void) {\r\n}\r\n"),
    ],
)
def test_what_is_taken_out_leaves_no_blanks_behind(before: str, after: str) -> None:
    assert planted("a.c", before, "dropped-call") == [after]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def f():\n    g()\n    h = 1\n", "def f():\n    h = 1\n"),
        ("def f():\n    # why\n    g()\n", "def f():\n    # why\n    pass\n"),
        ("if a:\n    g()\nh = 1\n", "if a:\n    pass\nh = 1\n"),
    ],
)  # fmt: skip
def test_pass_stands_only_where_nothing_else_does(before: str, after: str) -> None:
    assert planted("a.py", before, "dropped-call") == [after]


def test_wrong_syntax_and_unknown_languages_are_left_out() -> None:
    assert parsed("a.py", b"def f(:") is None
    assert parsed("a.txt", b"a") is None


def test_a_change_of_upstream_is_taken_back_for_itself() -> None:
    older = b"def f(a):\n    return a\n\n\ndef g(a):\n    return a + 1\n"
    now = "def f(a):\n    return abs(a)\n\n\ndef g(a):\n    return a + 2\n"
    found = list(taken_back(older, source("a.py", now)))
    assert [m.function for m in found] == ["f", "g"]
    assert found[0].applied(now.encode()).decode() == now.replace("abs(a)", "a")
    assert found[1].applied(now.encode()).decode() == now.replace("+ 2", "+ 1")


def test_calls_are_counted_by_names() -> None:
    code = source("a.py", "def f():\n    g()\n\ndef g():\n    h()\n\ndef h():\n    f()\n")
    graph = CallGraph([code])
    assert [graph.distance({"f"}, name) for name in "fghx"] == [1, 2, 3, None]
    assert graph.distance((), "f") is None


def test_lines_are_those_of_git() -> None:
    """A form feed, which old sources have between functions, ends no line; nor does a return."""
    text = "a = 1 < 2\r\n\x0c\nb = '\u2028'\rc"
    assert lines_of(text.encode()) == ["a = 1 < 2\r\n", "\x0c\n", "b = '\u2028'\rc"]
    older, now = "a = 1\n\x0c\nb = 2\n", "a = 1\n\x0c\nb = 3\n"
    (found,) = taken_back(older.encode(), source("a.py", now))
    assert found.applied(now.encode()).decode() == older


def test_what_is_not_utf8_is_left_out() -> None:
    assert parsed("a.py", b"# \xe9\na = 1\n") is None


def test_macros_of_c_are_no_reason_to_leave_a_file_out() -> None:
    read = parsed("a.c", b"int DECL main(void)\n{\n    return a < b;\n}\n")
    assert read is not None
    assert read.faults
    assert [each.kind for each in mutations(read) if each.kind == "boundary"] == ["boundary"]
    assert parsed("a.c", b"int main(void)\n{\n    return 0;\n}\n") is not None
    assert parsed("a.py", b"def DECL main():\n    pass\n") is None
