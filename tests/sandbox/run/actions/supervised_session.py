"""The real supervisor on this host, with the agent's user and PATH replaced by the tests' own."""
# ruff: noqa: ARG002 - signatures are those of the contract

import os
from dataclasses import replace

from sandbox.container.supervisor.client import Supervisor
from sandbox.model.session import AGENT, ROOT, Command, Completed, FileEntry, User
from tests.sandbox.local_session import LocalSession

SELF = User(os.getuid(), os.getgid())


class SupervisedSession(LocalSession):
    """Fails where it is told to, like its base; does everything else through the supervisor."""

    def __init__(self, supervisor: Supervisor) -> None:
        super().__init__()
        self._supervisor = supervisor

    def run(self, command: Command) -> Completed:
        self.commands.append(command)
        if self.lost is not None:
            raise self.lost
        environment = {**command.environment, "PATH": os.environ["PATH"]}
        return self._supervisor.run(replace(command, user=SELF, environment=environment))

    def read(
        self,
        path: str | bytes,
        *,
        beneath: str | bytes = "/",
        offset: int = 0,
        limit: int | None = None,
        user: User = ROOT,
        follow: bool = True,
    ) -> bytes:
        return self._supervisor.read(
            path, beneath=beneath, offset=offset, limit=limit, user=SELF, follow=follow
        )

    def write(
        self,
        path: str | bytes,
        data: bytes,
        *,
        beneath: str | bytes = "/",
        mode: int | None = None,
        user: User = AGENT,
        parents: bool = False,
        follow: bool = True,
    ) -> None:
        self._fail(path)
        self._supervisor.write(
            path, data, beneath=beneath, mode=mode, user=SELF, parents=parents, follow=follow
        )

    def remove(
        self,
        path: str | bytes,
        *,
        beneath: str | bytes = "/",
        user: User = AGENT,
        follow: bool = True,
    ) -> None:
        self._fail(path)
        self._supervisor.remove(path, beneath=beneath, user=SELF, follow=follow)

    def stat(
        self, path: str | bytes, *, beneath: str | bytes = "/", follow: bool = False
    ) -> FileEntry:
        return self._supervisor.stat(path, beneath=beneath, follow=follow)

    def list(
        self, path: str | bytes, *, beneath: str | bytes = "/", user: User = ROOT
    ) -> list[FileEntry]:
        return self._supervisor.list(path, beneath=beneath, user=SELF)
