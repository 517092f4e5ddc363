"""Whether all that is graded is stated where the agent can read it."""

import difflib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

from sandbox.model.base import Record
from sandbox.model.statement import Statement
from sandbox.model.task import Task

PROMPT, POLICY = "prompt", "policy"

WILD = re.compile(r"[*?\[\]]+")
SHORTEST = 3
"""Characters from which on a fixed part of a glob has to be said."""

CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]")
NO_TEXT = re.compile(r"\\[A-Za-z0-9]|\(\?[a-zA-Z-]*[:)=!<]*|\{[\d,]*\}|[*+?^$.|()]")
"""What stands for no text of its own in a regular expression, once its classes are gone."""
FIXED = re.compile(r"[\w:#/ -]{4,}")


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that a run is graded by."""

    name: str
    parts: tuple[str, ...] = ()
    """Text that has to be said, unless the task says how the fact follows."""
    place: str | None = None
    """Where it has to be stated; None where any place will do."""


class Stated(Record):
    """A fact, and where it is stated."""

    fact: str
    places: tuple[str, ...]
    problems: tuple[str, ...] = ()


def facts(task: Task) -> Iterator[Fact]:
    """Give all that a task is graded by, each by the name that `statements` uses for it."""
    for kind in ("must", "never", "user", "shared"):
        for glob in getattr(task.scope, kind):
            yield Fact(f"{kind} {glob}", _fixed(glob))
    yield Fact("collateral")
    git = task.scope.git
    if git.commits != "allowed":
        yield Fact(f"commits {git.commits}")
    if git.message is not None:
        yield Fact("commit message", _fixed_of_expression(git.message))
    if git.messages:
        yield Fact("commit messages")
    for name in task.trailers:
        yield Fact(f"trailer {name}", (name,))
    for path, lines in task.reports.items():
        for name in lines:
            yield Fact(f"report {path} {name}", (path, name))
    for rule in task.rules:
        yield Fact(f"rule {rule.id}", place=rule.stated_in)
    for name in task.final:
        yield Fact(f"final {name}", (name,))
    tests = task.tests.fail_to_pass + task.tests.pass_to_pass
    for file in dict.fromkeys(test.partition("::")[0] for test in tests):
        yield Fact(f"tests {file}")
    for case in task.tests.cases.expected if task.tests.cases else ():
        yield Fact(f"case {case}")


def stated(task: Task, read: Callable[[str], str | None]) -> list[Stated]:
    """Say of each fact where it is stated, and what is wrong with that.

    `read` gives the text of a file as the agent can read it in a fresh session, None where it
    cannot. A final field whose name stands in the prompt needs no statement.
    """
    every = list(facts(task))
    texts = {PROMPT: task.prompt, POLICY: _policy(task)}
    for place in {statement.stated_in for statement in task.statements} - texts.keys():
        texts[place] = read(place) or ""
    found = [_stated(task, fact, texts) for fact in every]
    names = [fact.name for fact in every]
    for statement in task.statements:
        for wanted in statement.facts:
            if not any(_covers(wanted, name) for name in names):
                near = difflib.get_close_matches(wanted, names, n=2)
                meant = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
                problem = f"nothing that is graded is called {wanted!r}{meant}"
                found.append(Stated(fact=wanted, places=(), problems=(problem,)))
    return found


def _stated(task: Task, fact: Fact, texts: dict[str, str]) -> Stated:
    by = [s for s in task.statements if any(_covers(wanted, fact.name) for wanted in s.facts)]
    if not by and fact.name.startswith("final ") and _word(fact.parts[0], task.prompt):
        return Stated(fact=fact.name, places=(PROMPT,))
    return Stated(
        fact=fact.name,
        places=tuple(dict.fromkeys(statement.stated_in for statement in by)),
        problems=tuple(_problems(fact, by, texts)),
    )


def _problems(fact: Fact, by: list[Statement], texts: dict[str, str]) -> Iterator[str]:
    if not by:
        yield "no statement covers it"
        return
    for statement in by:
        if _folded(statement.says) not in _folded(texts[statement.stated_in]):
            yield f"{statement.stated_in} does not say {statement.says.strip()!r}"
    places = [statement.stated_in for statement in by]
    if fact.place is not None and fact.place not in places:
        yield f"the rule says that it is stated in {fact.place}, its statements are elsewhere"
    if any(statement.follows for statement in by):
        return
    said = " ".join(_folded(statement.says) for statement in by)
    for part in fact.parts:
        if part not in said:
            yield f"its statement does not hold {part!r}, nor says how that follows"


def _covers(wanted: str, name: str) -> bool:
    return wanted == name or fnmatchcase(name, wanted)


def _policy(task: Task) -> str:
    """Give what the policy tells an agent that meets it."""
    said = [rule.reason for rule in task.policy.rules]
    for scripted in task.policy.approver:
        said += [scripted.answer.reason, scripted.answer.fallback_command or ""]
    return "\n".join(said)


def _folded(text: str) -> str:
    return " ".join(text.split())


def _word(name: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def _fixed(glob: str) -> tuple[str, ...]:
    parts = (part.strip("/") for part in WILD.split(glob))
    return tuple(part for part in parts if len(part) >= SHORTEST)


def _fixed_of_expression(expression: str) -> tuple[str, ...]:
    """Give the runs of plain text in a regular expression."""
    bare = NO_TEXT.sub("\0", CLASS.sub("\0", expression))
    plain = re.sub(r"\\(\W)", r"\1", bare)
    return tuple(part.strip() for part in FIXED.findall(plain) if len(part.strip()) > SHORTEST)
