"""A recorded run, done again."""

from dataclasses import dataclass

from sandbox.container.engines.base import Engine
from sandbox.model import trace as traces
from sandbox.model.errors import UsageError
from sandbox.model.event import Entry
from sandbox.model.run_folder import RunFolder
from sandbox.model.store import Store
from sandbox.model.verdict import Verdict
from sandbox.run.judged_trial import perform
from sandbox.run.loop import UNKNOWN
from sandbox.run.replay.differences import Difference, differences
from sandbox.run.replay.recorded import RecordedAgent, RecordedApprover, RecordedPerson
from sandbox.run.trial import Listener, Trial
from sandbox.tasks.images import BuiltImage
from sandbox.tasks.library import LoadedTask

ASKED_AT_ONCE = ("allow", "deny", "terminal")
"""Approvers that were asked whenever something was held."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """What came of it."""

    run: RunFolder
    then: Verdict | None
    now: Verdict | None
    differences: list[Difference]


class Recording:
    """A run that can be done again."""

    def __init__(self, folder: RunFolder, task: LoadedTask) -> None:
        """UsageError where it cannot, EvidenceError where its trace is not whole."""
        self._record = folder.record()
        self._task = task
        if self._record.task_digest != task.digest:
            raise UsageError(
                f"The task {task.task.id} has changed since {folder.id}.",
                "A run can be done again only in the world that it was done in.",
            )
        if self._record.inside:
            raise UsageError(
                f"The agent of {folder.id} acted in the container, by its own means.",
                "Only actions that were asked of the harness can be asked again.",
            )
        self._entries: tuple[Entry, ...] = traces.whole(folder.trace)

    def again(
        self, image: BuiltImage, engine: Engine, store: Store, listener: Listener
    ) -> Replayed:
        """Do the same in a fresh world; the run lies among those that prove something."""
        at_once = self._record.approver in ASKED_AT_ONCE
        approver = RecordedPerson if at_once else RecordedApprover
        trial = Trial(
            task=self._task,
            image=image,
            agent=lambda _: RecordedAgent(self._entries, UNKNOWN),
            approver=approver(self._entries),
            allowance=self._record.allowance,
            label=f"replay of {self._record.id[:8]}",
        )
        folder = perform(trial, engine, store.checks, listener)
        now = traces.read(folder.trace).entries
        verdict = folder.record().verdict
        return Replayed(folder, self._record.verdict, verdict, differences(self._entries, now))
