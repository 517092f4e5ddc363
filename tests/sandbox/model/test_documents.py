"""Data files: what is read, and what is said of each way to get one wrong."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, field_validator

from sandbox.model import documents
from sandbox.model.base import Record
from sandbox.model.errors import DocumentError


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Circle(Record):
    kind: Literal["circle"]
    radius: float


class Square(Record):
    kind: Literal["square"]
    side: int


class Drawing(Record):
    title: str
    date: str = ""
    colour: Colour = Colour.RED
    shapes: tuple[Annotated[Circle | Square, Field(discriminator="kind")], ...] = ()
    notes: dict[str, str] = Field(default_factory=dict)
    size: int = 0
    nested: "Drawing | None" = None
    visible: bool = True

    @field_validator("title")
    @classmethod
    def _short(cls, title: str) -> str:
        if len(title) > 20:
            raise ValueError("is longer than 20 characters")
        return title


PATH = Path("drawing.yaml")


def read(text: str) -> Drawing:
    return documents.parse(text, PATH, Drawing)


def refusal(text: str) -> list[str]:
    with pytest.raises(DocumentError) as caught:
        read(text)
    assert caught.value.next_step
    return caught.value.message.splitlines()


def test_lists_become_tuples_and_words_become_enums(tmp_path: Path) -> None:
    path = tmp_path / "drawing.yaml"
    path.write_text(
        "title: One\n"
        "colour: blue\n"
        "shapes:\n"
        "  - {kind: circle, radius: 1.5}\n"
        "  - kind: square\n"
        "    side: 2\n"
        "notes: {a: b}\n"
    )
    drawing = documents.load(path, Drawing)
    assert drawing.colour is Colour.BLUE
    assert drawing.shapes == (Circle(kind="circle", radius=1.5), Square(kind="square", side=2))
    assert drawing.notes == {"a": "b"}


@pytest.mark.parametrize(
    "written",
    (
        "2024-01-31 2024-01-31T10:00:00Z yes off 0o17 017 0x1f 1_000 12:30:45 1.2.3 .inf = << "
        f"{'9' * 5000} 1e999 TRUE Null"
    ).split(),
)
def test_what_other_readers_convert_stays_text(written: str) -> None:
    assert read(f"title: t\ndate: {written}\n").date == written


@pytest.mark.parametrize("key", ["true", "1", "on", "~", "4.9.0", "?", "2024-01-01"])
def test_keys_are_text(key: str) -> None:
    assert read(f"title: t\nnotes:\n  '{key}': x\n").notes == {key: "x"}
    if key != "?":
        assert read(f"title: t\nnotes:\n  {key}: x\n").notes == {key: "x"}


def test_booleans_and_numbers_do_not_stand_for_each_other() -> None:
    assert read("title: t\nvisible: false\nsize: -3\n").visible is False
    assert refusal("title: t\nvisible: 1\n") == [
        "drawing.yaml:2: visible: should be a valid boolean, not 1"
    ]
    assert refusal("title: t\nsize: '3'\n") == [
        'drawing.yaml:2: size: should be a valid integer, not "3"'
    ]
    assert refusal("title: 3\n") == [
        "drawing.yaml:1: title: should be a valid string, not 3; put it in quotes"
    ]


def test_each_problem_has_its_line() -> None:
    assert refusal(
        "size: big\n"
        "shapes:\n"
        "  - kind: circle\n"
        "    radios: 1\n"
        "  - kind: square\n"
        "    side: 1.5\n"
        "nested:\n"
        "  colour: green\n"
    ) == [
        "drawing.yaml:1: title: is missing",
        'drawing.yaml:1: size: should be a valid integer, not "big"',
        "drawing.yaml:3: shapes[0].radius: is missing",
        "drawing.yaml:4: shapes[0].radios: unknown key; did you mean radius?",
        "drawing.yaml:6: shapes[1].side: should be a valid integer, not 1.5",
        "drawing.yaml:7: nested.title: is missing",
        "drawing.yaml:8: nested.colour: should be 'red' or 'blue', not \"green\"",
    ]


def test_an_unknown_key_names_the_nearest_or_all_known_ones() -> None:
    assert refusal("title: t\ncolor: red\n") == [
        "drawing.yaml:2: color: unknown key; did you mean colour?"
    ]
    [line] = refusal("title: t\nnested:\n  title: t\n  xyz: 1\n")
    assert line == (
        "drawing.yaml:4: nested.xyz: unknown key; known here: "
        "colour, date, nested, notes, shapes, size, title, visible"
    )


def test_a_word_that_decides_what_the_rest_is_is_told_like_a_key() -> None:
    assert refusal("title: t\nshapes:\n  - kind: circel\n    radius: 1.5\n") == [
        "drawing.yaml:3: shapes[0]: kind: unknown word 'circel'; did you mean circle?"
    ]
    assert refusal("title: t\nshapes:\n  - kind: x\n") == [
        "drawing.yaml:3: shapes[0]: kind: unknown word 'x'; known here: circle, square"
    ]


def test_a_rule_of_the_model_speaks_for_itself() -> None:
    assert refusal(f"title: {'x' * 30}\n") == [
        "drawing.yaml:1: title: is longer than 20 characters"
    ]


def test_problems_are_counted_beyond_ten() -> None:
    lines = refusal("title: t\n" + "".join(f"unknown{n}: 1\n" for n in range(15)))
    assert len(lines) == 11
    assert lines[-1] == "drawing.yaml: and 5 more"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("title: a\ntitle: b\n", "drawing.yaml:2: title: occurs twice; first on line 1"),
        (
            "title: t\nnested:\n  title: a\n  title: b\n",
            "drawing.yaml:4: nested.title: occurs twice; first on line 3",
        ),
        ("title: &a t\n", "drawing.yaml:1: title: anchor &a is not allowed"),
        ("title: !!str 3\n", "drawing.yaml:1: title: tag tag:yaml.org,2002:str is not allowed"),
        ("title: t\nnotes: !x {}\n", "drawing.yaml:2: notes: tag !x is not allowed"),
        ("title: t\n? [a]\n: b\n", "drawing.yaml:2: a key must be text, not a list or a mapping"),
        ("title: t\n---\ntitle: u\n", "drawing.yaml:2: a second document starts here"),
        ("title: [\n", "drawing.yaml:2: is not YAML: "),
        ("a: b: c\n", "drawing.yaml:1: is not YAML: "),
        ("title: t\n\tsize: 1\n", "drawing.yaml:2: is not YAML: "),
        ("title: t\ndate: \x07\n", "drawing.yaml:"),
        ("", "drawing.yaml:1: should be an object, not null"),
        ("- a\n", 'drawing.yaml:1: should be an object, not ["a"]'),
        ("[" * 100, "drawing.yaml:1: [0][0][0]"),
        ("- " * 5000, "drawing.yaml:1: [0][0][0]"),
        (
            "title: t\nshapes:\n  - a: 1\n  - b: 1\n    b: 2\n",
            "drawing.yaml:5: shapes[1].b: occurs",
        ),
    ],
)
def test_refused(text: str, expected: str) -> None:
    assert refusal(text)[0].startswith(expected)


def test_brackets_without_end_are_refused_as_nested_by_us_or_by_the_parser() -> None:
    [line] = refusal("[" * 5000)
    assert line.startswith("drawing.yaml:1: ")
    assert "nest" in line


def test_aliases_cannot_multiply() -> None:
    text = "a: &a [x, x]\n" + "".join(f"b{n}: &b{n} [*a, *a]\n" for n in range(30))
    assert any("alias *a is not allowed" in line for line in refusal(text))


def test_a_missing_file_or_a_folder(tmp_path: Path) -> None:
    for path, reason in ((tmp_path / "none.yaml", "No such file"), (tmp_path, "Is a directory")):
        with pytest.raises(DocumentError, match=f"{path}: cannot be read: {reason}"):
            documents.load(path, Drawing)


def test_undecodable_bytes_have_a_line(tmp_path: Path) -> None:
    path = tmp_path / "drawing.yaml"
    path.write_bytes(b"title: t\ndate: \xff\n")
    with pytest.raises(DocumentError, match=r"drawing.yaml:2: is not UTF-8 text: invalid start"):
        documents.load(path, Drawing)


def test_the_schema_names_the_fields() -> None:
    described = documents.schema(Drawing)
    assert "Drawing" in described["$defs"]
    assert described["$defs"]["Circle"]["properties"].keys() == {"kind", "radius"}


_WORDS = "title t shapes nested null << 1e9 # ' [ ] { } : &a *a | \\ud800 \x00 \x85 \ufeff \" \t \r"
_SPACED = (": ", "- ", ", ", "? ", "&a ", "!!int ", "\n", "\n  ", "|\n", "---\n", "...\n")
_FRAGMENTS = st.sampled_from((*_WORDS.split(" "), *_SPACED))


@given(st.one_of(st.text(), st.lists(_FRAGMENTS, max_size=40).map("".join)))
def test_any_text_is_a_model_or_a_document_error(text: str) -> None:
    try:
        read(text)
    except DocumentError as error:
        message = error.message
    else:
        message = "drawing.yaml:"
    assert message.startswith("drawing.yaml:")
