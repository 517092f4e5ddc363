"""A worktree on this host."""

import os
import subprocess
from pathlib import Path
from typing import cast

import pytest

from sandbox.actions.workspace import Workspace
from sandbox.engines.base import Session
from tests.sandbox.local_session import LocalSession
from tests.sandbox.worlds import task


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    root.mkdir()
    return root


@pytest.fixture
def session() -> LocalSession:
    return LocalSession()


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
