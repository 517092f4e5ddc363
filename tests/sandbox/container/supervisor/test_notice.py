"""What happens to watched files: told in order with execs, whoever does it and however often."""

import hashlib
import os
import re
import shutil
import signal
import stat
import sys
from pathlib import Path

import pytest

from sandbox.model.session import WatchedFiles
from tests.sandbox.container.supervisor.local import SELF, Local, Start
from tests.sandbox.container.supervisor.told import Told, shell


@pytest.fixture
def local(start: Start) -> Local:
    return start()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "work"
    (made / "src").mkdir(parents=True)
    (made / "src/a.py").write_text("one\n")
    (made / "notes.md").write_text("read me\n")
    (made / "cache").mkdir()
    return made


@pytest.fixture
def told(local: Local, folder: Path) -> Told:
    observer = Told(folder)
    local.supervisor.on_exec(observer)
    excluding = [str(folder / "cache"), "dust"]
    local.supervisor.watch(WatchedFiles([str(folder)], excluding, [f"{folder}/notes.md"]))
    return observer


def test_of_some_folders_a_few_files_alone_are_told(local: Local, tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "work").mkdir(parents=True)
    (home / "other").mkdir()
    observer = Told(home)
    local.supervisor.on_exec(observer)
    wanted = [f"{home}/{path}" for path in (".set/deep/env", "setup.cfg")]
    files = WatchedFiles([f"{home}/work"], within=[str(home)], only=wanted)
    local.supervisor.watch(files)
    shell(local, home, "mkdir -p .set/deep .set/no")  # by itself: its end would part what follows
    line = (
        "echo > other/a; echo > b; echo > .set/deep/env;"
        " echo > .set/deep/x; echo > .set/x; echo > work/c; echo > setup.cfg"
    )
    shell(local, home, line)
    assert observer.take() == ["wrote .set/deep/env", "wrote work/c", "wrote setup.cfg"]
    shell(local, home, "rm -r .set; mkdir .new .set; echo > .new/env; mv .new .set/deep")
    assert observer.take() == ["gone .set/deep/env", "wrote .set/deep/env"]
    shell(local, home, "rm -r .set; ln -s other .set; mv work gone; mv gone work")
    told = ["gone .set/deep/env", "wrote .set", "gone work", "wrote work/c"]
    assert observer.take() == told


def test_it_is_told_when_a_file_was_changed(local: Local, folder: Path, told: Told) -> None:
    shell(local, folder, "echo two > src/a.py; ln -s a.py src/b.py; rm notes.md")
    names = ("src/a.py", "src/b.py")
    changed = {os.fsdecode(touch.path): touch.changed_ns for touch in told.touches}
    assert [changed[f"{folder}/{name}"] for name in names] == [
        (folder / name).lstat().st_ctime_ns for name in names
    ]
    assert changed[f"{folder}/notes.md"] == 0


def test_a_folder_that_came_and_went_is_told_as_gone(
    local: Local, folder: Path, told: Told
) -> None:
    """One that happened to be looked at meanwhile was seen to be empty."""
    made = "import os; [(os.mkdir(f'd{n}'), os.rmdir(f'd{n}')) for n in range(50)]"
    shell(local, folder, f'python3 -c "{made}"')
    lines = told.take()
    assert {*lines} <= {f"gone d{number}" for number in range(50)}
    assert len(lines) > 25


@pytest.mark.parametrize(
    "line",
    [
        "echo two > src/a.py",
        "sed -i s/one/two/ src/a.py",
        "printf 'two\\n' > /tmp/x.$$ && mv /tmp/x.$$ src/a.py",
        "python3 -c \"open('src/a.py','w').write('two\\n')\"",
        "ln -f src/a.py src/b.py; echo two > src/b.py; rm src/b.py; echo two > src/a.py",
        "exec 3<>src/a.py; echo two >&3; true",
    ],
)
def test_an_edit_is_an_edit_however_it_is_made(
    local: Local, folder: Path, told: Told, line: str
) -> None:
    shell(local, folder, line)
    assert "wrote src/a.py" in told.take()
    assert told.state()[f"{folder}/src/a.py"] == hashlib.sha256(b"two\n").hexdigest()


def test_what_came_first_is_told_first(local: Local, folder: Path, told: Told) -> None:
    line = "echo 1 > first; /bin/true; echo 2 > second; /bin/false || echo 3 > third"
    shell(local, folder, line)
    at = told.lines.index
    assert at("wrote first") < at("run true") < at("wrote second") < at("run false")
    assert at("run true") < at("end true") < at("run false") < at("end false")
    assert at("run false") < at("wrote third")


