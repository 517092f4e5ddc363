"""The observer of a run's session: everything that happens there becomes a fact, in its place."""

from collections.abc import Iterator
from typing import Protocol

from pydantic import JsonValue

from sandbox.container.changes.git_files import GitProblem, SessionFiles
from sandbox.container.engines.base import Session
from sandbox.model import path_text as paths
from sandbox.model.atom import Atom
from sandbox.model.fact import Changed, Fact, FactsLost, Read, Tested, UserSaid
from sandbox.model.glob import Globs
from sandbox.model.observation import Observation
from sandbox.model.rule import Never, NeverAfter, Precedes
from sandbox.model.session import (
    HOME,
    Exec,
    ExecEnd,
    ExecObserver,
    ExecOutcome,
    Touch,
    TouchKind,
    WatchedFiles,
)
from sandbox.model.task import Task
from sandbox.model.user import Understanding
from sandbox.rules.monitors.context import Context
from sandbox.rules.monitors.covered_tests import (
    may_run_tests,
    runs_of,
    selected_by,
    starts_another,
    starts_pytest,
)
from sandbox.rules.monitors.step_commands import line_of
from sandbox.rules.monitors.steps import Step
from sandbox.run.facts import settings
from sandbox.run.facts.baseline import Baseline, Watched, baseline
from sandbox.run.facts.moves import Moves
from sandbox.run.facts.named_files import folders_named
from sandbox.run.facts.packages import told_by_folder
from sandbox.run.facts.programs import Programs
from sandbox.run.facts.repository import Repository
from sandbox.run.facts.runners import foreign_to, take_tool
from sandbox.run.facts.scripted_user import ScriptedUser
from sandbox.run.facts.shown import ShownFiles
from sandbox.run.facts.unseen import Unseen, clock
from sandbox.run.facts.worktree import Moment, Worktree

NAMED_MOST = 64
NAMED_BYTES = 1 << 20
"""Files that rules name and whose lines are looked for, and bytes of each."""

FACTS_MOST = 50_000
"""Facts of a run that are told; beyond them it is told once that more are lost."""

UNKNOWN, KILLED = "which tests it ran is not known", 137
"""Of a run of tests that proves nothing, and of one that came to no end of its own."""

