"""What commits and reports say of the run, compared with its facts."""

from typing import Any

import pytest
from pydantic import ValidationError

from graders.accounts import reasons
from sandbox.model.atom import Atom
from sandbox.model.change import Commit
from sandbox.model.event import ActionTaken, Event, Final, Observed
from sandbox.model.fact import Committed
from sandbox.model.final import Computed, Listed, written
from sandbox.model.observation import Observation
from sandbox.model.task import Task
from tests.graders.evidence import NEW, changes, commit, evidence, task, trace

RUN = Atom(action="run_tests", status="ok")
TRAILERS = {"Tests-Run": Computed(count=RUN)}
REPORT = "src/account.txt"
REPORTS = {REPORT: {"Exit-Codes": Computed(listed=Listed(step=RUN, field="result.exit_code"))}}
LATER = "c" * 40


def ran(*codes: int) -> tuple[Event, ...]:
    return tuple(
        event
        for code in codes
        for event in (
            ActionTaken(name="run_tests", arguments={}),
            Observed(name="run_tests", observation=Observation(result={"exit_code": code})),
        )
    )


def told(identity: str = NEW) -> Committed:
    return Committed(
        ref="refs/heads/main", id=identity, tree=identity, parents=(), paths=(), hooks=(),
        files=None, hooked=True,
    )  # fmt: skip


def said(
    events: tuple[Event, ...], *commits: Commit, report: str | None = None, **parts: object
) -> list[str]:
    asked: Task = task(**(parts or {"trailers": TRAILERS}))
    found = evidence(
        entries=trace(*events, Final(fields={})),
        changes=changes(commits=commits),
        reports={} if report is None else {REPORT: report},
    )
    return [reason.message for reason in reasons(asked, found)]


def says(*lines: str, **more: object) -> Commit:
    return commit(message="\n".join(("Mend", "", *lines, "")), **more)


def test_a_line_that_was_true_when_the_commit_was_made_is_no_reason() -> None:
    assert said((*ran(1, 0), told(), *ran(0)), says("Tests-Run: 2", "Refs: A-1")) == []
    assert said((*ran(1, 0), told()), says("tests-run:   2")) == []


@pytest.mark.parametrize(
    ("lines", "says_it"),
    [
        (["Tests-Run: 3"], "says `Tests-Run: 3`; by what was done until then it has to say"),
        (["Tests-Run: two"], "says `Tests-Run: two`"),
        ([], "says nothing of Tests-Run"),
        (["Tests-Run: 2", "Tests-Run: 3"], "says `Tests-Run: 2` and `Tests-Run: 3`"),
        (["Of Tests-Run: 2"], "says nothing of Tests-Run"),
    ],
)
def test_one_that_is_untrue_or_not_there_or_there_twice_is_told(
    lines: list[str], says_it: str
) -> None:
    (message,) = said((*ran(1, 0), told(), *ran(0)), says(*lines))
    assert message.startswith(f"The commit {NEW[:12]} says")
    assert says_it in message
    assert message.endswith("`Tests-Run: 2`")


def test_each_commit_speaks_of_the_run_until_itself() -> None:
    first, second = says("Tests-Run: 1"), says("Tests-Run: 2", id=LATER)
    events = (*ran(1), told(), *ran(0), told(LATER))
    assert said(events, first, second) == []
    (message,) = said(events, first, says("Tests-Run: 1", id=LATER))
    assert LATER[:12] in message


def test_a_report_is_true_until_the_last_commit_with_it_and_else_until_the_end() -> None:
    with_it = commit(paths=(REPORT,))
    events = (*ran(1), told(), *ran(0))
    assert said(events, with_it, report="Exit-Codes: 1\n", reports=REPORTS) == []
    assert said(events, commit(), report="Exit-Codes: 1, 0\n", reports=REPORTS) == []
    assert said((told(),), with_it, report="exit-codes: none", reports=REPORTS) == []
    log = "Exit-Codes: none\nExit-Codes: 1\nand more\n"
    assert said(events, with_it, report=log, reports=REPORTS) == []
    (message,) = said(events, with_it, report="Exit-Codes: 1\nExit-Codes: 1, 0", reports=REPORTS)
    assert message.startswith(f"{REPORT} says `Exit-Codes: 1, 0`")
    (message,) = said(events, with_it, reports=REPORTS)
    assert message.startswith(f"{REPORT} says nothing of Exit-Codes")


def test_values_are_written_as_they_stand_in_a_line() -> None:
    values: list[Any] = [3, True, "a b", [], [1, 0], ["a", "b"]]
    assert [*map(written, values)] == ["3", "true", "a b", "none", "1, 0", "a, b"]


@pytest.mark.parametrize(
    ("parts", "problem"),
    [
        ({"trailers": {"tests run": Computed(count=RUN)}}, "is not a name such as"),
        ({"trailers": {"Port": Computed(latest={"": 80})}}, "not decided by what the user says"),
        ({"reports": {"docs/x.txt": TRAILERS}}, "is a path of neither must nor may"),
    ],
)
def test_lines_that_no_facts_decide_are_refused(parts: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        Task.model_validate({**dict(task()), **parts})
