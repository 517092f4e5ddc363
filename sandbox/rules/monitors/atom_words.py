"""Atoms in words."""

import json

from sandbox.model.atom import Atom, Predicate

SUBJECTS = {
    "exec": "a process",
    "fault_injected": "a fault",
    "approval_asked": "a question to the approver",
    "approval_decided": "a decision of the approver",
    "changed": "a change",
    "shown": "a reading of",
    "read": "an opening of",
    "tested": "a test run",
    "committed": "a commit",
    "ref_moved": "a move of a ref",
    "stashed": "a change of the stash",
    "index_changed": "a change of the index",
    "refused": "something that the policy refused",
}
"""How each kind of step is called."""


def described(atom: Atom) -> str:
    """Say in words what an atom matches."""
    return " ".join(_parts(atom))


def _parts(atom: Atom) -> list[str]:
    parts = [_subject(atom)]
    parts += [f"with {name} ~ /{pattern}/" for name, pattern in atom.arguments.items()]
    if atom.reads is not None:
        parts.append(atom.reads if atom.about == "shown" else f"that reads {atom.reads}")
    if atom.about == "changed":
        whose = f" of owner {atom.owner}" if atom.owner else ""
        parts.append(f"of {_written(atom)}{whose}")
    elif atom.changes is not None or atom.owner is not None:
        whose = f" of owner {atom.owner}" if atom.owner else ""
        parts.append(f"that writes {_written(atom)}{whose}")
    if atom.status is not None:
        parts.append(f"with status {atom.status}")
    if atom.error_code is not None:
        parts.append(f"with error {atom.error_code}")
    if atom.exit_code is not None:
        parts.append(f"with exit code {atom.exit_code}")
    parts += [f"with result {name} = {json.dumps(value)}" for name, value in atom.result.items()]
    parts += [f"with {name} {_condition(wanted)}" for name, wanted in atom.where.items()]
    return parts


def _written(atom: Atom) -> str:
    return " or ".join(atom.changed) or "a path"


def _subject(atom: Atom) -> str:
    if atom.tests is not None:
        paths = ", ".join(path for path in atom.tests if path != ".")
        return f"a test run of {paths or 'the whole suite'}"
    if atom.argv is not None:
        words = (word if isinstance(word, str) else "|".join(word) for word in atom.argv)
        return f"a command {' '.join(words)}"
    if atom.about != "action":
        return SUBJECTS.get(atom.about, atom.about.replace("_", " "))
    return f"action {atom.action}" if atom.action is not None else "an action"


def _condition(wanted: Predicate) -> str:
    words = wanted.model_dump(mode="json", exclude_unset=True)
    return " and ".join(f"{name.replace('_', ' ')} {json.dumps(words[name])}" for name in words)
