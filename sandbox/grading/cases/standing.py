"""Where and as whom a candidate is called: a user of its own, or the agent at a shell."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace

from sandbox.container.engines.base import Session
from sandbox.grading.testers import Tester
from sandbox.model import agent_environment
from sandbox.model.session import AGENT, Command, User

BASH = "/bin/bash"
OUTPUT_LIMIT = 64 << 20
LOG_LIMIT = 16 << 10
PATH = "/opt/venv/bin:/usr/local/bin:/usr/local/sbin:/usr/bin:/bin"
ENVIRONMENT = {
    "LANG": "C.UTF-8",
    "PATH": PATH,
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "0",
    "PYTHONNOUSERSITE": "1",
    "PYTHONSAFEPATH": "1",
    "TZ": "UTC",
}


@dataclass(frozen=True, slots=True)
class Standing:
    """Who calls, from where."""

    session: Session
    worktree: str
    user: User
    environment: Mapping[str, str]
    by_line: bool = False
    """Whether programs are started by a line of a shell, as an agent starts them."""

    @classmethod
    def apart(cls, session: Session, worktree: str, tester: Tester) -> "Standing":
        """As a user who can touch nothing of the candidate's or of another case's."""
        return cls(session, worktree, tester.user, {**ENVIRONMENT, **tester.environment})

    @classmethod
    def at_a_shell(cls, session: Session, worktree: str) -> "Standing":
        """As the agent itself was: the same user, home and environment, a line of bash."""
        return cls(session, worktree, AGENT, agent_environment.ENVIRONMENT, by_line=True)

    def command(self, argv: tuple[str, ...], seconds: float | None = None) -> Command:
        """Give a command that runs in the worktree."""
        return Command(
            argv=(BASH, "-c", shlex.join(argv)) if self.by_line else argv,
            cwd=self.worktree,
            environment=dict(self.environment),
            user=self.user,
            timeout=seconds,
            stdout_limit=OUTPUT_LIMIT,
            stderr_limit=LOG_LIMIT,
            kill_survivors=True,
        )

    def fed(self, argv: tuple[str, ...], script: str) -> Command:
        """Give a command that reads its program from standard input, and what it is told from 3.

        So the program's file has no name among its words.
        """
        line = f"exec {shlex.join(argv)} 3<&0 0<{shlex.quote(script)}"
        return replace(self.command(argv), argv=(BASH, "-c", line))
