"""Data files: YAML text, read into a strict model or refused with file, line and field."""

import difflib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from sandbox.model import yaml_tree
from sandbox.model.errors import DocumentError
from sandbox.model.yaml_tree import Node, Problem

_MAXIMUM_PROBLEMS = 10

AnyModel = TypeVar("AnyModel", bound=BaseModel)
Part = str | int
Schema = Mapping[str, Any]
Check = Callable[[AnyModel], Iterable[tuple[Sequence[Part], str]]]
"""What is wrong with a document beyond its model: where, by keys and positions, and what."""


def load(path: Path, model: type[AnyModel], check: Check[AnyModel] | None = None) -> AnyModel:
    """Read a file; DocumentError names every problem (ten at most) by line and field.

    `check` says what else is wrong with what was read.
    """
    return parse(read(path), path, model, check)


def read(path: Path) -> str:
    """Return the text of a file; DocumentError where it cannot be read or is none."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DocumentError(
            f"{path}: cannot be read: {error.strerror}", "Check the path and its permissions."
        ) from error
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise _refusal(path, [Problem(line, "", f"is not UTF-8 text: {error.reason}")]) from error


def parse(
    text: str, path: Path, model: type[AnyModel], check: Check[AnyModel] | None = None
) -> AnyModel:
    """Read YAML text that stands in `path`, which is only named in errors."""
    tree, problems = yaml_tree.compose(text)
    if problems:
        raise _refusal(path, problems)
    try:
        document = model.model_validate_json(json.dumps(tree.data()), strict=True)
    except ValidationError as error:
        details = sorted(
            error.errors(include_url=False), key=lambda each: _locate_error(each, tree)[0]
        )
        # Wording one takes its time, and nobody is shown more than these.
        told = [_model_problem(each, tree, model) for each in details[:_MAXIMUM_PROBLEMS]]
        raise _refusal(path, told, len(details) - len(told)) from error
    found = [
        Problem(*_locate(tree, place, missing=False), text)
        for place, text in (check(document) if check else ())
    ]
    if found:
        raise _refusal(path, found)
    return document


def schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON Schema of the documents that `load` accepts for a model."""
    return model.model_json_schema()


def _refusal(path: Path, problems: Sequence[Problem], more: int = 0) -> DocumentError:
    lines = [
        f"{path}:{problem.line}: {problem.field}{': ' if problem.field else ''}{problem.text}"
        for problem in sorted(problems, key=lambda problem: problem.line)
    ]
    more += max(len(lines) - _MAXIMUM_PROBLEMS, 0)
    if more:
        lines[_MAXIMUM_PROBLEMS:] = [f"{path}: and {more} more"]
    return DocumentError("\n".join(lines), f"Correct {path} and repeat; nothing was done.")


def _model_problem(details: ErrorDetails, tree: Node, model: type[BaseModel]) -> Problem:
    line, path = _locate_error(details, tree)
    match details["type"]:
        case "missing":
            text = "is missing"
        case "extra_forbidden":
            text = f"unknown key; {_suggestion(details['loc'], model)}"
        case "union_tag_invalid":
            text = _tag(details["ctx"])
        case "value_error" | "assertion_error":
            text = details["msg"].partition(", ")[2]
        case _:
            message = details["msg"].removeprefix("Input ")
            shown = json.dumps(details["input"], default=str, ensure_ascii=False)
            text = f"{message}, not {shown if len(shown) <= 60 else shown[:57] + '...'}"
            if details["type"] == "string_type" and isinstance(details["input"], int | float):
                text += "; put it in quotes"
    return Problem(line, path, text)


def _tag(about: Mapping[str, str]) -> str:
    """Say of a word that decides what the rest is that it is not known."""
    name, tag = about["discriminator"].strip("'"), about["tag"]
    known = [each.strip(" '") for each in about["expected_tags"].split(",")]
    near = difflib.get_close_matches(tag, known, n=3)
    meant = f"did you mean {' or '.join(near)}?" if near else f"known here: {', '.join(known)}"
    return f"{name}: unknown word {tag!r}; {meant}"


def _locate_error(details: ErrorDetails, tree: Node) -> tuple[int, str]:
    return _locate(tree, details["loc"], missing=details["type"] == "missing")


def _locate(tree: Node, location: Sequence[Part], *, missing: bool) -> tuple[int, str]:
    """Line and written path of a location; the names of union members in it are left out."""
    node, line, path = tree, tree.line, ""
    for index, part in enumerate(location):
        if isinstance(node.content, dict) and part in node.content:
            line, node = node.key_lines[str(part)], node.content[str(part)]
        elif isinstance(node.content, list) and isinstance(part, int) and part < len(node.content):
            node = node.content[part]
            line = node.line
        elif not (missing and index == len(location) - 1):
            continue
        path += f"[{part}]" if isinstance(part, int) else f".{part}"
    return line, path.removeprefix(".")


def _suggestion(location: Sequence[Part], model: type[BaseModel]) -> str:
    known = sorted(_known_keys(location[:-1], _cached_schema(model)))
    nearest = difflib.get_close_matches(str(location[-1]), known, n=3)
    if nearest:
        return f"did you mean {' or '.join(nearest)}?"
    return f"known here: {', '.join(known)}" if known else "none is known here"


@lru_cache(maxsize=16)
def _cached_schema(model: type[BaseModel]) -> Schema:
    return schema(model)


def _known_keys(location: Sequence[Part], root: Schema) -> set[str]:
    """Names of the properties that the JSON Schema `root` knows at a location."""
    places = list(_alternatives(root, root))
    for part in location:
        inner = [step for place in places for step in _steps(place, part)]
        if inner:
            places = [found for step in inner for found in _alternatives(step, root)]
    return {name for place in places for name in place.get("properties", ())}


def _alternatives(place: Schema, root: Schema) -> Iterator[Schema]:
    """Yield what a schema may stand for: references followed, unions taken apart."""
    if "$ref" in place:
        name = str(place["$ref"]).rpartition("/")[2]
        yield from _alternatives(root["$defs"][name], root)
        return
    yield place
    for union in ("anyOf", "oneOf", "allOf"):
        for member in place.get(union, ()):
            yield from _alternatives(member, root)


def _steps(place: Schema, part: Part) -> Iterable[Schema]:
    if isinstance(part, int):
        found = [place.get("items"), *place.get("prefixItems", ())[part : part + 1]]
    elif part in place.get("properties", ()):
        found = [place["properties"][part]]
    else:
        found = [place.get("additionalProperties")]
    return [step for step in found if isinstance(step, Mapping)]