def test_a_file_that_is_gone_for_one_program_was_gone(
    local: Local, folder: Path, told: Told
) -> None:
    shell(local, folder, "mv src /tmp/away.$$; /bin/true; mv /tmp/away.$$ src")
    lines = [line for line in told.lines if line.split()[1] != "sh"]
    assert lines.index("gone src") < lines.index("run true") < lines.index("wrote src/a.py")


@pytest.mark.parametrize(
    "steps",
    [
        "made = open('src/a.py', 'w'); rest(); made.write('two\\n')",
        "os.remove('src/a.py'); rest(); open('src/a.py', 'w').write('two\\n')",
        "os.rename('src', 'away'); rest(); os.rename('away', 'src'); edit()",
    ],
)
def test_what_a_program_has_half_done_is_not_told(
    local: Local, folder: Path, told: Told, steps: str
) -> None:
    """git removes a file before it writes it anew: how much of that is seen would be chance."""
    program = folder / "cache/program.py"
    program.write_text(
        "import os, time\n"
        "def rest(): time.sleep(0.2)\n"
        "def edit(): open('src/a.py', 'w').write('two\\n')\n"
        f"{steps}\n"
    )
    shell(local, folder, f"{sys.executable} cache/program.py; true")
    two = hashlib.sha256(b"two\n").hexdigest()
    one = hashlib.sha256(b"one\n").hexdigest()
    digests = [touch.digest for touch in told.touches if touch.path.endswith(b"/src/a.py")]
    assert set(digests) <= {one, two}
    assert digests[-1] == two
    assert told.lines.index("wrote src/a.py") < told.lines.index(f"end {Path(sys.executable).name}")


def test_reading_is_told_of_what_was_named_and_of_nothing_else(
    local: Local, folder: Path, told: Told
) -> None:
    shell(local, folder, "cat src/a.py")
    assert told.take() == []
    shell(local, folder, "cat notes.md")
    assert told.take() == ["read notes.md"]
    shell(local, folder, "head -c 0 notes.md; test -f notes.md; stat notes.md")
    assert told.take() == []
    shell(local, folder, "sed -i s/read/write/ notes.md")
    assert told.take()[-1] == "wrote notes.md"
    local.supervisor.settle()
    assert told.take() == [], "the supervisor's own reading is nobody's"
    shell(local, folder, "grep -q write notes.md")
    assert told.take() == ["read notes.md"]


def test_what_is_left_out_is_not_told(local: Local, folder: Path, told: Told) -> None:
    shell(local, folder, "echo x > cache/y; mkdir -p src/dust; echo x > src/dust/y; echo x > dust")
    assert told.take() == []


def test_a_file_of_the_harness_is_told_too(local: Local, folder: Path, told: Told) -> None:
    local.supervisor.write(f"{folder}/src/a.py", b"two\n", user=SELF)
    local.supervisor.remove(f"{folder}/notes.md", user=SELF)
    local.supervisor.settle()
    assert {"wrote src/a.py", "gone notes.md"} <= set(told.take())
    (touch,) = [each for each in told.touches if each.path.endswith(b"a.py") and each.head]
    assert touch.head == b"two\n"
    assert stat.S_ISREG(touch.mode)


def test_new_folders_are_followed_as_deep_as_they_go(
    local: Local, folder: Path, told: Told
) -> None:
    shell(local, folder, "mkdir -p a/b/c/d && echo x > a/b/c/d/e && cp -r a z")
    assert {"wrote a/b/c/d/e", "wrote z/b/c/d/e"} <= set(told.take())
    shell(local, folder, "echo y > a/b/c/d/e")
    assert told.take() == ["wrote a/b/c/d/e"]


def test_a_link_is_told_by_where_it_points(local: Local, folder: Path, told: Told) -> None:
    shell(local, folder, "ln -s src/a.py link")
    (touch,) = told.touches
    assert stat.S_ISLNK(touch.mode)
    assert touch.digest == hashlib.sha256(b"src/a.py").hexdigest()


def actual(folder: Path) -> dict[str, str]:
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.slow
def test_a_storm_of_renames_ends_with_what_is_there(local: Local, folder: Path, told: Told) -> None:
    line = """
    i=0; while [ $i -lt 300 ]; do
      mkdir -p s$i/x; echo $i > s$i/x/f; mv s$i t$i; mv t$i/x u$i; rmdir t$i; i=$((i+1))
    done; mv src lib; mkdir src; mv lib/a.py src/a.py; rmdir lib
    """
    shell(local, folder, line)
    state = told.state()
    expected = actual(folder)
    expected.pop(f"{folder}/notes.md")
    assert state == expected
    assert "lost" not in told.take()


