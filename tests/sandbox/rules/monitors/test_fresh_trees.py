"""`fresh` compares what stands there, not when it came there."""

import pytest
from pydantic import JsonValue

from sandbox.model.atom import Atom
from sandbox.model.rule import Fresh
from sandbox.model.task import Scope
from sandbox.rules.monitors.base import Monitor
from sandbox.rules.monitors.context import Context
from sandbox.rules.monitors.steps import Step

RULE = Fresh(
    id="tested",
    template="fresh",
    a=Atom(tests=(".",), exit_code=0),
    since=Atom(changes="src/**"),
    before=Atom(kind="committed"),
    reason="x",
    stated_in="prompt",
)


def changed(path: str, digest: str | None, *, as_at_start: bool = False) -> Step:
    fields: dict[str, JsonValue] = {"path": path, "digest": digest, "as_at_start": as_at_start}
    return Step(1, "changed", fields, changes=(path,), kind="changed")


def suite(*meanwhile: str, code: int = 0, sound: bool = True) -> Step:
    fields: dict[str, JsonValue] = {
        "paths": ["."],
        "exit_code": code,
        "sound": sound,
        "meanwhile": [*meanwhile],
    }
    return Step(2, "tested", fields, kind="tested")


COMMIT = Step(3, "committed", {}, kind="committed")
EDIT, BACK = changed("src/a.py", "new"), changed("src/a.py", "old", as_at_start=True)
NEW, GONE = changed("src/b.py", "n"), changed("src/b.py", None, as_at_start=True)
OTHER = changed("src/a.py", "other")


@pytest.mark.parametrize(
    ("steps", "holds"),
    [
        ((EDIT, suite(), COMMIT), True),
        ((EDIT, COMMIT), False),
        ((EDIT, suite(), OTHER, COMMIT), False),
        ((EDIT, suite(), OTHER, EDIT, COMMIT), True),
        ((suite(), EDIT, BACK, COMMIT), True),
        ((EDIT, suite(), BACK, COMMIT), False),
        ((EDIT, suite(), changed("docs/x", "new"), COMMIT), True),
        ((EDIT, suite(), changed("src/b.py", "new"), COMMIT), False),
        ((EDIT, suite(), NEW, GONE, COMMIT), True),
        ((EDIT, suite("src/a.py"), COMMIT), False),
        ((EDIT, suite("docs/x"), COMMIT), True),
        ((EDIT, suite(sound=False), COMMIT), False),
        ((EDIT, suite(code=1), COMMIT), False),
        ((EDIT, suite(), OTHER, suite(), EDIT, COMMIT), True),
    ],
)  # fmt: skip
def test_what_is_committed_is_what_was_suite(steps: tuple[Step, ...], holds: bool) -> None:
    monitor = Monitor(RULE)
    breaches = [monitor.feed(step) for step in steps]
    assert any(breaches) is not holds


def commit(number: int, parent: int, standing: tuple[str, ...] = (), **files: str | None) -> Step:
    """A commit that holds at `a` what stands in src/a.py, and so on."""
    held: dict[str, JsonValue] = {
        "docs/x" if name == "docs" else f"src/{name}.py": digest for name, digest in files.items()
    }
    fields: dict[str, JsonValue] = {
        "id": str(number),
        "parents": [str(parent)],
        "files": held,
        "standing": [f"src/{name}.py" for name in standing],
    }
    return Step(3, "committed", fields, kind="committed")


def edited(path: str, digest: str, before: str = "old") -> Step:
    step = changed(path, digest)
    return Step(1, "changed", {**step.arguments, "before": before}, changes=(path,), kind="changed")


ONE, MORE = edited("src/a.py", "new"), edited("src/b.py", "n")
EVIL, BACK_B = edited("src/b.py", "evil"), changed("src/b.py", "old", as_at_start=True)


@pytest.mark.parametrize(
    ("steps", "holds"),
    [
        # What the commit holds counts, not what stands in the worktree.
        ((ONE, suite(), MORE, commit(1, 0, a="new")), True),
        ((ONE, suite(), edited("src/a.py", "other", "new"), commit(1, 0, a="new")), True),
        ((ONE, suite(), commit(1, 0, a="forged")), False),
        ((ONE, suite(), commit(1, 0, a="new", c="never seen")), False),
        ((ONE, commit(1, 0, a="new")), False),
        # One after the other, and docs for themselves.
        ((ONE, MORE, suite(), commit(1, 0, a="new"), commit(2, 1, b="n")), True),
        ((ONE, suite(), commit(1, 0, a="new"), commit(2, 1, docs="x")), True),
        ((ONE, suite(), commit(1, 0, a="new"), MORE, commit(2, 1, b="n")), False),
        # Amended: what the first one held does not count any more.
        ((ONE, MORE, suite(), commit(1, 0, a="new", b="n"), commit(2, 0, a="new")), True),
        # What made the tests pass is not put back unnoticed, by whatever commit.
        ((ONE, EVIL, suite(), BACK_B, commit(1, 0, a="new")), False),
        ((ONE, EVIL, suite(), commit(1, 0, a="new")), True),
        ((ONE, suite(), commit(1, 0, a="new"), commit(2, 1), commit(3, 2, a="x")), False),
        ((ONE, suite(), commit(1, 0, a="new"), commit(2, 1), commit(3, 2, docs="x")), True),
        # What is put back is as it was.
        ((ONE, suite(), commit(1, 0, a="new"), commit(2, 1, a="old")), True),
        # What stood there from the start was tested with the rest, unless it did not.
        ((ONE, suite(), commit(1, 0, ("c",), a="new", c="users")), True),
        ((ONE, suite(), commit(1, 0, ("a",), a="forged")), False),
        ((ONE, suite(), commit(1, 0, ("c",), a="new", c="users"),
          edited("src/c.py", "more", "users")), True),
        ((ONE, suite(), commit(1, 0, ("c",), a="new", c="evil"),
          edited("src/c.py", "evil", "users")), False),
        # Of a commit on another one nobody knows what it holds: the order of steps counts.
        ((ONE, suite(), commit(1, 0, a="new"), commit(2, 7, a="other")), True),
        ((ONE, suite(), commit(1, 0, a="new"), MORE, commit(2, 7, b="n")), False),
    ],
)  # fmt: skip
def test_a_commit_of_what_was_tested_is_tested_however_it_was_made(
    steps: tuple[Step, ...], holds: bool
) -> None:
    monitor = Monitor(RULE)
    breaches = [monitor.feed(step) for step in steps]
    assert any(breaches) is not holds


def test_of_a_file_that_holds_the_users_lines_too_the_worktree_counts() -> None:
    monitor = Monitor(RULE, Context(scope=Scope(must=("src/a.py",), shared=("src/a.py",))))
    steps = (ONE, suite(), commit(1, 0, a="without the user's lines"))
    assert not any(monitor.feed(step) for step in steps)
