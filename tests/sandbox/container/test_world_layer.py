"""A world's layer: what it comes to in a session, and that none of it is the agent's."""

from collections.abc import Iterator

import pytest

from sandbox.container import world_layer
from sandbox.container.changes.collector import Collector, Source
from sandbox.container.engines.base import Engine, Session, SessionSpec
from sandbox.container.servers import PLACE, SERVER_USER
from sandbox.model import places
from sandbox.model.errors import LayerError
from sandbox.model.layer import LaidCommit, LaidFile, LaidServer, Layer
from sandbox.model.session import AGENT, Command
from sandbox.run.validate.state import state_digest
from sandbox.tasks import library
from sandbox.tasks.images import Images

pytestmark = pytest.mark.engine

LOADED = library.load("humanize/file-sizes")
WORKTREE, AUTHOR = LOADED.worktree, LOADED.repository.author
LAYER = Layer(
    commits=(
        LaidCommit(
            message="docs: say where changes are entered\n\nRefs: HUM-190",
            date="2025-05-20T10:00:00+02:00",
            files=(
                LaidFile(path="docs/desk/it's here.md", text="Enter it.\n"),
                LaidFile(path="AGENTS.md", text="\nSee docs/desk.\n", append=True),
            ),
        ),
    ),
    files=(LaidFile(path="notes/own.md", text="mine\n"),),
    servers=(
        LaidServer(name="desk", about="x", command=("/bin/true",), files={"a/b.json": "{}\n"}),
    ),
)


@pytest.fixture
def session(engine: Engine) -> Iterator[Session]:
    with engine.start(SessionSpec(tag(engine))) as session:
        yield session


def tag(engine: Engine) -> str:
    return Images(engine, places.cache()).ensure(LOADED, lambda _: None).tag


def lay(session: Session, layer: Layer = LAYER) -> None:
    world_layer.lay(session, layer, WORKTREE, AUTHOR)


def line(session: Session, text: str) -> str:
    environment = {"PATH": "/usr/bin:/bin", "HOME": "/home/agent", "LC_ALL": "C.UTF-8"}
    done = session.run(Command(("/bin/sh", "-c", text), cwd=WORKTREE, environment=environment))
    assert done.exit_code == 0, done.stderr.decode()
    return done.stdout.decode()


def test_commits_and_files_lie_beside_the_work_that_the_user_has_staged(session: Session) -> None:
    before = line(session, "git status --porcelain; git diff --cached; git diff")
    lay(session)
    after = line(session, "git status --porcelain; git diff --cached; git diff")
    assert after.replace("?? notes/\n", "") == before
    told = line(session, "git log -1 --format='%an <%ae>%n%ad%n%cd%n%B' --date=iso")
    who = f"{AUTHOR.name} <{AUTHOR.email}>"
    when = "2025-05-20 08:00:00 +0000"
    assert told.rstrip() == "\n".join((who, when, when, LAYER.commits[0].message))
    changed = line(session, "git show --format= --name-status -z").split("\0")
    assert changed == ["M", "AGENTS.md", "A", "docs/desk/it's here.md", ""]
    assert line(session, "git show HEAD~:AGENTS.md; printf '\\nSee docs/desk.\\n'") == line(
        session, "cat AGENTS.md"
    )
    assert line(session, "cat notes/own.md; git fsck --strict 2>&1; git stash list") == "mine\n"


def test_edits_of_the_users_stay_out_of_what_is_committed_of_the_same_file(
    session: Session,
) -> None:
    edited = "src/humanize/number.py"
    own = f"git diff -U0 -- {edited} | grep '^[-+][^-+]'; git diff --cached; git status --short"
    before, worktree = line(session, own), line(session, f"cat {edited}")
    files = (LaidFile(path=edited, text="\n# End.\n", append=True, beside_edits=True),)
    commits = tuple(
        LaidCommit(message=text, date=f"2025-05-2{day}T10:00:00+02:00", files=files)
        for day, text in enumerate(("one", "two"))
    )
    lay(session, Layer(commits=commits))
    assert line(session, own) == before
    assert line(session, f"cat {edited}") == worktree + "\n# End.\n" * 2
    assert line(session, "git diff --numstat HEAD~2 HEAD").split() == ["4", "0", edited]
    assert line(session, "git log -2 --format=%s").split() == ["two", "one"]
    assert line(session, "git fsck --strict 2>&1") == ""


