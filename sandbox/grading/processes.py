"""How a test file gets a process: one that is started for it, or a child of a runner that forks."""

import base64
import contextlib
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from sandbox.container.engines.base import Conversation, Session
from sandbox.grading.frameworks.base import AnyFramework, Forking, Framework, Place, Spawning
from sandbox.grading.json_conversation import Lines, Unanswered
from sandbox.grading.testers import Tester
from sandbox.model.session import ROOT, Command

OUTPUT_LIMIT = 256 << 10
CHANNEL_LIMIT = 16 << 20
"""Bytes of outcomes from one file; none that is honest has as many."""

TOO_LONG, OUT_OF_MEMORY = "they took too long", "they ran out of memory"


@dataclass(frozen=True, slots=True)
class Ended:
    """What came of a process."""

    outcomes: bytes
    log: bytes
    status: int | None
    """None where a signal ended it."""
    problem: str = ""
    """Why there are no outcomes to read; empty where there are."""
    cut: bool = False
    """Whether there were more outcomes than are kept."""


class Processes(Protocol):
    """Runs test files one after the other."""

    def run(self, path: str, deadline: float) -> Ended:
        """Run one file."""

    def close(self) -> None:
        """End what runs."""


class Spawned:
    """Starts a process for each file; the supervisor kills what it leaves."""

    def __init__(self, framework: Spawning, session: Session, place: Place, tester: Tester) -> None:
        self._framework, self._session, self._place = framework, session, place
        self._tester = tester

    def run(self, path: str, deadline: float) -> Ended:
        """Run one file."""
        argv = self._framework.argv(self._place, path)
        seconds = max(deadline - time.monotonic(), 0.001)
        command = _command(self._framework, self._place, self._tester, argv, seconds)
        completed = self._session.run(command)
        problem = OUT_OF_MEMORY if completed.out_of_memory else ""
        return Ended(
            completed.stdout,
            completed.stderr,
            completed.exit_code,
            problem=TOO_LONG if completed.timed_out else problem,
            cut=completed.stdout_bytes > CHANNEL_LIMIT,
        )

    def close(self) -> None:
        """Nothing runs."""


class Forked:
    """Speaks with a runner that forks for each file and kills what it leaves."""

    def __init__(self, framework: Forking, session: Session, place: Place, tester: Tester) -> None:
        self._framework, self._session, self._place = framework, session, place
        self._tester = tester
        self._command = _command(framework, place, tester, framework.server(place), None)
        self._kills = session.usage().out_of_memory_kills
        self._instead: Processes | None = None
        self._is_new = True
        self._start()

    def run(self, path: str, deadline: float) -> Ended:
        """Run one file; a runner that gives no answer is replaced."""
        if self._instead is not None:
            return self._instead.run(path, deadline)
        try:
            if self._is_new and self._framework.ahead:
                if not self._serves(deadline):
                    return self._alone().run(path, deadline)
                self._kills = self._session.usage().out_of_memory_kills
            self._is_new = False
            self._lines.say(self._framework.arguments(self._place, path), deadline)
            answer = self._lines.hear(deadline)
            ended = Ended(
                base64.b64decode(answer["outcomes"]),
                base64.b64decode(answer["log"]),
                answer["status"],
                cut=answer["cut"],
            )
        except (Unanswered, KeyError, TypeError, ValueError) as error:
            late = time.monotonic() >= deadline
            why = TOO_LONG if late else f"the runner gave no answer: {error}"
            ended = Ended(b"", b"", None, problem=why)
            self.close()
            self._start()
        if ended.status is None:
            before, self._kills = self._kills, self._session.usage().out_of_memory_kills
            if self._kills > before:
                return replace(ended, problem=OUT_OF_MEMORY)
        return ended

    @property
    def runner(self) -> Conversation:
        """The process that forks."""
        return self._runner

    def close(self) -> None:
        """Kill the runner."""
        self._runner.kill()
        self._runner.wait()

    def _serves(self, deadline: float) -> bool:
        """Hear whether it forks; one that has ended before it was asked is replaced."""
        with contextlib.suppress(Unanswered):
            told = self._lines.hear(deadline)["serves"] is True
            if not told or self._is_there():
                return told
        if time.monotonic() < deadline:
            self.close()
            self._start()
        return self._lines.hear(deadline)["serves"] is True

    def _is_there(self) -> bool:
        try:
            self._runner.wait(0)
        except TimeoutError:
            return True
        return False

    def _alone(self) -> Processes:
        """Start a process for each file from now on."""
        if not isinstance(self._framework, Spawning):
            raise Unanswered("it cannot serve")
        self._instead = Spawned(self._framework, self._session, self._place, self._tester)
        return self._instead

    def _start(self) -> None:
        self._runner = self._session.converse(self._command)
        self._lines = Lines(self._runner, 2 * CHANNEL_LIMIT)
        self._is_new = True


def processes(framework: AnyFramework, session: Session, place: Place, tester: Tester) -> Processes:
    """Run files as one user, in the way of the framework."""
    if isinstance(framework, Forking):
        return Forked(framework, session, place, tester)
    return Spawned(framework, session, place, tester)


def lay_runner(
    framework: Framework,
    session: Session,
    folder: str,
    hidden: Mapping[str, bytes] | None = None,
) -> None:
    """Put the framework's runner into the grader's folder; its configuration with hidden files."""
    for name, content in framework.runner_files(hidden or {}).items():
        if hidden is not None or not framework.configures(name):
            session.write(f"{folder}/{name}", content, mode=0o444, user=ROOT, parents=True)


def _command(
    framework: Framework,
    place: Place,
    tester: Tester,
    argv: tuple[str, ...],
    seconds: float | None,
) -> Command:
    return Command(
        argv=argv,
        cwd=place.worktree,
        environment={**framework.environment, **tester.environment},
        user=tester.user,
        timeout=seconds,
        stdout_limit=1 << 40 if seconds is None else CHANNEL_LIMIT,
        stderr_limit=OUTPUT_LIMIT,
        kill_survivors=True,
    )