ARGUMENTS_MOST = 64
"""Arguments of a test run that are recorded."""


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
        self._moments: dict[int, tuple[Moment, int]] = {}
        """By exec that runs tests: when it started, as the worktree counts, and by the clock."""
        self._unseen: Unseen | None = None
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
        if not self._sees_programs:
            self._tested_by_line(Step(0, action, arguments, told))

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

    def _tested_by_line(self, step: Step) -> None:
        """Where programs are not seen, an action's line and its own end tell of tests."""
        code = None if step.observation is None else step.observation.result.get("exit_code")
        if self._worktree is None or not isinstance(code, int):
            return
        moment = self._worktree.moment
        for paths_tested in runs_of(step, code, self._context):
            line = line_of(step, self._context) or ""
            self._note_test((line,), self._root, paths_tested, code, moment)

    def seen(self, execution: Exec) -> int:
        """Keep an exec, and when it began where it runs tests."""
        refused = self._notes.seen(execution)
        if not refused and not execution.problem:
            self._programs.seen(execution)
            if self._worktree is not None:
                take_tool(self._worktree, execution)
            if self._worktree is not None and self._tests(execution):
                self._moments[execution.number] = self._worktree.moment, clock()
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
        began = self._moments.pop(execution.number, None)
        if began is None or end.outcome not in (ExecOutcome.EXITED, ExecOutcome.UNKNOWN):
            return  # it never ran, or has become another that is seen as well
        moment, started = began
        argv, cwd = _texts(execution), paths.text(execution.cwd)
        selected = self._selected(execution)
        if selected is None or end.exit_code is None:
            # It has had tests run, and says nothing of them that can be relied on.
            code = KILLED if end.exit_code is None else end.exit_code
            self._note_test(argv, cwd, (), code, moment, (UNKNOWN,))
            return
        foreign: tuple[str, ...] = ()
        if self._worktree is not None:
            foreign = foreign_to(self._worktree, execution, argv, moment)
            for path in self._unseen.changed(started) if self._unseen is not None else ():
                self._worktree.note_unseen(path)
            foreign += self._worktree.adds(selected)
            framework = self._task.tests.framework
            selected += folders_named(selected, self._worktree.files(), framework)
        self._note_test(argv, cwd, selected, end.exit_code, moment, foreign)

    def lost(self, tag: str, count: int, *, unseen: bool = False) -> None:
        """Keep that some were not told."""
        self._notes.lost(tag, count, unseen=unseen)

    def _note_test(
        self,
        argv: tuple[str, ...],
        cwd: str,
        selected: tuple[str, ...],
        code: int,
        began: Moment,
        foreign: tuple[str, ...] = (),
    ) -> None:
        if self._worktree is None:
            return
        differing = tuple(dict.fromkeys((*foreign, *self._worktree.unsound_since(began))))
        self._note(
            Tested(
                argv=argv[:ARGUMENTS_MOST],
                cwd=cwd,
                paths=selected,
                exit_code=code,
                sound=not differing,
                differing=differing,
                tree=self._worktree.tree,
                meanwhile=self._worktree.changed_since(began),
            )
        )

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
        changes = frozenset(atom.changes for atom in self._atoms() if atom.changes is not None)
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
        self._programs = Programs(hooks, executable, self._intact, sees=self._sees_programs)
        files = SessionFiles(self._session, self._root)
        try:
            self._repository = Repository(files, self._programs)
        except GitProblem:
            self._repository = None
        named = {path: self._text(path) for path in self._named(base)}
        closed = Globs(atom.reads for atom in self._forbidden() if atom.reads is not None)
        self._shown = ShownFiles(named, [path for path in named if closed.match(path)])
        self._worktree = worktree

    def _intact(self, path: str) -> bool:
        """Whether a hook is the one of the start, by whatever name somebody may have written it."""
        known = self._worktree is not None and self._worktree.as_at_start(path)
        return known and self._unseen is not None and not self._unseen.is_changed(path)

    def _atoms(self) -> list[Atom]:
        milestones = (
            atom for one in self._task.milestones for atom in (one.reached, one.undone) if atom
        )
        awaited = [move.after for move in self._task.world.layer.moves]
        awaited += [turn.after for turn in self._task.user.turns] if self._task.user else []
        return [*(atom for rule in self._task.rules for atom in rule.atoms), *milestones, *awaited]

    def _forbidden(self) -> Iterator[Atom]:
        """Give what rules forbid, for good or until something else is done."""
        for rule in self._task.rules:
            if isinstance(rule, Never):
                yield rule.a
            elif isinstance(rule, Precedes | NeverAfter):
                yield rule.b

    def _named(self, base: Baseline) -> list[str]:
        """Give the files that the task's rules and milestones want to be read."""
        globs = Globs(atom.reads for atom in self._atoms() if atom.reads is not None)
        inside = (self._relative(path) for path in base if path.startswith(self._root + "/"))
        return sorted(path for path in inside if globs.match(path))[:NAMED_MOST]

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

    def _tests(self, execution: Exec) -> bool:
        """Whether a process has tests run, be it not known which."""
        if self._selected(execution) is not None:
            return True
        argv = _texts(execution)
        return bool(argv) and starts_pytest(argv) and not starts_another(argv)

    def _selected(self, execution: Exec) -> tuple[str, ...] | None:
        if not may_run_tests(paths.text(b"".join(execution.arguments[:1]))):
            return None
        # As the program reads it, and not as paths are written.
        given = (each.decode("utf-8", "replace") for each in execution.environment)
        environment = tuple((name, value) for name, _, value in (it.partition("=") for it in given))
        argv, cwd = _texts(execution), paths.text(execution.cwd)
        if starts_another(argv):
            return None  # what it starts is seen as well, and is what has to be looked at
        if self._worktree is not None:
            argv, cwd = told_by_folder(argv, cwd, self._worktree.nearest, self._held)
        return selected_by(argv, cwd, self._context, environment)

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


def _texts(execution: Exec) -> tuple[str, ...]:
    return tuple(paths.text(each) for each in execution.arguments)
