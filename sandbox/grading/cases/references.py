"""Expected values from a task's reference functions, which run on the host and nowhere else.

They run in a Python of their own, isolated from this one: without its environment, its modules and
its working folder. They are the task's, not the candidate's, and never see what the candidate gave.
"""

import json
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from sandbox.grading.cases.answers import Raised, Value
from sandbox.grading.runners import wire
from sandbox.model.errors import DocumentError
from sandbox.model.scratch import Scratch

SERVANT = Path(__file__).parent.with_name("runners") / "servant.py"
SECONDS = 60.0
"""For all calls of one function."""

Call = tuple[Sequence[Any], dict[str, Any]]
"""Positional arguments and keywords, as Python values."""


def answers(
    file: Path, name: str, calls: Iterable[Call], seconds: float = SECONDS
) -> list[Value | Raised]:
    """Give what a function of the file gives for each call.

    DocumentError where the function is none or does not come to an end in so many seconds.
    """
    lines = [
        json.dumps(
            {
                "id": number,
                "arguments": [wire.encode(each) for each in arguments],
                "keywords": {key: wire.encode(each) for key, each in keywords.items()},
            }
        )
        for number, (arguments, keywords) in enumerate(calls)
    ]
    command = (sys.executable, "-I", str(SERVANT), f"{file.resolve()}:{name}")
    with Scratch("reference") as folder:
        try:
            ended = subprocess.run(
                command,
                input="".join(f"{line}\n" for line in lines).encode(),
                cwd=folder,
                env={"LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"},
                capture_output=True,
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise DocumentError(
                f"{file}: {name} takes longer than {seconds:g} seconds for {len(lines)} calls."
            ) from error
    told = ended.stdout.splitlines()
    if len(told) != len(lines):
        said = ended.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise DocumentError(f"{file}: {name} gave {len(told)} of {len(lines)} values: {said}")
    return [_answer(file, name, json.loads(line)) for line in told]


def _answer(file: Path, name: str, told: dict[str, Any]) -> Value | Raised:
    if "raised" not in told:
        return Value(told["value"])
    kind, message = told["raised"]["type"], told["raised"]["message"]
    if kind in ("AttributeError", "ImportError", "SyntaxError", "NameError", "ModuleNotFoundError"):
        raise DocumentError(f"{file}: {name} cannot be called: {kind}: {message}")
    return Raised(kind, message)
