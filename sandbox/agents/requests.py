"""One line of an agent into a request, or into what is wrong with it."""

import json
import math
from typing import NoReturn

from pydantic import JsonValue, ValidationError

from sandbox.agents.base import Garbage, Withdrawal
from sandbox.model.action import Request

LINE_LIMIT = 8 << 20
"""Bytes of a line, its end not counted."""

DEPTH_LIMIT = 64
"""Lists and objects within each other; what reads a trace back takes some 190."""

EXPECTED = 'Send one line: {"id": "1", "action": "read_file", "arguments": {"path": "README.md"}}'

_EXCERPT = 200
_MAXIMUM_INTEGER = 1 << 63


def parse(line: bytes) -> Request | Garbage:
    """Read a line of UTF-8 JSON; numbers must be finite and integers fit 64 bits."""
    asked = read(line)
    return (
        garbage(line, "The line is not a request: it has nothing but `error`.")
        if isinstance(asked, Withdrawal)
        else asked
    )


def read(line: bytes) -> Request | Garbage | Withdrawal:
    """As `parse`, of an agent that may also say that its run is not to be counted."""
    try:
        data = decode_object(line)
    except ValueError as error:
        return garbage(line, str(error))
    match data:
        case {"error": str(reason)} if len(data) == 1:
            return Withdrawal(reason[:_EXCERPT])
    try:
        return Request.model_validate(data)
    except ValidationError as error:
        return garbage(line, f"The line is not a request: {first_problem(error)}.", _id(data))


def decode(text: bytes, what: str = "The line") -> object:
    """Read JSON that an agent wrote; ValueError with a sentence on `what`, where it is none.

    Python's own reader takes more than JSON has: NaN, numbers without bounds, half characters.
    """
    try:
        data: object = json.loads(
            text.decode(),
            parse_constant=_refuse_constant,
            parse_int=_integer,
            parse_float=_float,
        )
        if b"\\ud" in text or b"\\uD" in text:
            json.dumps(data, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"{what} holds half of a surrogate pair, which is not valid text."
        ) from error
    except UnicodeDecodeError as error:
        raise ValueError(f"{what} is not UTF-8: byte {error.start + 1} is wrong.") from error
    except RecursionError as error:
        raise ValueError(f"{what} is nested too deeply.") from error
    except json.JSONDecodeError as error:
        problem = f"{what} is not JSON: {error.msg}, at character {error.pos + 1}."
        raise ValueError(problem) from error
    except ValueError as error:
        raise ValueError(f"{what} cannot be taken: {error}.") from error
    if _is_deeper(data, DEPTH_LIMIT):
        raise ValueError(f"{what} is nested too deeply.")
    return data


def decode_object(text: bytes, what: str = "The line") -> dict[str, JsonValue]:
    """As `decode`, an object only."""
    data = decode(text, what)
    if not isinstance(data, dict):
        raise ValueError(f"{what} is JSON, but not an object.")  # noqa: TRY004 - of a text
    return data


def first_problem(error: ValidationError) -> str:
    """Say what is wrong with the first field that is."""
    details = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part)[:40] for part in details["loc"][:4])
    return f"{where}: {details['msg']}"


def garbage(line: bytes, problem: str, identifier: str | None = None) -> Garbage:
    """Describe a line that is no request by its beginning."""
    text = line.decode("utf-8", "replace")
    return Garbage(f"{problem} {EXPECTED}", text[:_EXCERPT], identifier, text)


def _id(data: dict[str, JsonValue]) -> str | None:
    try:
        return Request.model_validate({"id": data.get("id"), "action": ""}).id
    except ValidationError:
        return None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a valid number in JSON")


def _integer(digits: str) -> int:
    if len(digits) > 20 or not -_MAXIMUM_INTEGER <= (number := int(digits)) < _MAXIMUM_INTEGER:
        raise ValueError("an integer does not fit 64 bits")
    return number


def _float(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError("a number is too large")
    return number


def _is_deeper(data: object, limit: int) -> bool:
    """Whether lists and objects lie within each other more often than so."""
    level = [data]
    for _ in range(limit + 1):
        level = [
            each
            for one in level
            if isinstance(one, list | dict)
            for each in (one.values() if isinstance(one, dict) else one)
            if isinstance(each, list | dict)
        ]
        if not level:
            return False
    return True
