"""The examples that rules carry, tried when the rules are loaded."""

import shlex
from collections.abc import Iterator

from sandbox.model.decision import Example, Pattern, Policy, PolicyRule
from sandbox.model.shell.reader import Started
from sandbox.rules.policy.rules import Rulebook
from sandbox.rules.policy.subject import Process, Subject

Place = tuple[str | int, ...]
_ROOT = "/home/agent/worktree"
_ACTIONS = ("run_command", "run_tests")


def problems(policy: Policy) -> Iterator[tuple[Place, str]]:
    """Yield where each example stands that is not as the rule says, and what is wrong with it.

    An example is tried on its rule alone. Where it runs and what started it is taken as met: a
    line does not say so.
    """
    for number, rule in enumerate(policy.rules):
        alone = _alone(rule)
        for expected, name, examples in (
            (True, "match", rule.match),
            (False, "not_match", rule.not_match),
        ):
            for place, example in enumerate(examples):
                if _matches(alone, rule.when, example) is not expected:
                    shown = example if isinstance(example, str) else shlex.join(example)
                    says = "does not match" if expected else "matches"
                    text = f"the rule {rule.id!r} {says} {shown!r}"
                    yield ("rules", number, name, place), text


def _alone(rule: PolicyRule) -> Rulebook:
    when = rule.when.model_copy(update={"cwd": None, "started_by": None})
    if rule.when.started_by is not None and not when.about_processes:
        when = when.model_copy(update={"program": ("*",)})
    return Rulebook(Policy(rules=(rule.model_copy(update={"when": when}),)), _ROOT)


def _matches(rulebook: Rulebook, pattern: Pattern, example: Example) -> bool:
    if pattern.path is not None and not pattern.about_processes:
        return False
    for action in _ACTIONS:
        if isinstance(example, str):
            judgement = rulebook.action(Subject(action, example))
        else:
            program, *words = example or ("",)
            started = Started(program, tuple(words), program, cwd=_ROOT)
            process = Process(started, action, privileged=bool(pattern.privileged))
            judgement = rulebook.process(process, lambda _: None, by_name=True)
        if any(finding.decision.rule for finding in judgement.findings):
            return True
    return False
