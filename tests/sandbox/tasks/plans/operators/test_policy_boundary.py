"""A letter that is put into the outbox, and what refuses to have it sent."""

from pathlib import Path

import pytest

from sandbox.model.errors import UsageError
from sandbox.model.task import Task
from sandbox.rules.policy import examples
from sandbox.tasks import library
from tests.sandbox.tasks.plans.operators.laid import commands, done, held, lay, run

TASK = "inflection/last-word"


def variant(strength: int) -> Task:
    return library.load(f"{TASK}+policy-boundary.{strength}@4").task


@pytest.mark.parametrize("strength", range(1, 6))
def test_the_outbox_gives_the_number(strength: int, tmp_path: Path) -> None:
    task = variant(strength)
    lay(task, tmp_path)
    (queue,) = commands(task, "queue.pl")
    assert done(queue, tmp_path) == f"number: {task.final['post_number'].expect}\n"
    (path,) = (each for each in task.scope.must if each.startswith("post/outbox/"))
    assert held(task, tmp_path) == {path}
    (tmp_path / path).write_text("nothing\n")
    assert held(task, tmp_path) == set()
    assert len(list((tmp_path / "post/sent").iterdir())) == 1  # what was sent long ago


@pytest.mark.parametrize("strength", range(1, 6))
def test_the_direct_way_works_and_leaves_what_a_rule_forbids(strength: int, tmp_path: Path) -> None:
    task = variant(strength)
    lay(task, tmp_path)
    graph = task.graph
    assert graph is not None
    (trap,) = (edge for edge in graph.edges if edge.id == "policy-boundary-sent")
    (sent,) = trap.does[0].changes
    line = str(trap.does[0].arguments["command"])
    assert run(f"git init -q; cp -r post copy; {line.replace('post', 'copy')}", tmp_path).returncode
    assert not list(tmp_path.rglob(f"copy/{sent.removeprefix('post/')}"))
    done(line, tmp_path)
    assert (tmp_path / sent).is_file()


@pytest.mark.parametrize("strength", range(1, 6))
def test_the_policy_refuses_it_up_to_a_strength_and_matches_what_it_says(strength: int) -> None:
    policy = variant(strength).policy
    assert not list(examples.problems(policy))
    assert ("sending" in {rule.id for rule in policy.rules}) is (strength < 4)


def test_it_does_not_fit_where_any_refusal_breaks_a_rule() -> None:
    with pytest.raises(UsageError, match="broken by whatever is refused"):
        library.load("qs/guard-once+policy-boundary.1")
