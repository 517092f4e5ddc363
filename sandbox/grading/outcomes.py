"""What a runner wrote, read as something that a candidate may have written too."""

import json
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from sandbox.grading.frameworks.base import FINISHED, exit_status
from sandbox.model.grade import TestOutcome


class Forged(Exception):  # noqa: N818 - it ends in a report's `problem`, not at a person
    """Something that the runner does not write, or not with this exit status."""


class Stopped(Exception):  # noqa: N818 - as above
    """The runner did not come to its end, or not all tests were run."""


class _Line(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


Line = TypeVar("Line", bound=_Line)


class _Test(_Line):
    test: str
    outcome: TestOutcome


class _End(_Line):
    end: int


def read(data: bytes, status: int | None, canaries: frozenset[str]) -> dict[str, TestOutcome]:
    """Give each test's outcome, the canaries left out.

    `data` is what the runner of one file wrote, `status` the exit status that the supervisor saw.
    Both have to tell the same, and every canary has to have failed. Raises Stopped or Forged.
    """
    return _without_canaries(_all(data, status), canaries)


def check_decoy(data: bytes, status: int | None, canaries: frozenset[str]) -> None:
    """Raise Stopped or Forged as `read` does, and Forged where a sabotaged test passed."""
    for test, outcome in _all(data, status).items():
        if outcome == "passed" and {test, test.partition("[")[0]} & canaries:
            raise Forged("a test that was made to fail ended as passed")


def _all(data: bytes, status: int | None) -> dict[str, TestOutcome]:
    lines = data.split(b"\n")
    unfinished = lines.pop()
    ended = bool(lines) and lines[-1].startswith(b'{"end"')
    told = lines[:-1] if ended else lines
    found: dict[str, TestOutcome] = {}
    for line in told:
        test = _parse(_Test, line)
        if test.test in found:
            raise Forged(f"{test.test} has two outcomes")
        found[test.test] = test.outcome
    if not ended or unfinished:
        raise Stopped("the runner did not come to its end" + _how(status))
    if _parse(_End, lines[-1]).end != len(found):
        raise Forged("the runner has told of another number of tests than it says")
    failed = sum(outcome in ("failed", "error") for outcome in found.values())
    if status != exit_status(failed):
        raise Forged(f"the outcomes have {failed} failures, which the exit status denies")
    return found


def _how(status: int | None) -> str:
    if status is None:
        return ": a signal ended it"
    return f": it ended with status {status}" if status < FINISHED else ""


def _without_canaries(
    found: dict[str, TestOutcome], canaries: frozenset[str]
) -> dict[str, TestOutcome]:
    seen = {canary: found.pop(canary, None) for canary in canaries}
    for outcome in seen.values():
        if outcome in ("passed", "xpassed", "xfailed", "skipped"):
            raise Forged(f"a test that has to fail ended as {outcome}")
    if any(outcome is None for outcome in seen.values()):
        raise Stopped("not all tests were run")
    return found


def _parse(kind: type[Line], line: bytes) -> Line:
    try:
        return kind.model_validate(json.loads(line))
    except (ValueError, ValidationError, RecursionError) as error:
        raise Forged("there are lines that the runner does not write") from error
