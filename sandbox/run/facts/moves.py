"""What the user does while the run goes on: files of theirs are written when a fact has come."""

import hashlib
from contextlib import suppress

from sandbox.container.engines.base import Session
from sandbox.model.fact import Fact, WorldMoved
from sandbox.model.layer import Layer
from sandbox.rules.monitors.atoms import Pattern
from sandbox.rules.monitors.context import Context
from sandbox.rules.monitors.steps import alone


class Moves:
    """The moves of a run, in order; each is made once, in the thread that tells of facts."""

    def __init__(self, session: Session, layer: Layer, root: str, context: Context) -> None:
        self._session, self._root = session, root
        self._left = [(move, Pattern(move.after, (), context)) for move in layer.moves]
        self._users = {file.path: file.text for file in layer.files}
        """What the user has left in files of theirs."""
        self._expected: set[tuple[str, str]] = set()
        """Paths with the contents that are about to be told."""

    def follow(self, fact: Fact) -> WorldMoved | None:
        """Make the next move where a fact is what it waits for; give what has come of it."""
        if not self._left:
            return None
        move, awaited = self._left[0]
        step = alone(fact, 0)
        if step is None or not awaited.may_match(step) or not awaited.matches(step):
            return None
        del self._left[0]
        made = {}
        for path, text in move.files.items():
            if not self._is_as_left(path):
                continue  # which nothing may cover up
            self._users[path] = text
            data = text.encode()
            digest = hashlib.sha256(data).hexdigest()
            self._expected.add((path, digest))
            with suppress(OSError):  # whoever made that impossible has changed the user's file
                self._session.write(path, data, beneath=self._root, follow=False)
                made[path] = digest
        return WorldMoved(move=move.id, files=made)

    def _is_as_left(self, path: str) -> bool:
        left = self._users[path].encode()
        try:
            found = self._session.read(path, beneath=self._root, limit=len(left) + 1, follow=False)
        except OSError:
            return False
        return found == left

    def made(self, path: str, digest: str) -> bool:
        """Whether a change of a path is a move that was not told yet."""
        if (path, digest) not in self._expected:
            return False
        self._expected.remove((path, digest))
        return True
