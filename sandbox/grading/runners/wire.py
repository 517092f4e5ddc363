"""Typed values as JSON: what a servant is asked and answers. It has no imports but Python's own.

Text, booleans, null and lists are JSON's own. Everything else is an object with one key: `int` (in
hexadecimal), `float` (in hexadecimal or decimal), `complex`, `bytes` (in hexadecimal), `tuple`,
`set`, `frozenset`, `dict` (a list of pairs), or `other`, the class of a value that is none of
these; a value of a subclass, be it of `str`, is `other` too.
"""

import struct
from typing import Any

COLLECTIONS = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}
TEXT_LIMIT = 200


def encode(value: Any) -> Any:  # noqa: ANN401 - one for each type
    """Turn a value into JSON; a value that cannot be, into `other`."""
    kind = type(value)
    if value is None or kind is bool or kind is str:
        return value
    if kind is int:
        return {"int": hex(value)}
    if kind is float:
        return {"float": value.hex()}
    if kind is complex:
        return {"complex": [value.real.hex(), value.imag.hex()]}
    if kind is bytes:
        return {"bytes": value.hex()}
    if kind is list:
        return [encode(each) for each in value]
    if kind is tuple or kind is set or kind is frozenset:
        return {kind.__name__: [encode(each) for each in value]}
    if kind is dict:
        return {"dict": [[encode(key), encode(each)] for key, each in value.items()]}
    return {"other": name_of(kind), "text": text_of(value)}


def name_of(kind: type) -> str:
    """Name a class, with its module where that is not `builtins`."""
    name = str(kind.__qualname__)
    return name if kind.__module__ == "builtins" else f"{kind.__module__}.{name}"


def text_of(value: object) -> str:
    """Show a value, whatever its own way to do so does."""
    try:
        return repr(value)[:TEXT_LIMIT]
    except Exception as error:  # noqa: BLE001 - it is the candidate's code
        return f"<no text: {type(error).__name__}>"


def decode(wire: Any) -> Any:  # noqa: ANN401 - one for each type
    """Turn JSON back into the value; ValueError where it is not as `encode` makes it."""
    if wire is None or isinstance(wire, bool | str):
        return wire
    if isinstance(wire, list):
        return [decode(each) for each in wire]
    (kind, content), *_ = _object(wire).items()
    if kind == "int":
        return int(_text(content), 16)
    if kind == "float":
        return _float(content)
    if kind == "complex":
        real, imaginary = content
        return complex(_float(real), _float(imaginary))
    if kind == "bytes":
        return bytes.fromhex(_text(content))
    if kind in COLLECTIONS:
        return COLLECTIONS[kind](decode(each) for each in content)
    if kind == "dict":
        return {decode(key): decode(each) for key, each in content}
    raise ValueError(f"{kind} is not a known kind of value")


def canonical(wire: Any) -> Any:  # noqa: ANN401 - one for each type
    """Turn JSON into tuples that are equal where type and value are.

    Any NaN equals any other, 0.0 and -0.0 differ, the order of sets and dictionaries counts for
    nothing, and `other` equals nothing. ValueError or TypeError where it is not as `encode` makes
    it.
    """
    if wire is None or isinstance(wire, bool | str):
        return type(wire).__name__, wire
    if isinstance(wire, list):
        return "list", tuple(canonical(each) for each in wire)
    kind, content = next(iter(_object(wire).items()))
    if kind == "int":
        return kind, int(_text(content), 16)
    if kind == "float":
        return kind, _bits(content)
    if kind == "complex":
        return kind, tuple(_bits(part) for part in _list(content))
    if kind == "bytes":
        return kind, bytes.fromhex(_text(content))
    if kind == "tuple":
        return kind, tuple(canonical(each) for each in _list(content))
    if kind in COLLECTIONS:
        return kind, _unique([canonical(each) for each in _list(content)])
    if kind == "dict":
        pairs = [(canonical(key), canonical(each)) for key, each in map(_pair, _list(content))]
        _unique([key for key, _ in pairs])
        return kind, frozenset(pairs)
    if kind == "other":
        return kind, object()
    raise ValueError(f"{kind} is not a known kind of value")


def in_javascript(wire: Any) -> Any:  # noqa: ANN401
    """Turn what `encode` makes into what the same value is in JavaScript.

    Every number is a float there and is written in decimal, a tuple is a list. ValueError for what
    has no counterpart.
    """
    if wire is None or isinstance(wire, bool | str):
        return wire
    if isinstance(wire, list):
        return [in_javascript(each) for each in wire]
    kind, content = next(iter(_object(wire).items()))
    if kind == "int":
        return {"float": repr(float(int(content, 16)))}
    if kind == "float":
        return {"float": repr(_float(content))}
    if kind == "tuple":
        return [in_javascript(each) for each in content]
    if kind == "dict":
        return {kind: [[in_javascript(key), in_javascript(each)] for key, each in content]}
    if kind == "bytes":
        return wire
    raise ValueError(f"JavaScript has no {kind}")


def show(wire: Any) -> str:  # noqa: ANN401
    """Show a value of JSON to people; what is no value as it was written."""
    try:
        if isinstance(wire, dict) and "other" in wire:
            return f"{wire.get('text')} ({wire['other']})"
        return repr(decode(wire))
    except (ValueError, TypeError, ArithmeticError, RecursionError):
        return _raw(wire)


def _raw(wire: Any) -> str:  # noqa: ANN401
    try:
        return str(wire)
    except (ValueError, RecursionError):
        return f"a {type(wire).__name__} that cannot be shown"


def _object(wire: Any) -> dict[str, Any]:  # noqa: ANN401
    if (
        not isinstance(wire, dict)
        or not 1 <= len(wire) <= 2
        or ("other" not in wire) == (len(wire) == 2)
    ):
        raise ValueError("a bare number is not a valid value: its type is not known")
    return wire


def _text(content: object) -> str:
    if not isinstance(content, str):
        raise TypeError("is not text")
    return content


def _list(content: object) -> list[Any]:
    if not isinstance(content, list):
        raise TypeError("is not a list")
    return content


def _pair(content: object) -> tuple[Any, Any]:
    key, value = _list(content)
    return key, value


def _float(content: object) -> float:
    text = _text(content)
    return float.fromhex(text) if "0x" in text else float(text)


def _bits(content: object) -> bytes:
    number = _float(content)
    return b"nan" if number != number else struct.pack(">d", number)


def _unique(values: list[Any]) -> frozenset[Any]:
    found = frozenset(values)
    if len(found) != len(values):
        raise ValueError("holds a value twice")
    return found