def test_servers_are_closed_to_the_agent(session: Session) -> None:
    lay(session)
    path = f"{PLACE}/desk/a/b.json"
    assert session.read(path, user=SERVER_USER) == b"{}\n"
    with pytest.raises(PermissionError):
        session.read(path, user=AGENT)


@pytest.mark.slow
def test_each_session_starts_from_the_same_bytes_and_times(
    session: Session, engine: Engine
) -> None:
    lay(session)
    with engine.start(SessionSpec(tag(engine))) as other:
        bare = state_digest(other)
        lay(other)
        assert state_digest(session) == state_digest(other) != bare


def test_what_was_taken_is_laid_down_the_same(session: Session, engine: Engine) -> None:
    lay(session)
    archive = world_layer.taken(session, WORKTREE)
    assert archive is not None
    with engine.start(SessionSpec(tag(engine))) as other:
        world_layer.lay_again(other, archive)
        assert state_digest(session) == state_digest(other)
        files = "git status --short; git log -1; git fsck --strict; find . -printf '%P %u %m %l\n'"
        assert line(session, files) == line(other, files)
        path = f"{PLACE}/desk/a/b.json"
        assert other.read(path, user=SERVER_USER) == b"{}\n"
        with pytest.raises(PermissionError):
            other.read(path, user=AGENT)


@pytest.mark.slow
@pytest.mark.parametrize("source", ["overlay", "manifest"])
def test_what_is_laid_down_is_no_change_of_the_agents(
    session: Session, engine: Engine, source: Source
) -> None:
    lay(session)
    try:
        collector = Collector(session, LOADED.task.scope, WORKTREE, source=source)
    except ValueError:
        pytest.skip("the engine's storage cannot be read from here")
    with engine.start(SessionSpec(tag(engine))) as pristine:
        lay(pristine)
        assert collector.change_set(lambda: pristine).changes == ()
        line(session, "git checkout -q HEAD~ -- AGENTS.md; git reset -q AGENTS.md")
        line(session, "echo more >> notes/own.md; rm -r docs/desk; echo new > docs/new.md")
        collected = collector.collect(lambda: pristine)
    paths = {change.path.removeprefix(f"{WORKTREE}/") for change in collected.changes.changes}
    own = {path for path in paths if not path.startswith((".git/", "/"))}
    assert own >= {"AGENTS.md", "notes/own.md", "docs/desk/it's here.md", "docs/new.md"}
    assert "-See docs/desk.\n" in collected.patch
    assert " mine\n+more\n" in collected.patch
    assert "-Enter it.\n" in collected.patch
    git = collected.changes.git
    assert git is not None
    assert git.commits == ()


@pytest.mark.parametrize(
    ("file", "said"),
    [
        (LaidFile(path="README.md", text="x"), "README.md: Cannot open: File exists"),
        (LaidFile(path="READMEE.md", text="x", append=True), "READMEE.md: No such file"),
        (
            LaidFile(path="README.md", text="x", append=True, beside_edits=True),
            "README.md: edits of it are staged",
        ),
        (LaidFile(path="README.md/x", text="x"), "README.md/x: Cannot open: Not a directory"),
    ],
)
def test_what_does_not_fit_the_image_is_told(session: Session, file: LaidFile, said: str) -> None:
    with pytest.raises(LayerError) as caught:
        lay(session, Layer(files=(file,)))
    assert said in caught.value.message


def test_a_hook_takes_no_other_ones_place(session: Session) -> None:
    with pytest.raises(LayerError) as caught:
        lay(session, Layer(hooks={"pre-commit": "#!/bin/sh\n"}))
    assert "hooks/pre-commit: Cannot open: File exists" in caught.value.message
