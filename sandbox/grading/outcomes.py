"""What the runner wrote, read as something that a candidate may have written too."""

import json
from collections import defaultdict
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from sandbox.model.grade import TestOutcome

Phase = Literal["setup", "call", "teardown"]
Phases = dict[Phase, tuple[str, bool]]


class Forged(Exception):  # noqa: N818 - it ends in a report's `problem`, not at a person
    """Lines that the runner does not write."""


class Stopped(Exception):  # noqa: N818 - as above
    """Lines that the runner did not finish."""


class _Line(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


Line = TypeVar("Line", bound=_Line)


class _Collected(_Line):
    collected: list[str]


class _Report(_Line):
    test: str
    phase: Phase
    outcome: Literal["passed", "failed", "skipped"]
    expected: bool


class _End(_Line):
    end: int


def read(data: bytes, canary: str) -> dict[str, TestOutcome]:
    """Give each test's outcome, the canary left out.

    Stopped where the runner did not come to its end, Forged where lines are there that it does not
    write or where the canary, which has to fail, did not.
    """
    lines = data.split(b"\n")
    whole = lines.pop() == b""
    if not lines:
        raise Stopped("the runner collected nothing")
    first, *others = lines
    collected = _parse(_Collected, first).collected
    if len(set(collected)) != len(collected):
        raise Forged("a test was collected twice")
    ended = bool(others) and b'"end"' in others[-1] and not others[-1].startswith(b'{"test"')
    reports = others[:-1] if ended else others
    if ended:
        _parse(_End, others[-1])
    phases: dict[str, Phases] = defaultdict(dict)
    for line in reports:
        report = _parse(_Report, line)
        if report.test not in collected:
            raise Forged(f"{report.test} has an outcome and was not collected")
        if report.phase in phases[report.test]:
            raise Forged(f"{report.test} has two outcomes")
        phases[report.test][report.phase] = report.outcome, report.expected
    return _outcomes(phases, canary, ended=ended and whole)


def _outcomes(phases: dict[str, Phases], canary: str, *, ended: bool) -> dict[str, TestOutcome]:
    found = {test: _outcome(seen) for test, seen in phases.items()}
    watched = found.pop(canary, None)
    if watched is not None and watched != "failed" and ended:
        raise Forged(f"a test that has to fail ended as {watched}")
    if not ended:
        raise Stopped("the runner did not come to its end")
    if watched is None:
        raise Stopped("not all tests were run")
    return found


def _outcome(phases: Phases) -> TestOutcome:
    results = {outcome for outcome, _ in phases.values()}
    expected = any(flag for _, flag in phases.values())
    call = phases.get("call", ("", False))[0]
    around = {phases.get(phase, ("failed", False))[0] for phase in ("setup", "teardown")}
    if "failed" in around:
        return "error"
    if call == "failed":
        return "failed"
    if "skipped" in results:
        return "xfailed" if expected else "skipped"
    if call != "passed":
        return "error"
    return "xpassed" if expected else "passed"


def _parse(kind: type[Line], line: bytes) -> Line:
    try:
        return kind.model_validate(json.loads(line))
    except (ValueError, ValidationError, RecursionError) as error:
        raise Forged("there are lines that the runner does not write") from error
