"""Programs that somebody has put where they are found in place of the image's own."""

import posixpath
import re
from collections.abc import Callable

from sandbox.container.engines.base import Session
from sandbox.model import path_text as paths
from sandbox.model.agent_environment import PATH
from sandbox.model.session import Exec


class StandIns:
    """Knows them by their names, and by who may have written them."""

    def __init__(self, session: Session, is_foreign: Callable[[str], bool]) -> None:
        """`is_foreign` is whether somebody has put a file of an absolute path there."""
        self._session, self._is_foreign = session, is_foreign
        self._own: dict[str, bool] = {}
        """By name, whether such a program is where root alone puts any."""

    def has(self, execution: Exec) -> bool:
        """Whether a program has the name of one of the image's, and is another one."""
        cwd = paths.text(execution.cwd)
        program = posixpath.join(cwd, paths.text(execution.program))
        resolved = paths.text(execution.resolved)
        name = posixpath.basename(program)
        if self._is_foreign(resolved):
            return self._is_own(name)
        # `python` of a virtual environment is a link to the image's own `python3.11`.
        versions = re.compile(rf"{re.escape(name)}[\d.]*")
        leads_there = versions.fullmatch(posixpath.basename(resolved)) is not None
        return self._is_foreign(program) and not leads_there and self._is_own(name)

    def _is_own(self, name: str) -> bool:
        if name not in self._own:
            self._own[name] = any(self._is_there(f"{folder}/{name}") for folder in PATH.split(":"))
        return self._own[name]

    def _is_there(self, path: str) -> bool:
        try:
            self._session.stat(paths.raw(path))
        except OSError:
            return False
        return True
