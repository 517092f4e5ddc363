"""Shell lines taken apart: what runs, and what only looks as if it did."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.model.shell.reader import commands


def words(line: str) -> list[tuple[str, ...]]:
    return [command.words for command in commands(line)]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("", []),
        ("git status", [("git", "status")]),
        ("a && b; c | d || e & f\ng", [("a",), ("b",), ("c",), ("d",), ("e",), ("f",), ("g",)]),
        ("echo 'a; b' \"c && d\" e\\;f", [("echo", "a; b", "c && d", "e;f")]),
        ("echo ';' pytest tests", [("echo", ";", "pytest", "tests")]),
        ("g'i't pu\"sh\"", [("git", "push")]),
        ("git push > log 2>&1 < /dev/null", [("git", "push")]),
        ("2>/dev/null git push", [("git", "push")]),
        ("A=1 B='x y' git push", [("git", "push")]),
        ("env A=1 time nice -n 5 timeout 3m git push", [("git", "push")]),
        ("(cd x; git push)", [("cd", "x"), ("git", "push")]),
        ("git \\\n push", [("git", "push")]),
        ("# git push\nls # git push", [("ls",)]),
        ("cat > f <<EOF\ngit push\nEOF\nls", [("cat",), ("ls",)]),
        ("cat <<'END' > f; ls\ngit push\nEND\n", [("cat",), ("ls",)]),
        ("cat <<EOF\ngit push", [("cat",)]),
        ("cat <<EOF\n  EOF\ngit push\nEOF\nls", [("cat",), ("ls",)]),
        ("cat <<-EOF\n\tEOF\nls", [("cat",), ("ls",)]),
        ("cat <<A <<'B C'\nrm a\nA\nrm b\nB C\nls", [("cat",), ("ls",)]),
        ("echo 'a << b'\nls", [("echo", "a << b"), ("ls",)]),
        ("cat <<<word && ls", [("cat",), ("ls",)]),
        ("diff <(sort a) b", [("diff",), ("sort", "a"), ("b",)]),
        ("if test -d b; then rm -rf b; fi", [("test", "-d", "b"), ("rm", "-rf", "b"), ()]),
        ("for x in rm b; do ls $x; done", [(), ("ls", "$x"), ()]),
        ("case $x in rm) ls;; git|push) cat a;; esac", [(), ("ls",), ("cat", "a"), ()]),
        ("case $x in\nrm)\nls\n;;\nesac\nid", [(), ("ls",), (), ("id",)]),
        ("f() { rm x; }; f", [("rm", "x"), (), ("f",)]),
        ("while ! make; do sleep 1; done", [("make",), ("sleep", "1"), ()]),
        ("echo a # ; rm x", [("echo", "a")]),
        ("$'g\\x69t' push", [("git", "push")]),
        ("cat `rm x`", [("cat",), ("rm", "x")]),
        ("time -p env -u A B=1 timeout --signal=KILL 5 git push", [("git", "push")]),
        ("command -v git", [("command", "-v", "git")]),
        ("echo 'open", []),
        ('git "', []),
        ("a" * (1 << 17), []),
    ],
)
def test_a_line_is_taken_apart(line: str, expected: list[Any]) -> None:
    assert words(line) == expected


def test_a_command_knows_what_stands_around_it() -> None:
    first, second, third = commands("A=1 a && b;\nc\n")
    assert first.environment == (("A", "1"),)
    assert (first.before, first.after) == ("", "&&")
    assert (second.before, second.after) == ("&&", ";")
    assert (third.before, third.after) == (";", "")
    assert commands("a &")[0].after == "&"


PLAIN = st.text(st.characters(codec="utf-8", exclude_characters="\0"))


@given(st.lists(PLAIN.filter(bool), min_size=1, max_size=4))
def test_quoted_words_come_back(given_words: list[str]) -> None:
    line = " ".join("'" + word.replace("'", "'\\''") + "'" for word in given_words)
    (command,) = commands(f"run {line}")
    assert command.words == ("run", *given_words)


@given(st.text("ab '\"\\;&|()<>#$\n=", max_size=20))
def test_every_line_can_be_asked_about(line: str) -> None:
    assert isinstance(commands(line), tuple)
