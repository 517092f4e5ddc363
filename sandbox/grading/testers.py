"""The users of the grading container: none may touch what is another's.

Whoever runs the candidate's code has a drawn number and a folder with a drawn name, so that nothing
about them tells the code that it is being graded.
"""

import random
import string
import threading
from dataclasses import dataclass

from sandbox.container.engines.base import Session
from sandbox.model.session import AGENT, HOME, Command, User

NUMBERS = range(10_100, 60_000)
"""User ids out of which those of a grading are drawn: none of an image's, nor the agent's."""

PARENTS = ("/srv", "/opt", "/usr/local/lib", "/usr/local/share", "/var/lib")
"""Folders below which the grader's own one is made."""

HOMES = ("/tmp", "/var/tmp")  # noqa: S108 - of the grading container
"""Where anybody may make a folder."""

_CHANCE = random.SystemRandom()


@dataclass(frozen=True, slots=True)
class Tester:
    """A user with a folder of its own, which nobody knows the name of."""

    user: User
    home: str

    @property
    def environment(self) -> dict[str, str]:
        """What names the folder."""
        return {"HOME": self.home, "TMPDIR": self.home}


class Testers:
    """The users of one session, each drawn once."""

    __test__ = False

    def __init__(self, session: Session) -> None:
        self._session = session
        self._lock = threading.Lock()
        self._numbers: set[int] = set()
        self._homes: list[str] = []

    def emptied(self) -> list[str]:
        """Give the folders that were made, which nobody needs any more, and forget them."""
        with self._lock:
            homes, self._homes = self._homes, []
        return homes

    def keep(self, home: str) -> None:
        """Leave a folder out of those that nobody needs any more."""
        with self._lock:
            self._homes.remove(home)

    def new(self) -> Tester:
        """Make a user's folder."""
        with self._lock:
            number = self._number()
            home = f"{_CHANCE.choice(HOMES)}/{drawn_name()}"
            self._homes.append(home)
        user = User(number, number)
        self._session.write(f"{home}/x", b"", user=user, parents=True)
        self._session.remove(f"{home}/x", user=user)
        return Tester(user, home)

    def _number(self) -> int:
        """Draw a number that nobody of this session has."""
        while (number := _CHANCE.choice(NUMBERS)) in self._numbers:
            pass
        self._numbers.add(number)
        return number


def open_up(session: Session, worktree: str) -> None:
    """Let the tests' users read what belongs to the agent's."""
    closed = [
        path for path in (HOME, worktree) if session.stat(path, follow=True).mode & 0o005 != 0o005
    ]
    if closed:
        session.run(Command(argv=("/bin/chmod", "o+rx", *closed), user=AGENT))


def drawn_name() -> str:
    """Give a name that tells nothing."""
    return "".join(_CHANCE.choices(string.ascii_lowercase, k=12))


def drawn_folder() -> str:
    """Give the path of a folder that tells nothing, to be made by root."""
    return f"{_CHANCE.choice(PARENTS)}/{drawn_name()}"
