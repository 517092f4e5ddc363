"""Hard rules that rest on how a line was spelt, and the fact that says it in their place."""

import posixpath
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase

from sandbox.model.action import ACTIONS, RunAgent
from sandbox.model.atom import Atom
from sandbox.model.decision import PolicyRule
from sandbox.model.rule import Rule
from sandbox.model.shell.table import shipped
from sandbox.rules.checker.findings import Finding

INSTEAD = {
    "commit": "`kind: committed`, a branch that came to a new commit, with the hooks that ran",
    "stash": "`kind: stashed`, the stash that was changed",
    "push": "`kind: refused` with the rule of the policy that denies it",
}
"""By a word of the line: the fact that a rule probably means."""


LINES = ("arguments.command", "arguments.argv")
"""Fields that hold the text of a shell line, or of a program's words."""


def worded(rules: Iterable[Rule], policy: Iterable[PolicyRule] = ()) -> Iterator[Finding]:
    """Object to each hard rule that goes by the text of a shell line.

    `policy` has the rules by which things are refused: a refusal by a line's text is words, too.
    """
    by_text = frozenset(rule.id for rule in policy if rule.when.command is not None)
    for rule in rules:
        for atom in rule.atoms if rule.hard else ():
            if (why := _words(atom, by_text)) is not None:
                yield Finding(
                    kind="words",
                    message=f"The hard rule {rule.id} goes by how a line was spelt: {why}.",
                )


def _words(atom: Atom, by_text: frozenset[str]) -> str | None:
    match atom.about:
        case "action":
            return _of_action(atom)
        case "exec":
            return _of_exec(atom)
        case "refused":
            return _of_refusal(atom, by_text)
    return None


def _of_action(atom: Atom) -> str | None:
    asks = [each for each in LINES if each in atom.where]
    if _is_shell(atom.action) and ("command" in atom.arguments or asks):
        text = atom.arguments.get("command") or atom.where[asks[0]].model_dump_json()
        return f"`arguments.command`. Use {_fact(text)}"
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


def _of_exec(atom: Atom) -> str | None:
    if "argv" in atom.arguments or "arguments.argv" in atom.where:
        return "`arguments.argv` as a text. Use `argv`, globs over its words"
    words = [
        glob for each in atom.argv or () for glob in ((each,) if isinstance(each, str) else each)
    ]
    shells = [word for word in words if shipped().find(posixpath.basename(word).strip("*")).shell]
    if (shells and len(words) > 1) or any(" " in word for word in words):
        line = " ".join(word for word in words if word not in shells)
        return f"`argv` with a shell's line. Use {_fact(line)}"
    return None


def _of_refusal(atom: Atom, by_text: frozenset[str]) -> str | None:
    named = atom.where.get("arguments.rule")
    if named is None:
        meant = by_text if "rule" not in atom.arguments else frozenset[str]()
    else:
        told = {named.equals, *(named.one_of or ())} if named.like is None else by_text
        meant = by_text & {each for each in told if isinstance(each, str)}
    if not meant:
        return None
    return (
        f"the refusals of the policy's rule {min(meant)}, whose `command` is a text. Give that"
        " rule a `program`, or use the fact that it is about"
    )


def _is_shell(name: str | None) -> bool:
    shells = [RunAgent.name, *(action.name for action in ACTIONS.values() if action.shell)]
    return name is None or any(fnmatchcase(each, name) for each in shells)


def _fact(line: str) -> str:
    for word, fact in INSTEAD.items():
        if word in line:
            return fact
    return "`kind: exec` with `argv`, the program that ran, or `changes`, what came of it"
