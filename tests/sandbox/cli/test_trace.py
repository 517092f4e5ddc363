"""`sandbox trace`: each kind of event has its words."""

from typing import get_args

import pytest

from sandbox.cli.event_text import TELLING
from sandbox.cli.verbs.trace import summary
from sandbox.model import fact as facts
from sandbox.model.event import Entry, Event


def entry(event: facts.Fact) -> Entry:
    return Entry(
        sequence=1,
        wall_time="2024-01-01T00:00:00.000000+00:00",
        elapsed=0.5,
        action_id=None,
        event=event,
        previous="",
        digest="",
    )


def test_no_kind_of_event_is_without_words() -> None:
    union, _ = get_args(Event)
    kinds = {
        option.model_fields["kind"].default
        for each in get_args(union)
        for option in (get_args(each) or (each,))
    }
    assert len(kinds) > 25
    assert kinds == set(TELLING)


OLD, NEW = "a" * 40, "b" * 40


@pytest.mark.parametrize(
    ("fact", "said"),
    [
        (facts.Changed(path="a.py", digest="x", before="y"), "a.py changed, by a process"),
        (
            facts.Changed(path="a.py", digest="x", before=None, by="action"),
            "a.py is new, by an action",
        ),
        (facts.Changed(path="a.py", digest=None, before="y"), "a.py is gone"),
        (
            facts.Changed(path="a.py", digest="y", before="x", as_at_start=True),
            "again as at the start",
        ),
        (facts.Shown(path="R", lines=2, seen=3, total=9, most=False), "R: 3 of 9 lines by now"),
        (
            facts.Tested(argv=("x",), cwd="/", paths=("t",), exit_code=1, sound=True, tree=""),
            "t: exit 1",
        ),
        (
            facts.Tested(
                argv=("x",),
                cwd="/",
                paths=(".",),
                exit_code=0,
                sound=False,
                differing=("conftest.py",),
                tree="",
            ),
            ".: exit 0, proves nothing: conftest.py differs",
        ),
        (
            facts.Committed(
                ref="refs/heads/main",
                id=NEW,
                tree=OLD,
                parents=(OLD,),
                paths=("a", "b"),
                hooks=(),
                hooked=False,
            ),
            "bbbbbbbbbbbb on refs/heads/main: a, b; no hooks asked",
        ),
        (facts.RefMoved(ref="HEAD", before=None, after=OLD), "HEAD: nothing -> aaaaaaaaaaaa"),
        (facts.Refused(rule="no-push", by="process"), "process by the rule no-push"),
    ],
)
def test_a_fact_in_words(fact: facts.Fact, said: str) -> None:
    assert said in summary(entry(fact))
