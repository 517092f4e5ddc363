"""Commands are found in recordings that asciinema made, and in no others."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from sandbox.model.errors import DocumentError, UsageError
from sandbox.tasks.imports import casts
from sandbox.tasks.imports.casts import Cast
from sandbox.tasks.imports.typed import typed

RECORDINGS = Path(__file__).with_name("recordings")
ON, OFF = "\x1b[?2004h", "\x1b[?2004l\r"
LONG = (
    r"printf 'Deprecations\n============\n\nNone yet, but this line is long enough to be wrapped "
    r"by a terminal of eighty columns.\n' > deprecations.rst"
)
COMMIT = (
    "git rm -q MANIFEST.in; git add -A && git -c user.name=$NAME -c user.email=t@example.org "
    'commit -q -m "Prepare 0.5.2"'
)
COMMANDS = [
    "ls",
    "cat README.rst | head -n 3",  # typed with three corrections
    "cd docs",
    LONG,
    "cd ..",
    """sed -i "s/__version__ = .*/__version__ = '0.5.2'/" inflection/__init__.py""",  # completed
    "grep -n __version__ inflection/__init__.py",  # a line before it was cancelled
    "cat > CHANGES <<'END'\n0.5.2\n\n  - \"quotes\" and $dollars\nEND",
    "export NAME=tester",
    COMMIT,
    "export NAME=tester",  # fetched from the history
]


def lines(pieces: Sequence[str], prompt: str | None = None, width: int = 80) -> list[str]:
    return [each.line for each in typed(Cast(width, tuple(pieces)), prompt)]


@pytest.mark.parametrize("shell", ["bash", "zsh", "dash"])
def test_commands_of_a_shell_are_found_as_they_were_run(shell: str) -> None:
    found = [each.line for each in typed(casts.read(RECORDINGS / f"{shell}.cast"))]
    wanted = COMMANDS
    if shell == "dash":  # completes nothing and has no history
        wanted = [*COMMANDS[:5], COMMANDS[5].removesuffix("nit__.py"), *COMMANDS[6:-1]]
    assert found == wanted


@pytest.mark.parametrize("width", [20, 33, 80, 200])
def test_a_line_is_the_same_on_a_terminal_of_any_width(width: int) -> None:
    line = "echo " + "a b " * 30 + "end"
    assert lines([f"{ON}$ {line}\r\n{OFF}a\r\n{ON}$ "], width=width) == [line]


def test_the_three_formats_say_the_same(tmp_path: Path) -> None:
    pieces = ["$ ", "ls\r\n", "a\u2028b\x85c\r\n$ "]
    rows = [json.dumps([0.5, "o", piece], ensure_ascii=False) for piece in pieces]
    asides = ['[0.1, "i", "l"]', '[0.1, "m", ""]', '[0.1, "r", "80x24"]', '[0.1, "x", "0"]']
    size = {"width": 80, "height": 24}
    old = {"version": 1, **size, "stdout": [[0.5, piece] for piece in pieces]}
    texts = (
        json.dumps(old),
        "\n".join([json.dumps({"version": 2, **size}), *asides[:2], *rows]),
        "\n".join(
            [json.dumps({"version": 3, "term": {"cols": 80, "rows": 24}}), "# said", *rows, *asides]
        ),
    )
    for number, text in enumerate(texts):
        file = tmp_path / f"{number}.cast"
        file.write_text(text)
        assert casts.read(file) == Cast(80, tuple(pieces))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "line 1 is not JSON"),
        ("[]", "not the header of a recording"),
        ('{"version": 4}', "not the header of a recording"),
        ('{"version": 2, "height": 24}', "does not say how wide"),
        ('{"version": 2, "width": 1000000}', "does not say how wide"),
        ('{"version": 3, "term": "x"}', "does not say how wide"),
        ('{"version": 2, "width": 80}\n[1, "o"]', "line 2 is not an event"),
        ('{"version": 2, "width": 80}\n\n{"a": 1}', "line 3 is not an event"),
        ('{"version": 2, "width": 80}\n[1, "o", "a"', "line 2 is not JSON"),
        ("[" * 100_000, "line 1 is not JSON"),
    ],
)
def test_what_is_no_recording_is_told_by_its_line(text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "x.cast"
    file.write_text(text)
    with pytest.raises(DocumentError, match=said):
        casts.read(file)


@pytest.mark.parametrize(
    ("pieces", "said"),
    [
        (["no prompt at all\r\n"], "No command is found"),
        ([f"{ON}$ exit\r\n{OFF}"], "No command is found"),
        ([f"{ON}$ python3\r\n{OFF}Python 3\r\n{ON}>>> 1 + 1\r\n{OFF}2\r\n"], "no shell asked"),
        ([f"{ON}$ vim a\r\n{OFF}\x1b[?1049h~\x1b[?1049l{ON}$ "], "took the whole screen"),
        ([f"{ON}$ git commit\r\n{OFF}\x1b[?1049h~\x1b[?1049l{ON}$ "], "took the whole screen"),
    ],
)
def test_what_cannot_be_repeated_is_refused(pieces: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        lines(pieces)


@pytest.mark.parametrize(
    ("line", "shows"),
    [
        ("git log", True),
        ("git log --grep commit | less", True),
        ("less notes/commit.txt", True),
        ("man git", True),
        ("vim a | less", False),
        ("git rebase -i HEAD~2", False),
        ("git add -p", False),
        ("$EDITOR a", False),
    ],
)
def test_what_only_shows_may_take_the_whole_screen(line: str, *, shows: bool) -> None:
    pieces = [f"{ON}$ {line}\r\n{OFF}\x1b[?1049hx\x1b[?1049l{ON}$ "]
    if shows:
        assert lines(pieces) == [line]
    else:
        with pytest.raises(UsageError, match="took the whole screen"):
            lines(pieces)


def test_output_that_looks_like_a_prompt_is_no_command() -> None:
    assert lines(["$ ", "cat a\r\n", "$ rm -rf x\r\n# Title\r\n$ ", "ls\r\n"]) == ["cat a", "ls"]


def test_what_ctrl_c_ended_is_left_out() -> None:
    waits = f"{ON}$ tail -f log\r\n{OFF}a\r\n^C\r\n{ON}$ ls\r\n{OFF}a ^C b\r\n{ON}$ "
    assert lines([waits]) == ["ls"]
    assert lines(["$ ", "sleep 9\r\n", "^C\r\n$ ", "ls\r\n", "a\r\n$ "]) == ["ls"]


def test_another_prompt_is_named() -> None:
    pieces = [f"{ON}[me] => make all\r\n{OFF}{ON}[me] => "]
    assert lines(pieces, r"\[me\] => ") == ["make all"]
    with pytest.raises(UsageError, match="not a regular expression"):
        lines(pieces, "[")


def test_what_steers_the_terminal_does_no_harm() -> None:
    odd = "\x1b]0;title\x07\x1b[31m\x1b[9999;9999H\x1b[1;1H\x1b[2J"
    assert lines([f"{odd}\r\n{ON}$ ls\r\n{OFF}{odd}{ON}$ cd\r\n{OFF}"]) == ["ls", "cd"]
