import contextlib
import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from sandbox.container.candidate import Candidate, CandidateFile, lay, pack, take, unpack
from sandbox.container.changes.collector import Collector
from sandbox.container.engines.base import Session, SessionSpec
from sandbox.container.engines.fake import FakeEngine
from sandbox.model.change import Change, ChangeSet, FileState, Owner
from sandbox.model.errors import EvidenceError
from sandbox.model.session import AGENT, ROOT, FileKind
from sandbox.model.task import Scope

TREE = "/tree/repo"
SCOPE = Scope(must=("src/a.py",), may=("src/**", "tests/**", "pyproject.toml"), user=("notes.md",))


@pytest.fixture
def start(tmp_path: Path) -> Callable[[], Session]:
    """Starts sessions of one image."""
    archive = tmp_path / "root.tar"
    with tarfile.open(archive, "w") as tar:
        for name in ("tree", "tree/repo", "tree/repo/src", "tree/repo/src/old"):
            member = tarfile.TarInfo(name)
            member.type, member.mode = tarfile.DIRTYPE, 0o755
            member.uid = member.gid = AGENT.uid
            tar.addfile(member)
        for name, content in {
            "tree/repo/src/a.py": b"a\n",
            "tree/repo/src/b.py": b"b\n",
            "tree/repo/src/old/c.py": b"c\n",
            "tree/repo/src/conftest.py": b"",
            "tree/repo/notes.md": b"notes\n",
        }.items():
            member = tarfile.TarInfo(name)
            member.size, member.uid, member.gid = len(content), AGENT.uid, AGENT.gid
            tar.addfile(member, io.BytesIO(content))
    engine = FakeEngine()
    engine.import_image(archive, tag="fake:1", labels={})
    return lambda: engine.start(SessionSpec("fake:1"))


def crossing(
    start: Callable[[], Session], act: Callable[[Session], None], scope: Scope = SCOPE
) -> Candidate:
    session = start()
    collector = Collector(session, scope, TREE)
    act(session)
    return take(session, collector.change_set(start), scope, TREE)


def write(session: Session, path: str | bytes, data: bytes = b"x\n", mode: int = 0o644) -> None:
    raw = path.encode() if isinstance(path, str) else path
    with contextlib.suppress(FileNotFoundError):
        session.remove(raw, beneath=TREE)
    session.write(raw, data, beneath=TREE, mode=mode, parents=True)


def test_files_and_deletions_of_the_work_cross(start: Callable[[], Session]) -> None:
    def act(session: Session) -> None:
        write(session, "src/a.py", b"mended\n")
        write(session, "src/run.sh", b"#!/bin/sh\n", 0o755)
        write(session, b"src/\xff.py", b"odd\n")
        session.remove("src/old/c.py", beneath=TREE)
        session.remove("src/old", beneath=TREE)

    candidate = crossing(start, act)
    assert candidate.files == {
        "src/a.py": CandidateFile(b"mended\n", executable=False),
        "src/run.sh": CandidateFile(b"#!/bin/sh\n", executable=True),
        "src/\\xff.py": CandidateFile(b"odd\n", executable=False),
    }
    assert candidate.deleted == ("src/old/c.py", "src/old")
    assert candidate.refused == {}
    fresh = start()
    assert lay(candidate, fresh, TREE) == {}
    assert fresh.read("src/a.py", beneath=TREE) == b"mended\n"
    assert fresh.stat("src/run.sh", beneath=TREE).mode == 0o755
    assert fresh.stat("src/a.py", beneath=TREE).uid == AGENT.uid
    assert fresh.read(b"src/\xff.py", beneath=TREE) == b"odd\n"
    with pytest.raises(FileNotFoundError):
        fresh.stat("src/old", beneath=TREE)


def test_one_kind_in_place_of_another_crosses(start: Callable[[], Session]) -> None:
    def act(session: Session) -> None:
        session.remove("src/b.py", beneath=TREE)
        write(session, "src/b.py/inner.py", b"inner\n")
        session.remove("src/old/c.py", beneath=TREE)
        session.remove("src/old", beneath=TREE)
        write(session, "src/old", b"a file now\n")

    candidate = crossing(start, act)
    fresh = start()
    assert lay(candidate, fresh, TREE) == {}
    assert fresh.read("src/b.py/inner.py", beneath=TREE) == b"inner\n"
    assert fresh.read("src/old", beneath=TREE) == b"a file now\n"


@pytest.mark.parametrize(
    "path", ["tests/__pycache__/test_a.cpython-311-pytest-8.pyc", "src/.pytest_cache/a.md"]
)
def test_what_a_run_of_tests_keeps_for_itself_does_not_cross_and_needs_no_reason(
    start: Callable[[], Session], path: str
) -> None:
    candidate = crossing(start, lambda session: write(session, path, b"evil\n"))
    assert candidate.files == {}
    assert not any(path in refused for refused in candidate.refused)


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("notes.md", "owner is user"),
        ("other.py", "owner is collateral"),
        ("src/conftest.py", "by its name"),
        ("src/site-packages/evil.pth", "by its name"),
        ("src/sitecustomize.py", "by its name"),
        ("src/usercustomize/__init__.py", "by its name"),
        ("tests/test_a.pyc", "by its name"),
        ("src/pytest.ini", "does not name this very file"),
        ("src/setup.cfg", "does not name this very file"),
        ("src/.gitattributes", "does not name this very file"),
        ("src/.gitmodules", "does not name this very file"),
        ("src/pytest.toml", "does not name this very file"),
        ("src/package.json", "does not name this very file"),
        ("src/.cargo/config.toml", "does not name this very file"),
        ("src/build.rs", "does not name this very file"),
        ("src/go.mod", "does not name this very file"),
        ("src/.npmrc", "does not name this very file"),
        ("src/.mocharc.yml", "does not name this very file"),
        ("src/jest.config.js", "does not name this very file"),
        ("src/node_modules/tape/index.js", "by its name"),
        ("src/evil.egg-info/entry_points.txt", "by its name"),
        ("src/evil-1.dist-info/entry_points.txt", "by its name"),
        ("src/large", "more than"),
    ],
)
def test_what_does_not_cross_has_a_reason(
    start: Callable[[], Session], path: str, why: str
) -> None:
    content = b"x" * ((16 << 20) + 1) if path == "src/large" else b"evil\n"
    candidate = crossing(start, lambda session: write(session, path, content))
    assert candidate.files == {}
    assert why in candidate.refused[f"{TREE}/{path}"]


