"""What git writes is told as it happened: after what git has run, and before git's own end."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sandbox.model.session import WatchedFiles
from tests.sandbox.container.supervisor.local import Local, Start
from tests.sandbox.container.supervisor.told import Told, shell


@pytest.fixture
def local(start: Start) -> Local:
    return start()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "work"
    made.mkdir()
    return made


@pytest.fixture
def told(local: Local, folder: Path) -> Told:
    observer = Told(folder)
    local.supervisor.on_exec(observer)
    local.supervisor.watch(WatchedFiles([str(folder)]))
    return observer


def test_what_git_writes_comes_after_what_it_has_run(
    local: Local, folder: Path, told: Told
) -> None:
    """Nobody knows whether a shell wrote before or after its program ended; of git one does."""
    (folder / ".git").mkdir()
    local.supervisor.settle()
    shell(local, folder, "for i in 1 2 3 4 5 6 7 8; do /bin/true; echo $i > .git/HEAD; done")
    lines = [line for line in told.lines if line.split()[1] != "sh"]
    ends = [number for number, line in enumerate(lines) if line == "end true"]
    writes = [number for number, line in enumerate(lines) if line == "wrote .git/HEAD"]
    assert len(ends) == len(writes) == 8
    assert all(end < write for end, write in zip(ends, writes, strict=True))


def test_what_git_writes_comes_before_its_end_however_busy_the_supervisor_is(
    local: Local, folder: Path, told: Told
) -> None:
    """Beside large files that change all the time, and have to be hashed whenever one looks."""
    line = """
    git init -q -b main . && git config user.name A && git config user.email a@example.org
    git config maintenance.auto false
    printf '#!/bin/sh\\nexit 0\\n' > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit
    while :; do truncate -s 3000000 large; echo >> large; done & busy=$!
    for n in $(seq 40); do git commit -q --allow-empty -m "$n" || exit 1; done
    kill $busy
    """
    shell(local, folder, line)
    inside, moved = False, 0
    for what in told.lines:
        if what == "run git":
            inside = True
        elif what == "end git":
            inside = False
        elif what == "wrote .git/refs/heads/main":
            assert inside, told.lines
            moved += 1
    assert moved == 40


@contextmanager
def woken(local: Local) -> Iterator[None]:
    """Have a supervisor that is stopped go on soon."""
    over = threading.Event()

    def wake() -> None:
        while not over.wait(0.3):
            local.process.send_signal(signal.SIGCONT)

    waker = threading.Thread(target=wake)
    waker.start()
    try:
        yield
    finally:
        over.set()
        waker.join()


@pytest.mark.parametrize(
    ("asked", "moves"),
    [
        ("git -C . cat-file --batch", False),
        ("git -c core.pager=commit --no-pager cat-file --batch", False),
        ("git --git-dir .git --work-tree=. cat-file --batch", False),
        ("git log --output=written --stdin", True),
    ],
)
def test_a_git_ends_before_what_others_write_unless_it_may_have_moved_a_branch(
    local: Local, folder: Path, told: Told, asked: str, moves: bool
) -> None:
    """What the last hook has asked git is over when git writes, though nobody was awake to see."""
    (folder / "hook").write_text(
        f"""#!/bin/sh
        {asked} <asked >answered &
        exec 3>asked && echo HEAD >&3
        while ! [ -s answered ] && ! [ -e written ]; do :; done
        kill -STOP {local.process.pid} && exec 3>&- && wait
        """
    )
    line = """
    git init -q -b main . && git config user.name A && git config user.email a@example.org
    git config maintenance.auto false && git commit -q --allow-empty -m first && mkfifo asked
    install hook .git/hooks/pre-commit && git commit -q --allow-empty -m second
    """
    with woken(local):
        shell(local, folder, line)
    lines = [line for line in told.lines if line.endswith((" git", " .git/refs/heads/main"))]
    ended = ["end git", "wrote .git/refs/heads/main"]
    commit = ["run git", "run git", *(reversed(ended) if moves else ended), "end git"]
    assert lines[-len(commit) :] == commit
