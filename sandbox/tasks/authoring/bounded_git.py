"""git on a repository that somebody else has made, which may be made to never end."""

import os
import signal
import subprocess
from collections.abc import Mapping
from contextlib import suppress

from sandbox.tasks.repos.git_commands import CommandError, Git

SECONDS = 300.0
"""How long one command may take."""
OPTIONS = (
    *("-c", "core.hooksPath=/dev/null", "-c", "core.autocrlf=false"),
    *("-c", "gc.auto=0", "-c", "maintenance.auto=false"),
)


class BoundedGit(Git):
    """Runs git as `Git` does, and ends it with all that it has started when it takes too long."""

    def run(
        self, *arguments: str, environment: Mapping[str, str] | None = None, stdin: bytes = b""
    ) -> str:
        """Return what git printed, without the last newline; CommandError where it failed."""
        own = {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "file"}
        with subprocess.Popen(
            ["git", *OPTIONS, *arguments],
            cwd=self.folder,
            env={**os.environ, **self._environment(), **own, **(environment or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        ) as process:
            try:
                printed, said = process.communicate(stdin, SECONDS)
            except BaseException as error:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                if isinstance(error, subprocess.TimeoutExpired):
                    told = f"git {arguments[0]} did not end within {SECONDS:.0f} s"
                    raise CommandError(told) from error
                raise
        if process.returncode:
            told = said.decode("utf-8", "replace").strip()
            raise CommandError(told or f"git {arguments[0]} failed")
        return printed.decode("utf-8", "surrogateescape").removesuffix("\n")
