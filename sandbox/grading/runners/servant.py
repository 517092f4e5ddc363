"""Calls a Python function as it is told.

On the host it is run as `python servant.py FILE:ATTRIBUTE` for reference functions and reads its
calls from standard input. In the grading container it is itself read from standard input, with the
source of `wire.py` before it, so that no word of its process names it; calls come from descriptor
3, and the first one has the `subject`. Each line is a call, `{"id": ID, "arguments": [...],
"keywords": {}}`, whose values are those of `wire.py`; one without arguments only imports the
function, so that the time of the first call is its own. Each is answered on standard output
before the next one is read: `{"id": ID, "value": V}` or `{"id": ID, "raised": {"type": T,
"message": M}}`. What the function prints goes to standard error.

A call may have `lines` instead of all this: expressions that are evaluated one after the other.
`module:attribute...` imports a module, and `_0` is what the first one gave. The value then is a
list with a dictionary for each, of its `value` or the class that it `raised`; of what is of no type
that `wire.py` knows the class and the text stand there, of an iterator what it gives.
"""

import functools
import importlib
import importlib.util
import itertools
import json
import os
import re
import sys
import types
from typing import Any


def load(path: str, name: str) -> Any:  # noqa: ANN401
    """Import a file under a name that nothing else has."""
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def values() -> Any:  # noqa: ANN401
    """Give the module `wire`: from the source that stands before this one, or from its file."""
    if "WIRE" not in globals():
        here = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - quicker to start
        return load(os.path.join(here, "wire.py"), "_servant_wire")  # noqa: PTH118
    module = types.ModuleType("_servant_wire")
    exec(compile(globals()["WIRE"], "<stdin>", "exec"), module.__dict__)  # noqa: S102
    return module


wire = values()


@functools.cache
def subject(name: str) -> Any:  # noqa: ANN401
    """Find what is called."""
    place, _, attribute = name.partition(":")
    found = load(place, "_reference") if place.endswith(".py") else importlib.import_module(place)
    for part in attribute.split("."):
        found = getattr(found, part)
    return found


async def awaited(value: Any) -> Any:  # noqa: ANN401
    """Wait for what an asynchronous function gives."""
    return await value


def answer(name: str, call: dict[str, Any]) -> dict[str, Any]:
    """Make the call; an error of the function's, an exit included, is an answer."""
    try:
        if "lines" in call:
            return {"value": wire.encode(list(played(call["lines"])))}
        if "arguments" not in call:
            subject(name)
            return {"value": None}
        keywords = {key: wire.decode(value) for key, value in call["keywords"].items()}
        value = subject(name)(*map(wire.decode, call["arguments"]), **keywords)
        if hasattr(value, "__await__"):
            import asyncio  # it takes as long as all the rest to import

            value = asyncio.run(awaited(value))
        return {"value": wire.encode(value)}
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is the answer
        return {"raised": {"type": wire.name_of(type(error)), "message": message(error)}}


NAMES = ("datetime", "decimal", "fractions", "operator")
"""Modules that lines may name without importing them."""
MANY = 100
"""Values that are taken from an iterator."""
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def played(lines: list[str]) -> Any:  # noqa: ANN401
    """Evaluate lines one after the other; yield what each gives."""
    names = {name: importlib.import_module(name) for name in NAMES}
    for number, line in enumerate(lines):
        module, colon, expression = line.partition(":")
        try:
            if colon and all(part.isidentifier() for part in module.split(".")):
                names["_module"] = importlib.import_module(module)
                expression = f"_module.{expression}"
            else:
                expression = line
            names[f"_{number}"] = value = eval(expression, names)  # noqa: S307 - the grader's lines
            yield {"value": shown(value, 0)}
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is the answer
            yield {"raised": wire.name_of(type(error))}


def shown(value: Any, depth: int) -> Any:  # noqa: ANN401
    """Turn what `wire.py` does not know into what it does."""
    kind = type(value)
    if kind in wire.COLLECTIONS.values() and depth < MANY:
        return kind(shown(each, depth + 1) for each in value)
    if kind is dict and depth < MANY:
        return {shown(key, depth + 1): shown(each, depth + 1) for key, each in value.items()}
    if isinstance(wire.encode(value), dict) and "other" in wire.encode(value):
        if hasattr(kind, "__next__"):
            return ("iterator", [shown(each, depth + 1) for each in itertools.islice(value, MANY)])
        return (wire.name_of(kind), ADDRESS.sub("", repr(value)))
    return value


def message(error: BaseException) -> str:
    """Give an error's text, whatever its own way to do so does."""
    try:
        return str(error)[: wire.TEXT_LIMIT * 10]
    except Exception:  # noqa: BLE001 - it is the candidate's code
        return ""


def main(name: str, descriptor: int) -> None:
    """Answer until there are no more calls, and end without what was registered for the exit."""
    calls = os.fdopen(os.dup(descriptor), encoding="utf-8")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for each in {0, descriptor}:
        os.close(each)
    os.open(os.devnull, os.O_RDONLY)
    for line in calls:
        call = json.loads(line)
        name = call.get("subject", name)
        answers.write(json.dumps({"id": call["id"], **answer(name, call)}) + "\n")
        answers.flush()
    os._exit(0)


if __name__ == "__main__":
    if "WIRE" in globals():
        main("", 3)
    else:
        main(sys.argv[1], 0)
