"""Programs of a run that run tests, what they cover and whether what they say is sound."""

from collections.abc import Callable, Iterator

from sandbox.model import path_text as paths
from sandbox.model.fact import Tested
from sandbox.model.session import Exec, ExecEnd, ExecOutcome
from sandbox.model.task import Task
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
from sandbox.run.facts.named_files import folders_named
from sandbox.run.facts.packages import told_by_folder
from sandbox.run.facts.runners import foreign_to, take_tool
from sandbox.run.facts.unseen import Unseen, clock
from sandbox.run.facts.worktree import Moment, Worktree

UNKNOWN, KILLED = "which tests it ran is not known", 137
"""Of a run of tests that proves nothing, and of one that came to no end of its own."""

ARGUMENTS_MOST = 64
"""Arguments of a test run that are recorded."""


class RunsOfTests:
    """Follows the programs of a session that run tests, over a worktree that is watched."""

    def __init__(
        self, task: Task, worktree: Worktree, unseen: Unseen, held: Callable[[str], str]
    ) -> None:
        """Follow none yet; `held` gives what a file of an absolute path holds."""
        self._framework, self._context = task.tests.framework, Context.of(task)
        self._worktree, self._unseen, self._held = worktree, unseen, held
        self._began: dict[int, tuple[Moment, int]] = {}
        """By exec: when it started, as the worktree counts, and by the clock."""

    def seen(self, execution: Exec) -> None:
        """Keep when a program began that runs tests, and one that stands in for a compiler."""
        take_tool(self._worktree, execution)
        if self._tests(execution):
            self._began[execution.number] = self._worktree.moment, clock()

    def ended(self, execution: Exec, end: ExecEnd) -> Tested | None:
        """Give what was tested by a program that has ended, where it ran tests."""
        began = self._began.pop(execution.number, None)
        if began is None or end.outcome not in (ExecOutcome.EXITED, ExecOutcome.UNKNOWN):
            return None  # it never ran, or has become another that is seen as well
        moment, started = began
        argv, cwd = _texts(execution), paths.text(execution.cwd)
        selected = self._selected(execution)
        if selected is None or end.exit_code is None:
            # It has had tests run, and says nothing of them that can be relied on.
            code = KILLED if end.exit_code is None else end.exit_code
            return self._tested(argv, cwd, (), code, moment, (UNKNOWN,))
        foreign = foreign_to(self._worktree, execution, argv, moment)
        for path in self._unseen.changed(started):
            self._worktree.note_unseen(path)
        foreign += self._worktree.adds(selected)
        selected += folders_named(selected, self._worktree.files(), self._framework)
        return self._tested(argv, cwd, selected, end.exit_code, moment, foreign)

    def of_line(self, step: Step, root: str) -> Iterator[Tested]:
        """Give what an action tested by its own line and end, where programs are not seen."""
        code = None if step.observation is None else step.observation.result.get("exit_code")
        if not isinstance(code, int):
            return
        moment = self._worktree.moment
        for selected in runs_of(step, code, self._context):
            line = line_of(step, self._context) or ""
            yield self._tested((line,), root, selected, code, moment)

    def _tested(
        self,
        argv: tuple[str, ...],
        cwd: str,
        selected: tuple[str, ...],
        code: int,
        began: Moment,
        foreign: tuple[str, ...] = (),
    ) -> Tested:
        differing = tuple(dict.fromkeys((*foreign, *self._worktree.unsound_since(began))))
        return Tested(
            argv=argv[:ARGUMENTS_MOST],
            cwd=cwd,
            paths=selected,
            exit_code=code,
            sound=not differing,
            differing=differing,
            tree=self._worktree.tree,
            meanwhile=self._worktree.changed_since(began),
        )

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
        argv, cwd = told_by_folder(argv, cwd, self._worktree.nearest, self._held)
        return selected_by(argv, cwd, self._context, environment)


def _texts(execution: Exec) -> tuple[str, ...]:
    return tuple(paths.text(each) for each in execution.arguments)
