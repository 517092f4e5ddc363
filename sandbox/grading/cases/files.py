"""A file of the candidate, read and judged on the host: no code of the candidate's has a say."""

from collections.abc import Mapping
from typing import Any

from sandbox.container.engines.base import Session
from sandbox.grading.cases.answers import Answer, Fields
from sandbox.grading.json_conversation import Unanswered
from sandbox.grading.runners import wire
from sandbox.model import path_text as paths
from sandbox.model.case import FileSubject
from sandbox.model.errors import UndecidedError
from sandbox.model.patterns import expression

LIMIT = 16 << 20
"""Bytes of a file that is judged."""


class File:
    """A file of the worktree as it was handed in."""

    def __init__(self, subject: FileSubject, session: Session, worktree: str) -> None:
        self._path, self._session, self._worktree = subject.path, session, worktree

    def call(self, given: Mapping[str, Any], seconds: float) -> Answer:
        """Give `exists`, `text`, and `count`, how often a pattern is found.

        The pattern is a regular expression over the whole text, `^` and `$` for each line.
        """
        del seconds
        try:
            raw = paths.raw(self._path)
            data = self._session.read(raw, beneath=self._worktree, limit=LIMIT, follow=False)
        except OSError:
            return Fields({"exists": False, "text": None, "count": wire.encode(0)})
        text = data.decode("utf-8", "replace")
        try:
            wanted = given.get("pattern")
            count = len(expression(f"(?m:{wanted})").parts(text)) if wanted else 0
        except UndecidedError as error:
            raise Unanswered(error.message) from error
        return Fields({"exists": True, "text": wire.encode(text), "count": wire.encode(count)})

    def close(self) -> None:
        """Nothing runs."""
