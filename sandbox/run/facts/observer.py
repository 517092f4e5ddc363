"""The observer of a run's session: everything that happens there becomes a fact, in its place."""

from collections.abc import Iterator
from typing import Protocol

from pydantic import JsonValue

from sandbox.container.changes.git_files import GitProblem, SessionFiles
from sandbox.container.engines.base import Session
from sandbox.model import path_text as paths
from sandbox.model.fact import Changed, Fact, FactsLost, Read, UserSaid
from sandbox.model.observation import Observation
from sandbox.model.session import (
    HOME,
    Exec,
    ExecEnd,
    ExecObserver,
    Touch,
    TouchKind,
    WatchedFiles,
)
from sandbox.model.task import Task
from sandbox.model.user import Understanding
from sandbox.rules.monitors.context import Context
from sandbox.rules.monitors.steps import Step
from sandbox.run.facts import rule_files, settings
from sandbox.run.facts.baseline import Baseline, Watched, baseline
from sandbox.run.facts.moves import Moves
from sandbox.run.facts.programs import Programs
from sandbox.run.facts.repository import Repository
from sandbox.run.facts.runs_of_tests import RunsOfTests
from sandbox.run.facts.scripted_user import ScriptedUser
from sandbox.run.facts.shown import ShownFiles
from sandbox.run.facts.stand_ins import StandIns
from sandbox.run.facts.unseen import Unseen
from sandbox.run.facts.worktree import Worktree

NAMED_MOST = 64
NAMED_BYTES = 1 << 20
"""Files that rules name and whose lines are looked for, and bytes of each."""

FACTS_MOST = 50_000
"""Facts of a run that are told; beyond them it is told once that more are lost."""


class Noting(Protocol):
    """Who keeps execs and facts in their order."""

    def seen(self, execution: Exec) -> int:
        """Take an exec; give the errno with which it is refused, or 0."""

    def reason(self, execution: Exec) -> str:
        """Say why it was refused."""

    def ended(self, execution: Exec, end: ExecEnd) -> None:
        """Take the end of an exec."""

    def lost(self, tag: str, count: int, *, unseen: bool = False) -> None:
        """Take that some were not told."""

    def note(self, fact: Fact, tag: str) -> None:
        """Take a fact."""


