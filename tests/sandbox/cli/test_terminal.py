import io
import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sandbox.cli.terminal import LONGEST, Progress, coloured, complain, document, line, safe, size
from sandbox.model.base import Record
from sandbox.model.errors import UsageError

STEERING = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
TEXT = st.text(st.characters(exclude_categories=["Cs"]))


class Screen(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


class Named(Record):
    name: str


@given(TEXT)
@example("\x1b]0;title\x07\x9b31m\u202e\r\x7f")
def test_what_is_shown_steers_nothing(text: str) -> None:
    assert STEERING.search(safe(text).replace("\n", "").replace("\t", "")) is None
    assert STEERING.search(line(text)) is None
    assert all(unicodedata.category(each) != "Cc" for each in line(text))
    assert safe(text).count("\n") == text.count("\n")


@given(TEXT)
def test_what_is_plain_is_shown_as_it_is(text: str) -> None:
    if STEERING.search(text) is None:
        assert safe(text) == line(text) == text


@given(TEXT, st.integers(1, 3))
def test_no_line_that_is_shown_is_long(text: str, times: int) -> None:
    rows = (text + "\x1b" * 1500 * times + "\n" + "a" * 3000 * times).split("\n")
    assert all(len(each) < LONGEST + 50 for each in safe("\n".join(rows)).split("\n"))
    assert len(line("\n".join(rows))) < LONGEST + 50
    assert f"… (a line of {LONGEST + 1:,} characters)" in line("a" * (LONGEST + 1))


@given(TEXT)
@example("\x9b31m\u202e\x7f\\u202e")
def test_json_steers_nothing_and_says_the_same(name: str) -> None:
    written = document(Named(name=name))
    assert STEERING.search(written.replace("\n", "")) is None
    assert Named.model_validate_json(written).name == name


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (99_940, "99.9 kB"),
        (123_456, "123 kB"),
        (999_600, "1.0 MB"),
        (2_500_000_000, "2.5 GB"),
        (99_950_000_000, "100 GB"),
        (7_000_000_000_000, "7000 GB"),
    ],
)
def test_sizes(count: int, text: str) -> None:
    assert size(count) == text


@given(st.integers(0, 1 << 60))
def test_sizes_have_three_digits_and_a_unit(count: int) -> None:
    assert re.fullmatch(r"\d{1,3} B|\d{1,2}\.\d [kMG]B|\d{3,} [kMG]B", size(count))


def test_progress_elsewhere_than_in_a_terminal_is_lines() -> None:
    stream = io.StringIO()
    progress = Progress(stream)
    progress.doing("one")
    progress.done("one is done")
    progress.doing("two")
    progress.close()
    assert stream.getvalue() == "one is done\n"


def test_progress_in_a_terminal_shows_what_is_being_done() -> None:
    screen = Screen()
    progress = Progress(screen)
    progress.doing("one\x1b[2J\nmore")
    assert screen.getvalue() == "\r\x1b[Kone\\x1b[2J\\nmore ..."
    progress.done("one is done")
    progress.doing("two")
    progress.close()
    progress.close()
    assert screen.getvalue().endswith("\r\x1b[Kone is done\n\r\x1b[Ktwo ...\r\x1b[K")


def test_progress_goes_on_without_a_reader() -> None:
    class Closed(Screen):
        def flush(self) -> None:
            raise BrokenPipeError

    progress = Progress(Closed())
    progress.doing("one")
    progress.done("one is done")
    progress.close()


def test_colours_are_for_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert coloured("passed", io.StringIO()) == "passed"
    assert coloured("passed", Screen()) == "\x1b[32mpassed\x1b[0m"
    assert coloured("other", Screen()) == "other"
    monkeypatch.setenv("NO_COLOR", "1")
    assert coloured("passed", Screen()) == "passed"


def test_an_error_is_two_sentences(capsys: pytest.CaptureFixture[str]) -> None:
    complain(UsageError("There is no \x1b[31mtask.", "Name another."))
    complain(UsageError("There is nothing."))
    assert capsys.readouterr().err == (
        "error: There is no \\x1b[31mtask.\nName another.\nerror: There is nothing.\n"
    )
