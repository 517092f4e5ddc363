"""Hard rules that rest on how a line was spelt, and the fact that says it in their place."""

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase

from sandbox.model.action import ACTIONS
from sandbox.model.atom import Atom
from sandbox.model.rule import Rule
from sandbox.rules.checker.findings import Finding

INSTEAD = {
    "commit": "`kind: committed`, a branch that came to a new commit, with the hooks that ran",
    "stash": "`kind: stashed`, the stash that was changed",
    "push": "`kind: refused` with the rule of the policy that denies it",
}
"""By a word of the line: the fact that a rule probably means."""


def worded(rules: Iterable[Rule]) -> Iterator[Finding]:
    """Object to each hard rule that goes by the text of a shell line."""
    for rule in rules:
        for atom in rule.atoms if rule.hard else ():
            if (why := _words(atom)) is not None:
                yield Finding(
                    kind="words",
                    message=f"The hard rule {rule.id} goes by how a line was spelt: {why}.",
                )


def _words(atom: Atom) -> str | None:
    if atom.about != "action":
        return None
    if "command" in atom.arguments and _is_shell(atom.action):
        return f"`arguments.command`. Use {_fact(atom.arguments['command'])}"
    if atom.argv is not None:
        line = " ".join(word if isinstance(word, str) else " ".join(word) for word in atom.argv)
        return f"`argv` of an action. Use {_fact(line)}"
    if atom.tests is not None:
        return "`tests` with `action`. Leave `action` out: a test run counts however it is started"
    if atom.reads is not None:
        return (
            "`reads` with `action`. Leave `action` out: what was shown counts, not who printed it"
        )
    return None


def _is_shell(name: str | None) -> bool:
    shells = [action.name for action in ACTIONS.values() if action.shell]
    return name is None or any(fnmatchcase(each, name) for each in shells)


def _fact(line: str) -> str:
    for word, fact in INSTEAD.items():
        if word in line:
            return fact
    return "`kind: exec` with `argv`, the program that ran, or `changes`, what came of it"
