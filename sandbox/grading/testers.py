"""The users of the grading container: none may touch what is another's."""

import secrets
from dataclasses import dataclass

from sandbox.container.engines.base import Session
from sandbox.model.session import User

FIRST_TESTER = 20_000
"""The user of the first test file; the next file has the next one."""
BUILDER = 29_999
"""The user who builds what the cases call, and runs nothing of it."""
FIRST_SERVANT = 30_000
"""The user of the first case, alike."""


@dataclass(frozen=True, slots=True)
class Tester:
    """A user with a folder of its own, which nobody knows the name of."""

    user: User
    home: str

    @property
    def environment(self) -> dict[str, str]:
        """What names the folder."""
        return {"HOME": self.home, "TMPDIR": self.home}


def tester(session: Session, uid: int) -> Tester:
    """Make a user's folder."""
    user = User(uid, uid)
    home = f"/tmp/{secrets.token_hex(8)}"  # noqa: S108 - of the grading container
    session.write(f"{home}/.home", b"", user=user, parents=True)
    return Tester(user, home)
