"""Which programs a line names; bash is the second opinion on scripts made by a grammar."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.model.shell.reader import programs, started_by
from sandbox.model.shell.table import shipped


def named(line: str) -> list[tuple[str, ...]]:
    """Give the programs of a line that start no others, each with its words."""
    return [
        (each.started.program, *each.started.words)
        for each in programs(line, shipped())
        if not each.starts_others
    ]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("cat > run.sh <<'EOF'\nrm -rf build\nEOF", [("cat",)]),
        ("echo a # ; rm x", [("echo", "a")]),
        ("if test -d b; then rm -rf b; fi", [("test", "-d", "b"), ("rm", "-rf", "b")]),
        ("bash -c 'rm -rf b'", [("rm", "-rf", "b")]),
        ("bash -lc 'cd x && rm b'", [("cd", "x"), ("rm", "b")]),
        ("ls | xargs -n 1 rm -f", [("ls",), ("rm", "-f")]),
        ("nice -n 5 sudo rm x", [("rm", "x")]),
        ("pytest a.py::t", [("pytest", "a.py::t")]),
        ("git log --format=%h", [("git", "log", "--format=%h")]),
        ("timeout 5 x", [("x",)]),
        ("timeout --signal=KILL 5 x", [("x",)]),
        ("find . -name a -exec rm {} \\;", [("rm", "{}", ";")]),
        ("eval 'rm x; ls'", [("rm", "x"), ("ls",)]),
        ("sudo -u root env A=1 sh -c \"bash -c 'rm x'\"", [("rm", "x")]),
    ],
)
def test_a_line_names_its_programs(line: str, expected: list[tuple[str, ...]]) -> None:
    assert named(line) == expected


def test_ancestors_do_not_depend_on_the_spelling_of_a_wrapper() -> None:
    lines = ("timeout 5 rm x", "timeout -s KILL 5 rm x", "timeout --signal=KILL 5 rm x")
    found = {tuple(programs(line, shipped()))[-1].ancestors for line in lines}
    assert found == {("timeout", "bash")}


def test_a_program_that_starts_nothing_names_nothing_else() -> None:
    assert list(started_by(("rm", "x"), shipped())) == []


WORDS = st.sampled_from(
    [
        "a",
        "'b c'",
        '"d"',
        "\\;",
        "x'y'\"z\"",
        "f#g",
        "'#'",
        "''",
        '"e\\"f\\\\g\\h"',
        "$'t\\x41\\'q'",
    ]
)
"""As they are written; the last one is bash's alone."""

FORMS = (
    "{0}", "{0} 2>&1", "{0} </dev/null", "{0} &>/dev/null", "env A=1 {0}", "timeout 9 {0}",
    "timeout --signal=KILL 9 {0}", "A=1 {0}", "nice -n 1 {0}", "bash -c {1}", "eval {1}",
    "( {0} )", "{{ {0}; }}", "! ! {0}", "{0} # {0}", "command {0}", "echo {0} >/dev/null; {0}",
    "echo x | {0}", "true && {0}", "false || {0}", "{0} &", "true; {0};",
)  # fmt: skip

JOINED = (
    "{0}\n{1}\n", "{0}\n{1}", "if {0}\nthen {1}\nelse {1}\nfi",
    "for each in p q\ndo {0}\nbreak\ndone\n{1}", "{0}\nfor p in p; do {1}\ndone",
    "case p in\nq) {0}\n;;\np) {1}\n;;\nesac\n{0}", "case p in p) {0}\nesac\n{1}",
    "while true\ndo {1}\nbreak\ndone", "until {0}\ndo break\ndone",
    "cat >/dev/null <<'END'\n{0}\nEND\n{1}", "cat >/dev/null <<-E <<F\n\t\"\n\tE\n'\nF\n{1}",
    "f() {{ {0}\n}}\n{1}\nf", "function f {{ {0}\n}}\nf\n{1}",
)  # fmt: skip


@st.composite
def script(draw: st.DrawFn, depth: int = 2) -> str:
    """Draw a script of commands `p WORD...`, of which most run."""
    if depth and draw(st.integers(0, 2)):
        inner = script(depth - 1)
        return draw(st.sampled_from(JOINED)).format(draw(inner), draw(inner))
    line = " ".join(["p", *draw(st.lists(WORDS, max_size=3))])
    quoted = "'" + line.replace("'", "'\\''") + "'"
    return draw(st.sampled_from(FORMS)).format(line, quoted)


@pytest.fixture(scope="module")
def bash(tmp_path_factory: pytest.TempPathFactory) -> "Bash":
    return Bash(tmp_path_factory.mktemp("programs"))


class Bash:
    """Runs scripts and tells with which words their programs `p` were started."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._log = folder / "log"
        program = folder / "p"
        # One write for each start: some of them run at the same time.
        program.write_text(f"#!/bin/sh\nprintf '%s\\037' p \"$@\" '\036' >>{self._log}\n")
        program.chmod(0o755)

    def ran(self, line: str) -> Iterator[tuple[str, ...]]:
        self._log.write_text("")
        text = f"export PATH={self._folder}:$PATH\n{line}\nwait"
        subprocess.run(["/bin/bash", "-c", text], timeout=60, capture_output=True, check=False)
        entries = self._log.read_text().split("\x1e\x1f")[:-1]
        return (tuple(entry.split("\x1f")[:-1]) for entry in entries)


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(line=script())
def test_what_bash_runs_is_read(line: str, bash: Bash) -> None:
    assert set(bash.ran(line)) <= set(named(line))


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(pieces=st.lists(st.sampled_from(FORMS[:17]), min_size=1, max_size=4), word=WORDS)
def test_of_what_runs_in_turn_nothing_is_missed_or_made_up(
    pieces: list[str], word: str, bash: Bash
) -> None:
    lines = []
    for number, form in enumerate(pieces):
        line = f"p {number} {word}"
        lines.append(form.format(line, "'" + line.replace("'", "'\\''") + "'"))
    read = [found for found in named("\n".join(lines)) if found[0] == "p"]
    assert list(bash.ran("\n".join(lines))) == read