def test_a_folder_that_is_moved_while_it_is_filled_is_known_in_the_end(
    local: Local, folder: Path, told: Told
) -> None:
    line = """
    exec 2>/dev/null
    (i=0; while [ $i -lt 200 ]; do mkdir -p p/q && echo $i > p/q/f$i; i=$((i+1)); done) &
    i=0; while [ $i -lt 50 ]; do mv p r$i; i=$((i+1)); done; wait; true
    """
    shell(local, folder, line)
    expected = actual(folder)
    known = told.state()
    assert {path for path in expected if "/q/" in path} <= known.keys()
    assert all(known[path] == digest for path, digest in expected.items() if path in known)


@pytest.mark.parametrize(
    "line",
    [
        "mv ../tree ../away; cp -a ../away ../tree",
        "cp -a ../tree ../x; rm -r ../tree; mv ../x ../tree",
    ],
)
def test_a_root_that_another_stands_in_for_is_said(
    local: Local, folder: Path, told: Told, line: str
) -> None:
    shell(local, folder, line.replace("../tree", str(folder)))
    assert "lost" in told.take()


def test_a_queue_that_overflows_is_said(local: Local, folder: Path, told: Told) -> None:
    """While the supervisor is stopped nobody empties the kernel's queue."""
    limit = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    local.process.send_signal(signal.SIGSTOP)
    try:
        for number in range(limit + 10):
            path = folder / f"x{number % 7}"
            path.unlink() if path.exists() else os.mkfifo(path)
    finally:
        local.process.send_signal(signal.SIGCONT)
    local.supervisor.settle()
    assert "lost" in told.take()
    shell(local, folder, "echo two > src/a.py")
    assert "wrote src/a.py" in told.take(), "and it goes on"


@pytest.mark.slow
def test_many_files_of_one_program_are_all_told(local: Local, folder: Path, told: Told) -> None:
    """Nothing begins or ends meanwhile; more is touched than could be told at once.

    And no more than the kernel's queue holds (two of 16,384 for each file), however busy all are.
    """
    program = folder / "cache/program.py"
    program.write_text(
        "import os\n"
        "for number in range(7500):\n"
        "    os.close(os.open(f'src/{number:05}' + 'x' * 200, os.O_CREAT | os.O_WRONLY))\n"
    )
    shell(local, folder, f"{sys.executable} cache/program.py; true")
    assert "lost" not in told.take()
    assert len(told.state()) == 7500


@pytest.mark.thorough
def test_more_folders_than_are_watched_are_said(local: Local, tmp_path: Path) -> None:
    top = tmp_path / "wide"
    for number in range(260):
        (top / str(number)).mkdir(parents=True)
        for inner in range(256):
            (top / str(number) / str(inner)).mkdir()
    observer = Told(top)
    local.supervisor.on_exec(observer)
    local.supervisor.watch(WatchedFiles([str(top)]))
    local.supervisor.settle()
    assert observer.take() == ["lost"]
    (top / "new").write_text("x")
    local.supervisor.settle()
    assert "wrote new" in observer.take()
    shutil.rmtree(top)
    local.supervisor.settle()


MANY_FOLDERS = """
import os
for number in range(316):
    os.mkdir(f"src/{number}")
    for other in range(316):
        os.mkdir(f"src/{number}/{other}")
os.close(os.open("src/315/315/last", os.O_CREAT | os.O_WRONLY))
"""


@pytest.mark.thorough
def test_a_hundred_thousand_folders_are_followed_or_it_is_said(
    local: Local, folder: Path, told: Told
) -> None:
    """All at once, quicker than they can be watched; what is known of them stays bounded."""
    program = folder / "cache/program.py"
    program.write_text(MANY_FOLDERS)
    shell(local, folder, f"{sys.executable} cache/program.py; true")
    assert (folder / "src/315/315/last").exists()
    assert f"{folder}/src/315/315/last" in told.state() or "lost" in told.take()
    told.take()
    shell(local, folder, "echo two > src/a.py; mv src/7 src/8/moved; rm -r src/9")
    assert "wrote src/a.py" in told.take(), "and it goes on"
    peak = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{local.process.pid}/status").read_text())
    assert peak is not None
    assert int(peak[1]) << 10 < 64 << 20


def test_a_million_openings_are_no_event(local: Local, folder: Path, told: Told) -> None:
    line = "i=0; while [ $i -lt 100000 ]; do : < src/a.py; i=$((i+1)); done"
    shell(local, folder, line)
    assert told.take() == []


def test_a_second_watch_is_refused(local: Local, folder: Path, told: Told) -> None:
    del told
    with pytest.raises(OSError, match="busy"):
        local.supervisor.watch(WatchedFiles([str(folder)]))
