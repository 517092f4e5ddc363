"""Data files: YAML text, read into a strict model or refused with file, line and field.

The subset of YAML that holds no surprises: one document, no anchors, aliases or tags, keys are
text and occur once. A plain scalar is null, a boolean (`true` or `false`), a decimal number, or
text: dates, versions, `yes` and `0o17` stay what was written.
"""

import difflib
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from sandbox.model.errors import DocumentError

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MAXIMUM_DEPTH = 64
_MAXIMUM_PROBLEMS = 10
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,17})")
_FLOAT = re.compile(r"[-+]?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_CONSTANTS = {"": None, "~": None, "null": None, "true": True, "false": False}

AnyModel = TypeVar("AnyModel", bound=BaseModel)
Part = str | int
Scalar = str | float | bool | None
Schema = Mapping[str, Any]
Check = Callable[[AnyModel], Iterable[tuple[Sequence[Part], str]]]
"""What is wrong with a document beyond its model: where, by keys and positions, and what."""


def load(path: Path, model: type[AnyModel], check: Check[AnyModel] | None = None) -> AnyModel:
    """Read a file; DocumentError names every problem (ten at most) by line and field.

    `check` says what else is wrong with what was read.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DocumentError(
            f"{path}: cannot be read: {error.strerror}", "Check the path and its permissions."
        ) from error
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise _refusal(path, [_Problem(line, "", f"is not UTF-8 text: {error.reason}")]) from error
    return parse(text, path, model, check)


def parse(
    text: str, path: Path, model: type[AnyModel], check: Check[AnyModel] | None = None
) -> AnyModel:
    """Read YAML text that stands in `path`, which is only named in errors."""
    problems: list[_Problem] = []
    try:
        tree = _Composer(problems).compose(yaml.parse(text, Loader=_LOADER))
    except yaml.YAMLError as error:
        problems.append(_syntax_problem(error, text))
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
        _Problem(*_locate(tree, place, missing=False), text)
        for place, text in (check(document) if check else ())
    ]
    if found:
        raise _refusal(path, found)
    return document


def schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON Schema of the documents that `load` accepts for a model."""
    return model.model_json_schema()


@dataclass(frozen=True, slots=True)
class _Problem:
    line: int
    field: str
    text: str


def _refusal(path: Path, problems: Sequence[_Problem], more: int = 0) -> DocumentError:
    lines = [
        f"{path}:{problem.line}: {problem.field}{': ' if problem.field else ''}{problem.text}"
        for problem in sorted(problems, key=lambda problem: problem.line)
    ]
    more += max(len(lines) - _MAXIMUM_PROBLEMS, 0)
    if more:
        lines[_MAXIMUM_PROBLEMS:] = [f"{path}: and {more} more"]
    return DocumentError("\n".join(lines), f"Correct {path} and repeat; nothing was done.")


@dataclass(slots=True)
class _Node:
    """A value with the lines it stands on."""

    line: int
    content: "dict[str, _Node] | list[_Node] | Scalar"
    key_lines: dict[str, int] = field(default_factory=dict)

    def data(self) -> object:
        if isinstance(self.content, dict):
            return {key: node.data() for key, node in self.content.items()}
        if isinstance(self.content, list):
            return [node.data() for node in self.content]
        return self.content


@dataclass(slots=True)
class _Open:
    """A collection that has not ended, and the key whose value comes or is under way."""

    node: _Node
    key: str | None = None


class _Composer:
    """Builds a tree of nodes from parser events, without recursion and of bounded depth."""

    def __init__(self, problems: list[_Problem]) -> None:
        self._problems = problems
        self._root: _Node | None = None
        self._open: list[_Open] = []

    def compose(self, events: Iterator[yaml.Event]) -> _Node:
        for event in events:
            line = event.start_mark.line + 1 if event.start_mark else 1
            match event:
                case yaml.DocumentStartEvent() if self._root is not None:
                    self._refuse(line, "a second document starts here; keep one per file")
                    break
                case yaml.AliasEvent():
                    self._refuse(line, f"alias *{event.anchor} is not allowed; repeat the value")
                    self._add_scalar(f"*{event.anchor}", None, line)
                case yaml.ScalarEvent():
                    self._check(event, line)
                    self._add_scalar(event.value, _scalar(event), line)
                case yaml.SequenceStartEvent() | yaml.MappingStartEvent():
                    self._check(event, line)
                    empty: Any = [] if isinstance(event, yaml.SequenceStartEvent) else {}
                    if not self._enter(_Node(line, empty)):
                        break
                case yaml.SequenceEndEvent() | yaml.MappingEndEvent():
                    self._open.pop()
                    self._value_ended()
        return self._root if self._root is not None else _Node(1, None)

    def _refuse(self, line: int, text: str) -> None:
        self._problems.append(_Problem(line, self._path(), text))

    def _path(self) -> str:
        path = ""
        for depth, place in enumerate(self._open, 1):
            if isinstance(place.node.content, list):
                path += f"[{len(place.node.content) - (depth < len(self._open))}]"
            elif place.key is not None:
                path += f".{place.key}"
        return path.removeprefix(".")

    def _check(self, event: yaml.NodeEvent, line: int) -> None:
        if event.anchor is not None:
            self._refuse(line, f"anchor &{event.anchor} is not allowed")
        tag = getattr(event, "tag", None)
        if tag is not None:
            self._refuse(line, f"tag {tag} is not allowed")

    def _enter(self, node: _Node) -> bool:
        if self._awaits_key():
            self._refuse(node.line, "a key must be text, not a list or a mapping")
            return False
        if len(self._open) == _MAXIMUM_DEPTH:
            self._refuse(node.line, f"is nested deeper than {_MAXIMUM_DEPTH} levels")
            return False
        self._add(node)
        self._open.append(_Open(node))
        return True

    def _awaits_key(self) -> bool:
        return (
            bool(self._open)
            and isinstance(self._open[-1].node.content, dict)
            and self._open[-1].key is None
        )

    def _add_scalar(self, key: str, value: Scalar, line: int) -> None:
        if not self._awaits_key():
            self._add(_Node(line, value))
            self._value_ended()
            return
        place = self._open[-1]
        place.key = key
        if key in place.node.key_lines:
            self._refuse(line, f"occurs twice; first on line {place.node.key_lines[key]}")
        place.node.key_lines.setdefault(key, line)

    def _add(self, node: _Node) -> None:
        if not self._open:
            self._root = node
            return
        place = self._open[-1]
        if isinstance(place.node.content, list):
            place.node.content.append(node)
        elif isinstance(place.node.content, dict) and place.key is not None:
            place.node.content[place.key] = node

    def _value_ended(self) -> None:
        if self._open:
            self._open[-1].key = None


def _scalar(event: yaml.ScalarEvent) -> Scalar:
    text: str = event.value
    if event.style:
        return text
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text) and ("." in text or "e" in text.lower()):
        number = float(text)
        return number if math.isfinite(number) else text
    return text


