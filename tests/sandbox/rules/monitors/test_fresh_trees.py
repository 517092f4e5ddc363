"""`fresh` compares what stands there, not when it came there."""

import pytest
from pydantic import JsonValue

from sandbox.model.atom import Atom
from sandbox.model.rule import Fresh
from sandbox.rules.monitors.base import Monitor
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
