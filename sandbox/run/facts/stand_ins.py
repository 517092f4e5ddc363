"""Programs that somebody has put where they are found in place of the image's own."""

import posixpath
from collections.abc import Callable

from sandbox.container.engines.base import Session
from sandbox.model import path_text as paths
from sandbox.model.session import Exec

FOLDERS = ("/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin")
"""Where a program is looked for by its name alone, as PATH begins in an image."""


class StandIns:
    """Knows them by their names, and by who may have written them."""

    def __init__(self, session: Session, is_foreign: Callable[[str], bool]) -> None:
        """`is_foreign` is whether somebody has put a file of an absolute path there."""
        self._session, self._is_foreign = session, is_foreign
        self._own: dict[str, bool] = {}
        """By name, whether the image has such a program."""

    def has(self, execution: Exec) -> bool:
        """Whether a program has the name of one of the image's, and is another one."""
        cwd = paths.text(execution.cwd)
        program = posixpath.join(cwd, paths.text(execution.program))
        resolved = paths.text(execution.resolved)
        name = posixpath.basename(program)
        if self._is_foreign(resolved):
            return self._is_own(name)
        # A link to the image's own, such as an environment of Python's has, is no other program.
        leads_there = posixpath.basename(resolved).startswith(name)
        return self._is_foreign(program) and not leads_there and self._is_own(name)

    def _is_own(self, name: str) -> bool:
        if name not in self._own:
            self._own[name] = any(self._is_there(f"{folder}/{name}") for folder in FOLDERS)
        return self._own[name]

    def _is_there(self, path: str) -> bool:
        try:
            self._session.stat(paths.raw(path))
        except OSError:
            return False
        return True