def _syntax_problem(error: yaml.YAMLError, text: str) -> _Problem:
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        reason = " ".join(part for part in (error.context, error.problem) if part)
        return _Problem(mark.line + 1 if mark else 1, "", f"is not YAML: {reason}")
    position = getattr(error, "position", 0)
    reason = getattr(error, "reason", str(error))
    return _Problem(text.count("\n", 0, position) + 1, "", f"is not YAML: {reason}")


def _model_problem(details: ErrorDetails, tree: _Node, model: type[BaseModel]) -> _Problem:
    line, path = _locate_error(details, tree)
    match details["type"]:
        case "missing":
            text = "is missing"
        case "extra_forbidden":
            text = f"unknown key; {_suggestion(details['loc'], model)}"
        case "value_error" | "assertion_error":
            text = details["msg"].partition(", ")[2]
        case _:
            message = details["msg"].removeprefix("Input ")
            shown = json.dumps(details["input"], default=str, ensure_ascii=False)
            text = f"{message}, not {shown if len(shown) <= 60 else shown[:57] + '...'}"
            if details["type"] == "string_type" and isinstance(details["input"], int | float):
                text += "; put it in quotes"
    return _Problem(line, path, text)


def _locate_error(details: ErrorDetails, tree: _Node) -> tuple[int, str]:
    return _locate(tree, details["loc"], missing=details["type"] == "missing")


def _locate(tree: _Node, location: Sequence[Part], *, missing: bool) -> tuple[int, str]:
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
