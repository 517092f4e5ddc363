"""The calls of a grading: inputs drawn from its seed, and what each has to give."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox.grading.cases import references
from sandbox.grading.cases.answers import Raised, Value
from sandbox.grading.cases.comparing import Expected
from sandbox.grading.draws import Chance, drawn
from sandbox.grading.runners import wire
from sandbox.model.case import Case, CaseFile, FunctionSubject, Row, ScriptSubject
from sandbox.model.draw import DrawScript, Input
from sandbox.model.errors import DocumentError

OPEN = type(NotImplemented).__name__
"""What a reference gives where the prompt leaves the value open: the call is not made."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a case."""

    given: dict[str, Any]
    expected: Expected


@dataclass(frozen=True, slots=True)
class Asked:
    """A script that is to be played."""

    lines: tuple[str, ...]
    recorded: bool
    """Whether its values are those that it was written down with."""


Told = dict[tuple[str, int], Expected | None]
"""What a call has to give, by the case's id and the call's number in it; None where nothing is
certain, or that is left open."""


def referenced(file: CaseFile, reference: Path | None, seeds: Sequence[str]) -> dict[str, Told]:
    """Ask the reference functions, each once for all seeds; give what they say by seed.

    DocumentError where a reference gives nothing.
    """
    wanted = defaultdict(list)
    for seed in seeds:
        rows = _rows(file, seed)
        for case in file.cases:
            function = file.subjects[case.subject].kind == "function"
            for number, (row, given) in enumerate(rows[case.id]):
                if row.expect.reference is not None:
                    asked = seed, (case.id, number), _spread(given, function)
                    wanted[row.expect.reference].append(asked)
    told: dict[str, Told] = {seed: {} for seed in seeds}
    for name, of_name in wanted.items():
        if reference is None:
            raise DocumentError(f"A case wants {name} of a reference file, and there is none.")
        asked_of_it = [call for _, _, call in of_name]
        seconds = references.SECONDS * len(seeds)
        answers = references.answers(reference, name, asked_of_it, seconds)
        for (seed, key, _), answer in zip(of_name, answers, strict=True):
            told[seed][key] = _told(answer)
    return told


def calls(
    file: CaseFile, reference: Path | None, seed: str, told: Told | None = None
) -> dict[str, list[Call]]:
    """Draw all inputs and find what they have to give, by the case's id.

    A case's inputs depend on the seed and its own id, not on other cases. `told` is what scripts
    and reference functions have said already; without it the latter are asked. DocumentError where
    a reference gives nothing.
    """
    rows = _rows(file, seed)
    if told is None:
        told = referenced(file, reference, [seed])[seed]
    found: dict[str, list[Call]] = {case.id: [] for case in file.cases}
    for case in file.cases:
        for number, (row, given) in enumerate(rows[case.id]):
            key = case.id, number
            expected = told[key] if key in told else _expected(row, seed)
            if expected is not None:
                found[case.id].append(Call(given, _adapted(file, case, expected)))
        if not found[case.id]:
            raise DocumentError(f"The reference leaves every call of the case {case.id} open.")
    return found


def scripts(file: CaseFile, seed: str) -> dict[str, list[Asked]]:
    """Draw the scripts alone, by the case's id."""
    return {
        case_id: [
            Asked(tuple(given["lines"]), given["lines"] in _recorded(row))
            for row, given in rows
            if row.expect.undamaged
        ]
        for case_id, rows in _rows(file, seed).items()
        if any(row.expect.undamaged for row, _ in rows)
    }


def _recorded(row: Row) -> list[list[str]]:
    """Give the scripts as they were written down."""
    lines = row.input["lines"]
    return [[*each] for each in lines.of] if isinstance(lines, DrawScript) else [_written(lines)]


def _written(lines: Input) -> list[str]:
    return [str(each) for each in lines] if isinstance(lines, tuple) else []


def _rows(file: CaseFile, seed: str) -> dict[str, list[tuple[Row, dict[str, Any]]]]:
    found = {}
    for case in file.cases:
        chance = Chance(f"{seed}/{case.id}")
        found[case.id] = [
            (row, {key: drawn(value, chance) for key, value in row.input.items()})
            for row in case.rows
        ]
    return found


def _told(answer: Value | Raised) -> Expected | None:
    """Turn what a reference gave into what is expected; None where it leaves that open."""
    if isinstance(answer, Raised):
        return Expected(raises=answer.type)
    left_open = isinstance(answer.wire, dict) and answer.wire.get("other") == OPEN
    return None if left_open else Expected(answer.wire)


def _spread(given: dict[str, Any], function: bool) -> references.Call:  # noqa: FBT001
    if function:
        return given.get("arguments", []), given.get("keywords", {})
    return [], given


def _expected(row: Row, seed: str) -> Expected:
    raises = row.expect.raises
    if raises is not None:
        return Expected(raises=raises.type, message=raises.message)
    return Expected(wire.encode(drawn(row.expect.value, Chance(seed))))


def _adapted(file: CaseFile, case: Case, expected: Expected) -> Expected:
    """Turn an expected value into what it is in the subject's language."""
    subject = file.subjects[case.subject]
    if not isinstance(subject, FunctionSubject | ScriptSubject):
        if not isinstance(expected.wire, dict) or "dict" not in expected.wire:
            raise DocumentError(f"The case {case.id} has to expect fields: {subject.kind}.")
        return expected
    if isinstance(subject, ScriptSubject) or subject.language == "python":
        return expected
    if expected.raises is not None:
        return expected
    try:
        return Expected(wire.in_javascript(expected.wire))
    except ValueError as error:
        raise DocumentError(f"The case {case.id} expects what cannot be: {error}.") from error
