"""A run's actions in other words: they do the same."""

import re
import shlex
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from sandbox.model import documents
from sandbox.model.rewording import Rewording, Rewordings
from sandbox.model.task import ScriptedAction, Task
from sandbox.run.rewordings.as_lines import kind_of, line_of

CATALOG = Path(__file__).with_name("catalog.yaml")


@lru_cache(maxsize=1)
def catalog() -> tuple[Rewording, ...]:
    """Return all rewordings; DocumentError where the catalog is wrong."""
    return documents.load(CATALOG, Rewordings).root


def reworded(
    script: Sequence[ScriptedAction], task: Task, rewording: Rewording
) -> tuple[ScriptedAction, ...] | None:
    """Give a script in other words; None where there is nothing that it would change."""
    found = tuple(_reworded(script, task, rewording))
    return None if found == tuple(script) else found


def _reworded(
    script: Sequence[ScriptedAction], task: Task, rewording: Rewording
) -> Iterator[ScriptedAction]:
    waiting: list[str] = []
    begun = False
    for deed in script:
        line = line_of(deed, task, rewording)
        # An agent knows what it has read only once it was answered, so edits are not joined.
        if line is None or not rewording.joined or kind_of(deed.action) == "edits":
            yield from _lines(waiting, task, rewording)
            waiting = []
        if line is None:
            yield deed
            continue
        if rewording.before is not None and not (begun and rewording.once):
            yield _action(rewording.before)
        begun = True
        if rewording.joined:
            waiting.append(line)
        else:
            yield from _lines([line], task, rewording)
    yield from _lines(waiting, task, rewording)


def _lines(lines: Sequence[str], task: Task, rewording: Rewording) -> Iterator[ScriptedAction]:
    """Give the action that some lines are; the last one decides how it ends."""
    if lines:
        plain = lines[0] if len(lines) == 1 else "\n".join(f"(\n{line}\n)" for line in lines)
        for word, instead in rewording.spelt.items():
            plain = re.sub(rf"(?m)(^|[;&|] ?){word} ", rf"\g<1>{instead} ", plain)
        yield _action(
            rewording.line.format(plain=plain, line=shlex.quote(plain), worktree=task.worktree)
        )


def _action(line: str) -> ScriptedAction:
    return ScriptedAction(action="run_command", arguments={"command": line})
