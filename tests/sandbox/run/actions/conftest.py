"""A worktree on this host."""

import os
import platform
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from sandbox.container.engines.base import Session
from sandbox.container.supervisor import compiler
from sandbox.container.supervisor.client import Supervisor
from sandbox.run.actions.workspace import Workspace
from tests.sandbox.container.supervisor.local import by_pipes, end
from tests.sandbox.local_session import LocalSession
from tests.sandbox.run.actions.supervised_session import SupervisedSession
from tests.sandbox.worlds import task


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    root.mkdir()
    return root


@pytest.fixture(scope="session")
def supervisor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Supervisor]:
    """The real supervisor, as a child of the tests."""
    program = shutil.copy(compiler.binary(platform.machine()), tmp_path_factory.mktemp("program"))
    local = by_pipes(Path(), [str(program)], [], lambda: None)
    yield local.supervisor
    end(local)


@pytest.fixture(params=["host", "supervisor"])
def session(request: pytest.FixtureRequest) -> LocalSession:
    if request.param == "host":
        return LocalSession()
    return SupervisedSession(request.getfixturevalue("supervisor"))


@pytest.fixture
def workspace(root: Path, session: LocalSession) -> Workspace:
    return Workspace(cast(Session, session), task(), str(root))


@pytest.fixture
def repository(root: Path) -> Path:
    """The worktree with git and one commit."""
    environment = {
        **os.environ,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_AUTHOR_NAME": "A",
        "GIT_AUTHOR_EMAIL": "a@example.org",
        "GIT_COMMITTER_NAME": "A",
        "GIT_COMMITTER_EMAIL": "a@example.org",
    }
    (root / "src").mkdir()
    (root / "src" / "a.py").write_text("one\ntwo\nthree\n")
    (root / "notes.md").write_text("mine\n")
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run(["git", *arguments], cwd=root, env=environment, check=True)
    return root