def test_configuration_crosses_where_it_is_named(start: Callable[[], Session]) -> None:
    candidate = crossing(start, lambda session: write(session, "pyproject.toml"))
    assert list(candidate.files) == ["pyproject.toml"]
    named = Scope(may=("src/conftest.py",))
    candidate = crossing(start, lambda session: write(session, "src/conftest.py"), named)
    assert candidate.files == {}


def state(kind: FileKind = FileKind.FILE, mode: int = 0o644) -> FileState:
    return FileState(kind=kind, mode=mode, uid=10001, gid=10001, size=2)


@pytest.mark.parametrize(
    ("after", "why"),
    [
        (state(FileKind.SYMLINK, 0o777), "a symlink"),
        (state(FileKind.FIFO), "a fifo"),
        (state(FileKind.SOCKET), "a socket"),
        (state(FileKind.CHARACTER_DEVICE), "a character device"),
        (state(mode=0o4755), "set-id"),
        (state(mode=0o2755), "set-id"),
        (state(FileKind.DIRECTORY, 0o755), "folders cross only"),
        (state(), "cannot be read"),
    ],
)
def test_only_plain_regular_files_cross(
    start: Callable[[], Session], after: FileState, why: str
) -> None:
    change = Change(path=f"{TREE}/src/x", owner=Owner.MAY, before=None, after=after)
    changes = ChangeSet(source="manifest", changes=(change,), git=None)
    candidate = take(start(), changes, SCOPE, TREE)
    assert candidate.files == {}
    assert why in candidate.refused[change.path]


def test_content_that_is_not_the_change_sets_does_not_cross(start: Callable[[], Session]) -> None:
    after = state().model_copy(update={"digest": "0" * 64})
    change = Change(path=f"{TREE}/src/a.py", owner=Owner.MUST, before=None, after=after)
    changes = ChangeSet(source="manifest", changes=(change,), git=None)
    assert "not the one" in take(start(), changes, SCOPE, TREE).refused[change.path]


def test_what_does_not_fit_is_told(start: Callable[[], Session]) -> None:
    fresh = start()
    fresh.write("src/old/more.py", b"", beneath=TREE, user=ROOT)
    candidate = Candidate({"src/old": CandidateFile(b"", executable=False)}, ("src/old",), {})
    assert list(lay(candidate, fresh, TREE)) == ["src/old"]


NAMES = st.from_regex(r"\A[a-z\\\n é]{1,8}(/[a-z.]{0,3}[a-z]){0,3}\Z")


@pytest.mark.slow
@given(
    st.dictionaries(NAMES, st.builds(CandidateFile, st.binary(max_size=99), st.booleans())),
    st.lists(NAMES, unique=True).map(tuple),
)
def test_packing_is_exact_and_deterministic(
    tmp_path_factory: pytest.TempPathFactory,
    files: dict[str, CandidateFile],
    deleted: tuple[str, ...],
) -> None:
    folder = tmp_path_factory.mktemp("packed")
    candidate = Candidate(files, deleted, {"/a": "why"})
    pack(candidate, folder / "one")
    pack(Candidate(dict(reversed(files.items())), deleted, {"/a": "why"}), folder / "other")
    assert unpack(folder / "one") == candidate
    assert (folder / "one").read_bytes() == (folder / "other").read_bytes()


def packed(*members: tarfile.TarInfo, header: bytes = b'{"deleted": [], "refused": {}}') -> bytes:
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        first = tarfile.TarInfo("candidate.json")
        first.size = len(header)
        tar.addfile(first, io.BytesIO(header))
        for member in members:
            tar.addfile(member, io.BytesIO(bytes(member.size)))
    return zstandard.compress(archive.getvalue())


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    found = tarfile.TarInfo(name)
    found.type, found.linkname = kind, link
    return found


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no archive",
        zstandard.compress(b"no archive"),
        zstandard.compress(bytes(300 << 20)),
        packed(member("files/../escape")),
        packed(member("files//etc/passwd")),
        packed(member("files/")),
        packed(member("files/.")),
        packed(member("elsewhere")),
        packed(member("files/a", tarfile.SYMTYPE, "/etc/passwd")),
        packed(member("files/a", tarfile.LNKTYPE, "files/b")),
        packed(member("files/a", tarfile.FIFOTYPE)),
        packed(member("files/a"), member("files/a")),
        packed(header=b"{}"),
        packed(header=b"[]"),
        packed(header=b'{"deleted": ["../x"], "refused": {}}'),
        packed()[:-8],
    ],
)
def test_an_archive_that_is_not_ours_is_refused(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "candidate.tar.zst"
    path.write_bytes(data)
    with pytest.raises(EvidenceError):
        unpack(path)


def test_an_archive_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EvidenceError):
        unpack(tmp_path / "candidate.tar.zst")
