"""YAML text as a tree whose values know their lines, and plain values as YAML text.

The subset of YAML that holds no surprises: one document, no anchors, aliases or tags, keys are
text and occur once. A plain scalar is null, a boolean (`true` or `false`), a decimal number, or
text: dates, versions, `yes` and `0o17` stay what was written.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MAXIMUM_DEPTH = 64
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,17})")
_FLOAT = re.compile(r"[-+]?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_CONSTANTS = {"": None, "~": None, "null": None, "true": True, "false": False}

Scalar = str | float | bool | None


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with a text, and where."""

    line: int
    field: str
    text: str


@dataclass(slots=True)
class Node:
    """A value with the lines it stands on."""

    line: int
    content: "dict[str, Node] | list[Node] | Scalar"
    key_lines: dict[str, int] = field(default_factory=dict)

    def data(self) -> object:
        """Return the plain value."""
        if isinstance(self.content, dict):
            return {key: node.data() for key, node in self.content.items()}
        if isinstance(self.content, list):
            return [node.data() for node in self.content]
        return self.content


def compose(text: str) -> tuple[Node, list[Problem]]:
    """Return the tree of a text, and what is wrong with it; with problems it is worth nothing."""
    problems: list[Problem] = []
    try:
        return _Composer(problems).compose(yaml.parse(text, Loader=_LOADER)), problems
    except yaml.YAMLError as error:
        return Node(1, None), [*problems, _syntax_problem(error, text)]


@dataclass(slots=True)
class _Open:
    """A collection that has not ended, and the key whose value comes or is under way."""

    node: Node
    key: str | None = None


class _Composer:
    """Builds a tree of nodes from parser events, without recursion and of bounded depth."""

    def __init__(self, problems: list[Problem]) -> None:
        self._problems = problems
        self._root: Node | None = None
        self._open: list[_Open] = []

    def compose(self, events: Iterator[yaml.Event]) -> Node:
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
                    if not self._enter(Node(line, empty)):
                        break
                case yaml.SequenceEndEvent() | yaml.MappingEndEvent():
                    self._open.pop()
                    self._value_ended()
        return self._root if self._root is not None else Node(1, None)

    def _refuse(self, line: int, text: str) -> None:
        self._problems.append(Problem(line, self._path(), text))

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

    def _enter(self, node: Node) -> bool:
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
            self._add(Node(line, value))
            self._value_ended()
            return
        place = self._open[-1]
        place.key = key
        if key in place.node.key_lines:
            self._refuse(line, f"occurs twice; first on line {place.node.key_lines[key]}")
        place.node.key_lines.setdefault(key, line)

    def _add(self, node: Node) -> None:
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
    return event.value if event.style else _plain(event.value)


def _plain(text: str) -> Scalar:
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text) and ("." in text or "e" in text.lower()):
        number = float(text)
        return number if math.isfinite(number) else text
    return text


def _syntax_problem(error: yaml.YAMLError, text: str) -> Problem:
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        reason = " ".join(part for part in (error.context, error.problem) if part)
        return Problem(mark.line + 1 if mark else 1, "", f"is not YAML: {reason}")
    position = getattr(error, "position", 0)
    reason = getattr(error, "reason", str(error))
    return Problem(text.count("\n", 0, position) + 1, "", f"is not YAML: {reason}")


def text(data: Mapping[str, object] | Sequence[object]) -> str:
    """Write plain values as YAML that `parse` reads back; of a mapping what is nothing goes."""
    left: object = data
    if isinstance(data, Mapping):
        left = {key: value for key, value in data.items() if value not in (None, [], {}, "")}
    return yaml.dump(left, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100, indent=2)


class _Dumper(yaml.SafeDumper):
    """Blocks for text of several lines, and no anchors."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002
        return True


def _written(dumper: yaml.SafeDumper, value: str) -> yaml.Node:
    style = "|" if "\n" in value else None if _plain(value) == value else "'"
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _written)
