"""Other values for those that stand in a script's lines, of the same type, which look alike.

A digit becomes another one and a letter another one of its case, or a text gets letters before or
after it; numbers keep their length.
"""

import ast
import random
import string
from collections.abc import Iterator, Sequence
from math import prod
from typing import TypeAlias

from sandbox.model.draw import divided

Value: TypeAlias = str | bytes | int | float
Key = tuple[str, Value]
"""The name of a value's type, and the value: 1 is not 1.0."""

CLASSES = (string.digits, string.ascii_lowercase, string.ascii_uppercase)
CHANGED = 0.5
"""Of the values of a script, how many become others; one at least."""
LONGER, MOST_LETTERS = 0.4, 3
"""How many texts get letters instead, and how many letters at most."""
MANY = 10**12
"""More inputs than anybody asks for."""


def varied(lines: Sequence[str], chance: random.Random) -> list[str]:
    """Write lines with other values: what is the same value in several places stays the same."""
    found = dict.fromkeys(key for line in lines for key in _keys(line))
    alike = [key for key in found if _alternatives(key) > 1]
    if not alike:
        return list(lines)
    chosen = [key for key in alike if chance.random() < CHANGED] or [chance.choice(alike)]
    others = {key: _other(key, chance) for key in chosen}
    return [_written(line, others) for line in lines]


def possible(lines: Sequence[str]) -> int:
    """Say how many scripts these lines can become, those with longer texts left out."""
    found = {key for line in lines for key in _keys(line)}
    return min(MANY, prod(_alternatives(key) for key in found))


class _Others(ast.NodeTransformer):
    def __init__(self, others: dict[Key, Value]) -> None:
        self._others = others

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        key = _key(node.value)
        return ast.Constant(self._others[key]) if key in self._others else node


def _written(line: str, others: dict[Key, Value]) -> str:
    module, expression = divided(line)
    return module + ast.unparse(_Others(others).visit(ast.parse(expression, mode="eval")))


def _keys(line: str) -> Iterator[Key]:
    for node in ast.walk(ast.parse(divided(line)[1], mode="eval")):
        if isinstance(node, ast.Constant) and (key := _key(node.value)) is not None:
            yield key


def _key(value: object) -> Key | None:
    if isinstance(value, str | bytes | int | float) and not isinstance(value, bool):
        return type(value).__name__, value
    return None


def _alternatives(key: Key) -> int:
    return min(MANY, prod(len(_class(each, key)) for each in _text(key[1])))


def _other(key: Key, chance: random.Random) -> Value:
    """Change some characters: few of a long text, or it would be of another kind."""
    value = key[1]
    text = _text(value)
    if isinstance(value, str | bytes) and chance.random() < LONGER:
        return _value(value, _longer(text, chance))
    places = [number for number, each in enumerate(text) if len(_class(each, key)) > 1]
    count = chance.randint(1, max(1, min(3, len(places) // 3)))
    changed = list(text)
    for place in chance.sample(places, count):
        changed[place] = chance.choice(_class(text[place], key).replace(text[place], ""))
    return _value(value, "".join(changed))


def _longer(text: str, chance: random.Random) -> str:
    """Put letters like the first or the last one before it or after it."""
    at_the_end = chance.random() < 0.5
    end = text[-1] if at_the_end else text[0]
    alphabet = next((each for each in CLASSES if end in each), string.ascii_lowercase)
    more = "".join(chance.choices(alphabet, k=chance.randint(1, MOST_LETTERS)))
    return text + more if at_the_end else more + text


def _text(value: Value) -> str:
    if isinstance(value, bytes):
        return value.decode("latin-1")
    return value if isinstance(value, str) else repr(value)


def _value(like: Value, text: str) -> Value:
    if isinstance(like, bytes):
        return text.encode("latin-1")
    if isinstance(like, str):
        return text
    return float(text) if isinstance(like, float) else int(text)


def _class(character: str, key: Key) -> str:
    """Give the characters that one of a value may become, itself included."""
    classes = CLASSES if isinstance(key[1], str | bytes) else CLASSES[:1]
    return next((each for each in classes if character in each), character)
