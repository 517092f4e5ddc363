"""Recordings of terminals: their commands are repeated, and what they change becomes checks."""

import hashlib
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sandbox.container import candidate as candidates
from sandbox.container.candidate import Candidate
from sandbox.model import documents
from sandbox.model import trace as traces
from sandbox.model.change import ChangeSet
from sandbox.model.decision import Outcome
from sandbox.model.errors import UsageError
from sandbox.model.event import ActionTaken, Entry, Observed
from sandbox.model.fact import Changed, Committed
from sandbox.model.imported import Imported
from sandbox.model.listing import some
from sandbox.model.places import REPOSITORY, TASK
from sandbox.model.repository import Repository
from sandbox.model.run_folder import RunFolder
from sandbox.model.task import ID, ScriptedAction
from sandbox.model.verdict import Verdict
from sandbox.rules.policy.approvers import ScriptedApprover
from sandbox.run.imports.workshop import Tried, Workshop, own_faults
from sandbox.run.judged_trial import perform
from sandbox.run.scripted_agents import scripted
from sandbox.run.trial import Silent, Trial
from sandbox.tasks import library
from sandbox.tasks.images import BuiltImage
from sandbox.tasks.imports import casts, recorded_task, typed
from sandbox.tasks.imports.recorded_task import Draft
from sandbox.tasks.library import LoadedTask

SHOWN = 3
COMMIT = "HEAD"
"""Stands for a commit among the paths that a command changed."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a recording is to become."""

    file: Path
    repository: Path
    """The folder of the repository in whose checkout it was made."""
    name: str
    """Of the task."""
    release: str | None = None
    told: str = ""
    """The prompt; empty leaves it to the author."""
    prompt: str | None = None
    """A regular expression for the shell's prompt."""
    place: str = ""
    """Where the checkout lay when it was recorded; empty where no command says so."""


@dataclass(frozen=True, slots=True)
class _Repeated:
    """What came of repeating the commands."""

    folder: RunFolder
    changed: Mapping[int, Sequence[str]]
    refused: tuple[str, ...]
    """Commands that the world does not allow."""
    failed: tuple[str, ...]
    """Commands that ended with another code than 0."""

    @property
    def candidate(self) -> Candidate:
        return candidates.unpack(self.folder.candidate)


