"""A task and the evidence of a run that solved it; tests change one thing at a time."""

from typing import Any

from sandbox.model.change import (
    Change,
    ChangeSet,
    Commit,
    FileState,
    GitChange,
    GitState,
    IndexEntry,
    Owner,
)
from sandbox.model.event import ActionTaken, Entry, Event, Final, Observed, RunEnded, RunStarted
from sandbox.model.final import FinalField
from sandbox.model.grade import Evidence, TestReport
from sandbox.model.observation import Observation
from sandbox.model.rule import Atom, Required
from sandbox.model.session import FileKind
from sandbox.model.task import Facet, GitScope, Scope, ScriptedAction, Task
from sandbox.model.task_tests import Tests
from sandbox.model.world import World

TREE = "/home/agent/humanize"
RUN, DIGEST = "run-1", "d" * 64
OLD, NEW = "a" * 40, "b" * 40


def task(**changes: object) -> Task:
    base = Task(
        id="humanize/file-sizes",
        facet=Facet.EDIT_TEST_LOOP,
        title="File sizes",
        prompt="Mend it.",
        image="python",
        world=World(release="4.0"),
        scope=Scope(
            never=("setup.py",),
            user=("notes.md",),
            must=("src/filesize.py",),
            may=("src/**",),
            generated=("**/__pycache__/**",),
        ),
        rules=(
            Required(
                id="test-first",
                template="required",
                a=Atom(action="run_tests"),
                reason="Run the tests.",
                stated_in="prompt",
            ),
        ),
        tests=Tests(
            framework="pytest",
            command="pytest",
            hidden="hidden",
            fail_to_pass=("tests/test_a.py::test_new",),
            pass_to_pass=("tests/test_a.py::test_old",),
        ),
        final={
            "cause": FinalField(type="string"),
            "count": FinalField(type="integer", expect=2),
        },
        oracle=(ScriptedAction(action="final_answer"),),
    )
    return base.model_copy(update=changes)


def state(
    digest: str = "0" * 64, *, mode: int = 0o644, kind: FileKind = FileKind.FILE
) -> FileState:
    return FileState(kind=kind, mode=mode, uid=10001, gid=10001, size=1, digest=digest)


FOLDER = state(kind=FileKind.DIRECTORY, mode=0o755)


def change(
    path: str, owner: Owner, before: FileState | None = None, after: FileState | None = None
) -> Change:
    if before is None and after is None:
        before, after = state(), state("1" * 64)
    return Change(path=path, owner=owner, before=before, after=after)


def entry(path: str, **changes: object) -> IndexEntry:
    base = IndexEntry(
        path=path,
        object=OLD,
        mode=0o100644,
        stage=0,
        assume_unchanged=False,
        skip_worktree=False,
        intent_to_add=False,
    )
    return base.model_copy(update=changes)


def git(**changes: object) -> GitState:
    base = GitState(
        head="refs/heads/main",
        refs={"refs/heads/main": OLD, "refs/tags/v1": OLD},
        index=(entry("notes.md"), entry("src/filesize.py")),
        stash=(),
        files={"config": "c" * 64, "hooks/pre-commit": "c" * 64},
    )
    return base.model_copy(update=changes)


def commit(**changes: object) -> Commit:
    base = Commit(
        id=NEW, parents=(OLD,), author="Anna", message="Mend\n", paths=("src/filesize.py",)
    )
    return base.model_copy(update=changes)


MENDED = change(f"{TREE}/src/filesize.py", Owner.MUST)


def changes(
    *more: Change, after: GitState | None = None, commits: tuple[Commit, ...] = ()
) -> ChangeSet:
    return ChangeSet(
        source="overlay",
        changes=(MENDED, *more),
        git=GitChange(before=git(), after=after or git(), commits=commits),
    )


ANSWER: dict[str, Any] = {"cause": "rounding", "count": 2}


def trace(*events: Event) -> tuple[Entry, ...]:
    whole: tuple[Event, ...] = events or (
        RunStarted(
            run=RUN,
            task="humanize/file-sizes",
            task_digest=DIGEST,
            image="i",
            agent="oracle",
            mode="raw",
            coverage="top-level",
        ),
        ActionTaken(name="run_tests", arguments={}),
        Observed(name="run_tests", observation=Observation()),
        Final(fields=ANSWER),
        RunEnded(reason="final_answer", turns=2, seconds=1.0),
    )
    return tuple(
        Entry(
            sequence=number,
            wall_time="2024-01-01T00:00:00.000000+00:00",
            elapsed=0.0,
            action_id="1",
            event=event,
            previous="",
            digest="",
        )
        for number, event in enumerate(whole)
    )


def outcomes(**changes: object) -> TestReport:
    base = TestReport(
        outcomes={"tests/test_a.py::test_new": "passed", "tests/test_a.py::test_old": "passed"},
    )
    return base.model_copy(update=changes)


def evidence(**updates: object) -> Evidence:
    base = Evidence(
        run=RUN,
        task="humanize/file-sizes",
        task_digest=DIGEST,
        entries=trace(),
        changes=changes(),
        tests=outcomes(),
        final=ANSWER,
    )
    return base.model_copy(update=updates)


ALLOWED = GitScope(commits="allowed", message=r"[A-Z][a-z ]+")


def committing(rule: GitScope = ALLOWED) -> Task:
    base = task()
    return base.model_copy(update={"scope": base.scope.model_copy(update={"git": rule})})
