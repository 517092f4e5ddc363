"""What a fresh session shows, before anybody acts in it."""

from dataclasses import dataclass

from sandbox.container.engines.base import Engine, Session
from sandbox.model import path_text as paths
from sandbox.model.session import AGENT, Command
from sandbox.model.statement import HISTORY
from sandbox.model.task import Task
from sandbox.run.run_containers import begin
from sandbox.run.validate.checks import Check, Row, row_status
from sandbox.run.validate.facts import Stated, stated
from sandbox.run.validate.state import state_digest
from sandbox.tasks.images import BuiltImage
from sandbox.tasks.library import LoadedTask

LARGEST = 1 << 20
"""Bytes of a file in which something is stated."""
COMMITS = 200
"""How many messages are looked through."""


@dataclass(frozen=True, slots=True)
class Look:
    """A look at a session."""

    state: str
    """Its state's digest."""
    facts: tuple[Stated, ...]


def looking(engine: Engine, loaded: LoadedTask, image: BuiltImage, label: str) -> Look:
    """Start a session and look at it; raises as `state_digest` and the engine do."""
    with begin(engine, loaded, image, label) as session:
        digest = state_digest(session)
        facts = stated(loaded.task, lambda place: _text(session, loaded.worktree, place))
        return Look(digest, tuple(facts))


def _text(session: Session, worktree: str, place: str) -> str | None:
    """Read a file, or the messages of the last commits, as the agent may."""
    if place == HISTORY:
        argv = ("/usr/bin/git", "log", f"-{COMMITS}", "--format=%B")
        told = session.run(Command(argv=argv, cwd=worktree, user=AGENT)).stdout
        return told.decode("utf-8", "replace")
    try:
        data = session.read(paths.raw(place), beneath=worktree, user=AGENT, limit=LARGEST)
    except OSError:
        return None
    return data.decode("utf-8", "replace")


def facts_row(task: Task, look: Look) -> Row:
    """Say whether all facts are stated."""
    found = look.facts
    problems = [f"{each.fact}: {problem}" for each in found for problem in each.problems]
    good = sum(not each.problems for each in found)
    places = dict.fromkeys(place for each in found for place in each.places)
    return Row(
        task=task.id,
        check=Check.FACTS,
        what="facts",
        expected="each is stated where the agent can read it",
        result=f"{good} of {len(found)} stated, in {', '.join(places) or 'no place'}",
        status=row_status(problems),
        notes=tuple(problems),
    )


def reset_row(task: Task, before: Look, after: Look) -> Row:
    """Say whether two sessions, before and after all runs, started from the same state."""
    first, last = before.state[:16], after.state[:16]
    problems = [] if before.state == after.state else [f"it was {first} and is {last}"]
    return Row(
        task=task.id,
        check=Check.RESET,
        what="a session before all runs, and one after them",
        expected="both start from the same state",
        result=first if not problems else "",
        status=row_status(problems),
        notes=tuple(problems),
    )
