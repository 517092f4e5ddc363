"""Calls a Python function as it is told: `python servant.py MODULE_OR_FILE:ATTRIBUTE`.

It is laid into the grading container with `wire.py` beside it, and runs on the host for reference
functions. Each line of standard input is a call, `{"id": ID, "arguments": [...], "keywords": {}}`,
whose values are those of `wire.py`; one with nothing but an id only imports the function, so that
the time of the first call is its own. Each is answered on standard output before the next one is
read: `{"id": ID, "value": V}` or `{"id": ID, "raised": {"type": T, "message": M}}`. What the
function prints goes to standard error.
"""

import functools
import importlib
import importlib.util
import json
import os
import sys
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - quicker to start


def load(path: str, name: str) -> Any:  # noqa: ANN401
    """Import a file under a name that nothing else has."""
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


wire = load(os.path.join(HERE, "wire.py"), "_servant_wire")  # noqa: PTH118


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


def message(error: BaseException) -> str:
    """Give an error's text, whatever its own way to do so does."""
    try:
        return str(error)[: wire.TEXT_LIMIT * 10]
    except Exception:  # noqa: BLE001 - it is the candidate's code
        return ""


def main(name: str) -> None:
    """Answer until there are no more calls, and end without what was registered for the exit."""
    calls = os.fdopen(os.dup(0), encoding="utf-8")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    os.close(0)
    os.open(os.devnull, os.O_RDONLY)
    for line in calls:
        call = json.loads(line)
        answers.write(json.dumps({"id": call["id"], **answer(name, call)}) + "\n")
        answers.flush()
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
