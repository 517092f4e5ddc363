"""A fresh session, and what can be done in it before there is a candidate."""

import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from sandbox.container.engines.base import Session
from sandbox.grading.cases import Ground, at_a_shell
from sandbox.grading.cases.calls import Told, referenced, scripts
from sandbox.grading.cases.undamaged import expected
from sandbox.grading.frameworks import framework_of
from sandbox.grading.frameworks.base import AnyFramework, Forking, Place
from sandbox.grading.graded_files import hidden_files
from sandbox.grading.processes import Forked, lay_runner
from sandbox.grading.testers import Testers, drawn_folder, open_up
from sandbox.model.session import ROOT, Command
from sandbox.tasks.library import LoadedTask


@dataclass(slots=True)
class GradingSession:
    """A session that no candidate was laid into yet, for one grading."""

    task: LoadedTask
    session: Session
    seed: str
    """What the inputs of cases are drawn from."""
    framework: AnyFramework | None
    hidden: dict[str, bytes]
    """The hidden files, by path from the worktree on."""
    folder: str
    """The grader's own, by a drawn name: root makes it."""
    testers: Testers
    told: dict[str, Told] = field(default_factory=dict)
    """What the calls of cases have to give, by the seed of their round."""
    runner: Forked | None = None
    """The runner of the tests where it could be started: no code of a candidate's ran before."""

    @classmethod
    def prepare(cls, task: LoadedTask, session: Session, seed: str | None = None) -> Self:
        """Start the runner, and find what cases have to give.

        `seed` is drawn where none is given. Raises EngineError and its kind where the session
        breaks, DocumentError where the task's hidden files or cases cannot be used.
        """
        framework = framework_of(task.task.tests)
        seed, hidden = seed or secrets.token_hex(16), hidden_files(task)
        made = cls(task, session, seed, framework, hidden, drawn_folder(), Testers(session))
        made._prepare()
        return made

    @property
    def reference(self) -> Path | None:
        """The file of the functions that say what cases have to give."""
        declared = self.task.task.tests.cases
        named = None if declared is None else declared.reference
        return None if named is None else self.task.folder / named

    @property
    def ground(self) -> Ground:
        """Where cases are called."""
        cpus = self.task.task.limits.cpus
        return Ground(self.session, self.task.worktree, self.testers, cpus)

    @property
    def place(self) -> Place:
        """Where things are, while nothing is a candidate's."""
        return Place(self.folder, self.task.worktree, frozenset(self.hidden))

    def close(self) -> None:
        """End what was started; the session goes on."""
        if self.runner is not None:
            self.runner.close()
            self.runner = None

    def tidy(self) -> None:
        """Take away what is the grader's own, but for what was built."""
        left = (self.folder, *self.testers.emptied())
        self.session.run(Command(argv=("/bin/rm", "-rf", "--", *left), user=ROOT))

    def _prepare(self) -> None:
        open_up(self.session, self.task.worktree)
        seeds = self.seed, at_a_shell(self.seed)
        undamaged = self._undamaged(seeds)
        framework = self.framework
        if isinstance(framework, Forking) and framework.ahead:
            lay_runner(framework, self.session, self.folder)
            self.runner = Forked(framework, self.session, self.place, self.testers.new())
        if self.task.cases is not None and self.task.task.tests.cases is not None:
            answers = referenced(self.task.cases, self.reference, seeds)
            self.told = {seed: {**undamaged.get(seed, {}), **answers[seed]} for seed in seeds}

    def _undamaged(self, seeds: tuple[str, ...]) -> dict[str, Told]:
        """Find what scripts have to give."""
        declared, file = self.task.task.tests.cases, self.task.cases
        if declared is None or declared.undamaged is None or file is None:
            return {}
        patch = self.task.folder / declared.undamaged
        asked = {(seed, case): each for seed in seeds for case, each in scripts(file, seed).items()}
        played = expected(self.session, self.task.worktree, patch, [*asked.values()])
        told: dict[str, Told] = {}
        for (seed, case), group in zip(asked, played, strict=True):
            of_round = told.setdefault(seed, {})
            of_round.update({(case, number): each for number, each in enumerate(group)})
        return told
