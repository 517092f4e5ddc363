from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.container.changes.collector import Collected, Collector
from sandbox.container.engines.base import RESERVED, Engine, Session, SessionSpec
from sandbox.model import path_text as paths
from sandbox.model.change import Change, Owner
from sandbox.model.session import AGENT, ROOT, Command, FileEntry, FileKind, User
from sandbox.tasks.library import LoadedTask

pytestmark = pytest.mark.engine

UPHEAVAL = Path(__file__).with_name("upheaval.py")
CHOWN = "import os, sys; os.chown(sys.argv[1] + '/.coveragerc', 0, 0)"
MOVE_GIT = """
import os, shutil, sys
os.chdir(sys.argv[1])
shutil.move('.git', 'moved')
os.symlink('moved', '.git')
"""


def python(session: Session, source: str, *arguments: str, user: User = AGENT) -> None:
    command = Command(
        ("/usr/bin/python3", "-c", source, *arguments),
        environment={"PATH": "/usr/bin:/bin"},
        user=user,
    )
    done = session.run(command)
    assert done.exit_code == 0, done.stderr.decode()


@pytest.fixture(scope="module")
def pristine(engine: Engine, image: str) -> Iterator[Session]:
    with engine.start(SessionSpec(image)) as session:
        yield session


@pytest.fixture
def session(engine: Engine, image: str) -> Iterator[Session]:
    with engine.start(SessionSpec(image)) as session:
        yield session


def collectors(session: Session, task: LoadedTask) -> dict[str, Collector]:
    scope, worktree = task.task.scope, task.worktree
    found = {"manifest": Collector(session, scope, worktree, source="manifest")}
    default = Collector(session, scope, worktree)
    if default.source == "overlay":
        found["overlay"] = default
    return found


def status(entry: FileEntry) -> tuple[object, ...]:
    size = entry.size if entry.kind is FileKind.FILE else 0
    return entry.kind, entry.mode, entry.uid, entry.gid, size, entry.target, entry.digest


def truth(pristine: Session, session: Session) -> set[str]:
    """What differs, found by hashing everything."""
    one, other = (
        {
            path: status(each.entry(path, record))
            for path, record in each.manifest(
                ["/", "/dev/shm"], excluding=[RESERVED], digest=True
            ).items()
        }
        for each in (pristine, session)
    )
    different = {path for path in one.keys() | other.keys() if one.get(path) != other.get(path)}
    return {paths.text(path) for path in different - {b"/", b"/etc/hostname", b"/dev/shm"}}


def test_both_ways_find_the_same_and_nothing_else(
    session: Session, pristine: Session, task: LoadedTask
) -> None:
    ways = collectors(session, task)
    python(session, UPHEAVAL.read_text(), task.worktree)
    python(session, CHOWN, task.worktree, user=ROOT)
    session.kill_all()
    collected = {name: way.collect(lambda: pristine) for name, way in ways.items()}
    manifest = collected["manifest"]
    for other in collected.values():
        assert other.changes.changes == manifest.changes.changes
        assert other.changes.git == manifest.changes.git
        assert other.patch == manifest.patch
    changes = {change.path: change for change in manifest.changes.changes}
    assert list(changes) == sorted(changes)
    # A second name changes neither content nor mode, which is all that the truth looks at.
    linked = {path for path, each in changes.items() if each.after and each.after.linked}
    assert linked == {f"{task.worktree}/quota-notes.md"}
    assert set(changes) - linked == truth(pristine, session)
    _check(changes, task.worktree)
    _check_patch(manifest, task.worktree)


def _check(changes: dict[str, Change], top: str) -> None:
    for untouched in ("README.md", "src/humanize/i18n.py", "tests/test_filesize.py", "tests"):
        assert f"{top}/{untouched}" not in changes
    added = changes[f"{top}/new.txt"]
    assert added.before is None
    assert added.after is not None
    assert (added.after.kind, added.after.mode, added.after.size) == (FileKind.FILE, 0o644, 4)
    edited = changes[f"{top}/mkdocs.yml"]
    assert edited.before is not None
    assert edited.after is not None
    assert edited.before.digest != edited.after.digest
    owned = changes[f"{top}/.coveragerc"].after
    assert owned is not None
    assert (owned.uid, owned.gid) == (0, 0)
    replaced = changes[f"{top}/.github"]
    assert replaced.before is not None
    assert replaced.after is not None
    assert (replaced.before.kind, replaced.after.kind) == (FileKind.DIRECTORY, FileKind.SYMLINK)
    assert replaced.after.target == "src"
    gone = [path for path, change in changes.items() if change.after is None]
    assert any(path.startswith(f"{top}/.github/") for path in gone)
    assert any(path.startswith(f"{top}/tests/regressions/") for path in gone)
    sparse = changes[f"{top}/sparse"].after
    assert sparse is not None
    assert (sparse.size, sparse.digest) == (300 << 20, None)
    assert f"{top}/\\xff\\xfe" in changes
    assert f"{top}/\\\\xff" in changes
    assert f"{top}/new\nline" in changes
    assert "/dev/shm/left" in changes
    assert any(path.endswith("/bottom") and len(path) > 4096 for path in changes)
    assert changes[f"{top}/quota-notes.md"[:-14] + "hard"].owner is Owner.COLLATERAL


def _check_patch(collected: Collected, top: str) -> None:
    lines = collected.patch.split("\n")
    assert "\x1b" not in collected.patch
    assert "+\\x1b[31mmore" in lines
    assert f"# never: {top}/pyproject.toml" in lines
    assert f"# collateral: {top}/new\\nline" in lines
    assert "# was file, mode 644, is file, mode 600" in lines


@pytest.mark.slow
def test_a_run_that_only_looks_changes_nothing(
    session: Session, pristine: Session, task: LoadedTask
) -> None:
    ways = collectors(session, task)
    python(session, "import os; [open(p).read(1) for p in ('/etc/passwd', '/etc/hosts')]")
    for way in ways.values():
        assert way.collect(lambda: pristine).changes.changes == ()


def test_a_git_folder_that_is_replaced_is_a_problem(
    session: Session, pristine: Session, task: LoadedTask
) -> None:
    way = Collector(session, task.task.scope, task.worktree)
    python(session, MOVE_GIT, task.worktree)
    changes = way.change_set(lambda: pristine)
    assert changes.git is None
    assert "symbolic link" in changes.git_problem