class Facts(ExecObserver):
    """Makes facts of execs and touches, and hands all of them on."""

    def __init__(
        self,
        session: Session,
        task: Task,
        root: str,
        notes: Noting,
        *,
        inside: bool,
        understand: Understanding | None = None,
    ) -> None:
        self._session, self._task, self._notes, self._inside = session, task, notes, inside
        self._root, self._context = root, Context.of(task)
        self._tag, self._told = "", 0
        self._sees_programs = session.greeting.coverage("log") != "top-level"
        self._unseen: Unseen | None = None
        self._tests: RunsOfTests | None = None
        self._worktree: Worktree | None = None
        self._repository: Repository | None = None
        self._shown = ShownFiles({})
        self._programs = Programs("", (), lambda _: False)
        self._moves = Moves(session, task.world.layer, root, self._context)
        self._user = ScriptedUser(task, understand)

    def begin(self, image: str) -> None:
        """Look at everything, and watch it from now on; without that, facts are lost."""
        watched = Watched.of(self._task, self._root)
        try:
            base = baseline(self._session, image, self._task.world.layer, watched)
            self._know(base, watched)
            named = sorted(path for path in base if self._relative(path) in self._shown)
            within = (HOME,) if watched.settings else ()
            self._session.watch(
                WatchedFiles(watched.roots, watched.excluded, named, within, watched.settings)
            )
        except OSError:
            self._notes.note(FactsLost(), "")

    def begin_action(self, tag: str) -> None:
        """Say to which action belongs what happens from now on."""
        self._tag = tag

    def told(self, action: str, arguments: dict[str, JsonValue], told: Observation) -> None:
        """Wait for all that has happened; note what an agent is told of the files that rules name.

        Called before its action is over.
        """
        self._session.settle()
        self._look_again(settled=True)
        for fact in self._shown.take(told.result):
            self._note(fact)
        if not self._sees_programs and self._tests is not None:
            for tested in self._tests.of_line(Step(0, action, arguments, told), self._root):
                self._note(tested)

    def end(self) -> None:
        """Tell of what nobody was told before the end of the run; all has been waited for."""
        self._look_again(settled=True)

    def asked(self, question: str, tag: str) -> str:
        """Put a question to the user, and note what they say; an action of this id asks."""
        answer = self._user.answer(question)
        self._note_said(answer, tag)
        return answer.text

    def heard(self, tag: str) -> tuple[str, ...]:
        """Give what the user has said unasked, to be told with the reply to an action.

        Noted now and not before: nobody is judged by what they were not told.
        """
        texts = []
        while (said := self._user.next_unheard()) is not None:
            self._note_said(said, tag)
            texts.append(said.text)
        return tuple(texts)

    def seen(self, execution: Exec) -> int:
        """Keep an exec, also where it runs tests."""
        refused = self._notes.seen(execution)
        if not refused and not execution.problem:
            self._programs.seen(execution)
            if self._tests is not None:
                self._tests.seen(execution)
        return refused

    def reason(self, execution: Exec) -> str:
        """Say why one was refused."""
        return self._notes.reason(execution)

    def ended(self, execution: Exec, end: ExecEnd) -> None:
        """Keep an end; that of a test run says what was tested."""
        self._notes.ended(execution, end)
        self._look_again()
        for commit in self._programs.ended(execution, end):
            self._note(commit)
        tested = None if self._tests is None else self._tests.ended(execution, end)
        if tested is not None:
            self._note(tested)

    def lost(self, tag: str, count: int, *, unseen: bool = False) -> None:
        """Keep that some were not told."""
        self._notes.lost(tag, count, unseen=unseen)

    def touched(self, touch: Touch) -> None:
        """Make facts of what has happened to a path."""
        if self._unseen is not None:
            self._unseen.told(touch)
        for fact in self._of(touch):
            self._note(fact)
            if isinstance(fact, Changed) and fact.path in self._shown:
                self._shown.replace(fact.path, self._text(fact.path))

    def _of(self, touch: Touch) -> Iterator[Fact]:
        path = paths.text(touch.path)
        relative = self._relative(path)
        if touch.kind is TouchKind.LOST:
            yield FactsLost()
        elif touch.kind is TouchKind.READ:
            yield Read(path=relative)
            if self._inside and relative in self._shown:
                yield from self._shown.read(relative)
        elif self._worktree is not None:
            if touch.kind is TouchKind.FILE and self._moves.made(relative, touch.digest):
                self._worktree.rebase(touch)
                return
            for change in self._worktree.take(touch):
                running = tuple(self._relative(each) for each in self._programs.running)
                yield change.model_copy(update={"during": running})
            if self._repository is not None and relative.startswith(".git/"):
                yield from self._repository.take(relative.removeprefix(".git/"), touch)

    def _look_again(self, *, settled: bool = False) -> None:
        """Tell of commits that can be read only now."""
        if self._repository is not None:
            for fact in self._repository.settled() if settled else self._repository.again():
                self._note(fact)

    def _know(self, base: Baseline, watched: Watched) -> None:
        atoms = rule_files.atoms(self._task)
        changes = frozenset(changed for atom in atoms for changed in atom.changed)
        worktree = Worktree(
            base, watched, self._task.scope, changes, self._plugs_in, self._sets_nothing
        )
        hooks = f"{self._root}/.git/hooks"
        executable = (
            path.removeprefix(hooks + "/")
            for path, held in base.items()
            if path.startswith(hooks + "/") and held.executable
        )
        self._unseen = Unseen(self._session, worktree, watched)
        stand_ins = StandIns(self._session, worktree.is_foreign)
        self._programs = Programs(
            hooks, executable, self._intact, stand_ins.has, sees=self._sees_programs
        )
        files = SessionFiles(self._session, self._root)
        try:
            self._repository = Repository(files, self._programs)
        except GitProblem:
            self._repository = None
        wanted, closed = rule_files.wanted(self._task), rule_files.closed(self._task)
        inside = (self._relative(path) for path in base if path.startswith(self._root + "/"))
        some = sorted(path for path in inside if wanted.match(path))[:NAMED_MOST]
        named = {path: self._text(path) for path in some}
        self._shown = ShownFiles(named, [path for path in named if closed.match(path)])
        self._worktree = worktree
        self._tests = RunsOfTests(self._task, worktree, self._unseen, self._held)

    def _intact(self, path: str) -> bool:
        """Whether a hook is the one of the start, by whatever name somebody may have written it."""
        known = self._worktree is not None and self._worktree.as_at_start(path)
        return known and self._unseen is not None and not self._unseen.is_changed(path)

    def _plugs_in(self, path: str) -> bool:
        """Whether a file names plugins of pytest's, as its documentation says (Writing plugins)."""
        try:
            data = self._session.read(paths.raw(path), limit=NAMED_BYTES)
        except OSError:
            return True  # whatever it was
        return b"pytest11" in data or len(data) == NAMED_BYTES  # or is cut there

    def _sets_nothing(self, path: str) -> bool:
        """Whether a file of settings leaves the test runner as it is."""
        try:
            data = self._session.read(paths.raw(path), limit=NAMED_BYTES)
        except OSError:
            return False
        return settings.sets_nothing(self._task.tests.framework, path, data)

    def _text(self, path: str) -> str:
        try:
            data = self._session.read(
                paths.raw(path), beneath=self._root, limit=NAMED_BYTES, follow=False
            )
        except OSError:
            return ""
        return data.decode("utf-8", "replace")

    def _held(self, path: str) -> str:
        """Give what a file of an absolute path holds."""
        return self._text(self._relative(path))

    def _relative(self, path: str) -> str:
        return path.removeprefix(self._root + "/")

    def _note(self, fact: Fact) -> None:
        self._told += 1
        if self._told <= FACTS_MOST:
            self._notes.note(fact, self._tag)
        elif self._told == FACTS_MOST + 1:
            self._notes.note(FactsLost(), self._tag)
        # What the world does is not kept back by a flood of facts.
        if (moved := self._moves.follow(fact)) is not None:
            self._notes.note(moved, self._tag)
        self._user.follow(fact)

    def _note_said(self, said: UserSaid, tag: str) -> None:
        self._notes.note(said, tag)
        self._user.follow(said)