@dataclass(frozen=True, slots=True)
class RecordingImporter:
    """Makes a draft of a recording."""

    workshop: Workshop

    def take(self, wanted: Wanted) -> Imported:
        """Make a task of one; raises as `Workshop.make` does."""
        task = f"{wanted.repository.name}/{wanted.name}"
        about = Imported(instance=wanted.file.name, task=task, outcome="refused")
        with own_faults(about) as told:
            if not re.fullmatch(ID, task):
                raise UsageError(
                    f"{wanted.name!r} is not a valid name of a task.", "For example: sizes-again."
                )
            commands = typed.typed(casts.read(wanted.file), wanted.prompt)
            made_of = (commands, wanted.release, wanted.told, wanted.place)
            digest = hashlib.sha256(repr(made_of).encode())
            source = f"recording {digest.hexdigest()}"
            lines = tuple(each.line for each in commands)
            return self.workshop.make(
                about, source, lambda folder: self._tried(wanted, lines, folder), within=True
            )
        return about.model_copy(update=told)

    def _tried(self, wanted: Wanted, lines: tuple[str, ...], place: Path) -> Tried:
        """Repeat the commands twice, check what they change, and have all that judged."""
        shop = self.workshop
        folder = place / wanted.repository.name / wanted.name
        shutil.copytree(wanted.repository, folder.parent, ignore=_tasks)
        repository = documents.load(folder.parent / REPOSITORY, Repository)
        basis = recorded_task.basis(repository, wanted.release, shop.sources)
        draft = Draft(f"{folder.parent.name}/{folder.name}", basis, wanted.told, lines)
        recorded_task.write(draft, folder)
        task = library.load_at(folder)
        image = shop.images.ensure(task, shop.tell)
        if wanted.place:
            here = tuple(each.replace(wanted.place.rstrip("/"), task.worktree) for each in lines)
            draft = replace(draft, commands=here)
        shop.tell("repeating its commands")
        once = self._repeated(task, image, draft)
        if once.refused:
            return Tried(tuple(f"It is not allowed here: {each}" for each in once.refused))
        named = _unnamed(once.candidate, task.worktree)
        if named:
            draft = replace(draft, named=named)
            recorded_task.write(draft, folder)
            task = library.load_at(folder)
            once = self._repeated(task, image, draft)
        draft, notes = self._checked(draft, once, self._repeated(task, image, draft))
        if draft.candidate is None or not (draft.candidate.files or draft.candidate.deleted):
            return Tried(("Its commands change nothing that could be checked.",), notes)
        recorded_task.write(draft, folder)
        task = library.load_at(folder)
        problems = (*shop.judged(task, image).problems, *self._halves(task, image))
        return Tried(problems, notes)

    def _repeated(self, task: LoadedTask, image: BuiltImage, draft: Draft) -> _Repeated:
        folder = self._run(task, image, draft.actions())
        entries = traces.read(folder.trace).entries
        return _Repeated(folder, *_by_command(entries, draft))

    def _run(
        self, task: LoadedTask, image: BuiltImage, actions: Sequence[ScriptedAction]
    ) -> RunFolder:
        agent = scripted(task.task, actions, "recording")
        trial = Trial(task, image, agent, ScriptedApprover(task.task.policy))
        return perform(trial, self.workshop.engine, self.workshop.store, Silent())

    def _checked(
        self, draft: Draft, once: _Repeated, again: _Repeated
    ) -> tuple[Draft, tuple[str, ...]]:
        """Fill in what is to be checked: what both times stood there."""
        first, second = once.candidate, again.candidate
        unsteady = {path for path, file in first.files.items() if second.files.get(path) != file}
        kept = {path: file for path, file in first.files.items() if path in second.files}
        changes = once.folder.load(once.folder.changes, ChangeSet)
        git = changes.git
        made = git is not None and bool(git.commits)
        whole = git is not None and all(each.committed == each.worktree for each in git.delivered)
        notes = []
        if unsteady:
            notes.append(
                f"Another content each time, so only their being there is checked: "
                f"{some(sorted(unsteady), SHOWN)}."
            )
        if first.refused:
            notes.append(f"Not checked: {some(sorted(first.refused), SHOWN)}.")
        if once.failed:
            notes.append(f"These commands fail here: {some(once.failed, SHOWN)}.")
        if not draft.told:
            notes.append("Its prompt is to be written, for a recording does not say what for.")
        found = replace(
            draft,
            candidate=replace(first, files=kept),
            unsteady=frozenset(unsteady & kept.keys()),
            commits=made,
            committed=made and whole,
            changed=once.changed,
        )
        return found, tuple(notes)

    def _halves(self, task: LoadedTask, image: BuiltImage) -> list[str]:
        """Say which half of the commands does all that the checks ask for."""
        self.workshop.tell("running each half of its commands")
        return [
            f"Its {name.replace('-', ' ')} alone passes: the other changes nothing that lasts."
            for name, (_, actions) in task.refused.items()
            if self._run(task, image, actions).record().verdict is Verdict.PASSED
        ]


def _tasks(folder: str, names: list[str]) -> list[str]:
    """The folders of a repository's other tasks."""
    return [name for name in names if (Path(folder) / name / TASK).is_file()]


def _unnamed(candidate: Candidate, worktree: str) -> tuple[str, ...]:
    """Configuration that was written, and crosses only where the scope names it."""
    left = (path for path, why in candidate.refused.items() if why == candidates.UNNAMED)
    below = f"{worktree}/"
    return tuple(sorted(path.removeprefix(below) for path in left if path.startswith(below)))


def _by_command(
    entries: Sequence[Entry], draft: Draft
) -> tuple[dict[int, list[str]], tuple[str, ...], tuple[str, ...]]:
    """Give the paths that each command changed, what was not allowed, and what failed."""
    changed: dict[int, list[str]] = {}
    refused: list[str] = []
    failed: list[str] = []
    ahead = len(draft.actions()) - 1 - len(draft.commands)
    at = -1 - ahead
    for entry in entries:
        event = entry.event
        if isinstance(event, ActionTaken):
            at += 1
            if event.decision is not None and event.decision.outcome is Outcome.DENY:
                refused.append(f"{event.arguments.get('command')}: {event.decision.reason}")
        elif isinstance(event, Changed | Committed) and 0 <= at < len(draft.commands):
            path = event.path if isinstance(event, Changed) else COMMIT
            if path not in changed.setdefault(at, []):
                changed[at].append(path)
        elif isinstance(event, Observed) and 0 <= at < len(draft.commands):
            seen = event.observation
            if seen.error_code or seen.result.get("exit_code"):
                failed.append(draft.commands[at])
    return changed, tuple(refused), tuple(failed)
