"""Agents made of the task file that must never pass: they do nothing, everything, or anything."""

import random
import shlex
from collections.abc import Iterator

from pydantic import JsonValue

from sandbox.model.action import FinalAnswer
from sandbox.model.decision import Outcome
from sandbox.model.final import FinalField
from sandbox.model.task import ScriptedAction, Task
from sandbox.run.validate.cases import Case
from sandbox.run.validate.checks import Check

LENGTH = 12
"""Actions of a random agent before its answer."""

EDITS = ("apply_patch", "write_file")

MARK = "sandbox-was-here"
"""What is written where nothing is to be written."""

WORDS = ("def", "import", "TODO", "test", "version")
OTHER_VALUES: dict[str, tuple[JsonValue, ...]] = {
    "string": ("", "yes", "none", MARK),
    "integer": (-1, 0, 1, 7, 100),
    "number": (-1.5, 0, 0.5, 100),
    "boolean": (True, False),
    "list": ([], [MARK]),
}


def agents(task: Task, seeds: int) -> Iterator[Case]:
    """Give the agents that fail on every task that asks for something."""
    yield Case(check=Check.AGENTS, agent="null")
    yield _case("final-only", (answer(task),), invalid_too=False)
    yield _case("do-everything", do_everything(task))
    for seed in range(1, seeds + 1):
        yield _case(f"random {seed}", at_random(task, seed))


def _case(agent: str, script: tuple[ScriptedAction, ...], *, invalid_too: bool = True) -> Case:
    return Case(
        check=Check.AGENTS,
        agent=agent,
        script=script,
        outcome_right=None,
        invalid_too=invalid_too,
    )


def answer(task: Task) -> ScriptedAction:
    """Give the right final answer; where any value will do, the oracle's."""
    said: dict[str, JsonValue] = {}
    for action in task.oracle:
        if action.action == FinalAnswer.name and isinstance(action.arguments.get("fields"), dict):
            said = {**action.arguments["fields"]}  # type: ignore[dict-item]
    for name, field in task.final.items():
        if field.expect is not None:
            said[name] = field.expect
    return _action(FinalAnswer.name, fields=said)


def do_everything(task: Task) -> tuple[ScriptedAction, ...]:
    """Solve the task as the oracle does, then do all that tempts, and answer rightly.

    Forbidden edits come first, so that the budget of actions never leaves the oracle alone.
    """
    work = [action for action in task.oracle if action.action != FinalAnswer.name]
    tempting = [*_edits(task), *_requests(task), *_deeds(task), *_commands(task)]
    room = task.limits.turns - 1
    kept = min(len(work), room - 1)
    return (*work[:kept], *tempting[: room - kept], answer(task))


def at_random(task: Task, seed: int) -> tuple[ScriptedAction, ...]:
    """Draw actions from all that the task knows, and an answer of the right shape.

    One of the oracle's edits is left out: with all of them nothing may be wrong but the way there,
    of which a task need not ask anything.
    """
    draw = random.Random(f"{task.id} {seed}")  # noqa: S311 - it has to be repeatable
    known = [action for action in task.oracle if action.action != FinalAnswer.name]
    edits = [action for action in known if action.action in EDITS]
    if edits:
        known.remove(draw.choice(edits))
    known += [*_edits(task), *_requests(task), *_deeds(task), *_commands(task), *_looks(task)]
    chosen = [draw.choice(known) for _ in range(min(LENGTH, task.limits.turns - 1))]
    fields = {name: _value(draw, field) for name, field in task.final.items()}
    return (*chosen, _action(FinalAnswer.name, fields=fields))


def _value(draw: random.Random, field: FinalField) -> JsonValue:
    if field.expect is not None and draw.random() < 0.5:
        return field.expect
    return draw.choice(OTHER_VALUES[field.type])


def _edits(task: Task) -> Iterator[ScriptedAction]:
    """Write where nothing may be written, and beside all that is the agent's."""
    scope = task.scope
    yield _action("write_file", path=MARK, content=f"{MARK}\n")
    for pattern in dict.fromkeys((*scope.never, *scope.user)):
        if not pattern.startswith("/"):
            yield _action("write_file", path=_instance(pattern), content=f"{MARK}\n")


def _instance(pattern: str) -> str:
    """Give a path that a glob matches."""
    named = pattern.replace("**/", "").replace("**", MARK).replace("*", MARK).replace("?", "x")
    return named.replace("[", "").replace("]", "")


def _requests(task: Task) -> Iterator[ScriptedAction]:
    """Ask for every permission that there is, for every command that it is asked for."""
    for rule in task.policy.rules:
        if rule.decision is Outcome.ASK:
            for command in _examples(rule.match):
                yield _action("request_approval", scope=rule.scope, command=command)
    for scripted in task.policy.approver:
        yield _action("request_approval", scope=scripted.scope, command=scripted.command or "true")


def _commands(task: Task) -> Iterator[ScriptedAction]:
    """Run all that the policy is about, and what its answers propose."""
    for rule in task.policy.rules:
        for command in _examples((*rule.match, *rule.not_match)):
            yield _action("run_command", command=command)
    for scripted in task.policy.approver:
        if scripted.answer.fallback_command:
            yield _action("run_command", command=scripted.answer.fallback_command)


def _examples(examples: tuple[str | tuple[str, ...], ...]) -> Iterator[str]:
    for example in examples:
        yield example if isinstance(example, str) else shlex.join(example)


def _deeds(task: Task) -> Iterator[ScriptedAction]:
    """Take every action of the graph's that the oracle does not take."""
    for edge in task.graph.edges if task.graph else ():
        for deed in edge.does:
            if deed.action not in (None, FinalAnswer.name):
                yield ScriptedAction(action=str(deed.action), arguments=deed.arguments)


def _looks(task: Task) -> Iterator[ScriptedAction]:
    """Read and search, write what may be written, run what tests there are."""
    scope = task.scope
    for pattern in dict.fromkeys((*scope.never, *scope.user, *scope.must, *scope.may)):
        if not pattern.startswith("/"):
            yield _action("read_file", path=_instance(pattern))
    for pattern in dict.fromkeys((*scope.must, *scope.may)):
        if not pattern.startswith("/"):
            yield _action("write_file", path=_instance(pattern), content=f"{MARK}\n")
    yield from (_action("search_repo", pattern=word) for word in WORDS)
    yield from (_action(name) for name in ("run_tests", "git_diff", "list_files"))


def _action(name: str, **arguments: JsonValue) -> ScriptedAction:
    return ScriptedAction(action=name, arguments=arguments)
