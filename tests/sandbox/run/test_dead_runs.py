"""A run always ends in its folder, also one whose process was killed."""

import subprocess
import sys
from pathlib import Path

import pytest

from sandbox.model.grade import RunGrade
from sandbox.model.store import Store
from sandbox.model.verdict import Verdict
from sandbox.run.dead_runs import KILLED, bury, sweep
from tests.sandbox.model.test_store import record

DIES = """
import os, signal, sys
from pathlib import Path
from sandbox.model.store import Store
from tests.sandbox.model.test_store import record
folder = Store(Path(sys.argv[1])).create(record("aaaa1111-x"))
print(folder.is_live, flush=True)
{how}
"""


def begun(root: Path, how: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-c", DIES.format(how=how), str(root)],
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[3],
    )


def test_a_killed_run_is_noted_as_an_error_by_whoever_comes_next(tmp_path: Path) -> None:
    with begun(tmp_path, "os.kill(os.getpid(), signal.SIGKILL)") as process:
        process.communicate()
    store = Store(tmp_path)
    left = tmp_path / "aaaa1111-x" / ".run.json.0123abcd"
    left.touch()
    assert bury(store.folders()) == ["aaaa1111-x"]
    assert not left.exists()
    folder = store.find("last")
    assert (folder.record().verdict, folder.record().problem) == (Verdict.ERROR, KILLED)
    assert folder.record().ended is not None
    assert folder.load(folder.grade, RunGrade).verdict is Verdict.ERROR
    assert not folder.objection(folder.record())
    assert bury(store.folders()) == []


def test_a_run_that_goes_on_elsewhere_is_left_alone(tmp_path: Path) -> None:
    with begun(tmp_path, "sys.stdin.read(); signal.pause()") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"True\n"
        store = Store(tmp_path)
        assert store.find("last").is_live
        assert bury(store.folders()) == []
        process.kill()
        process.communicate()
    assert bury(store.folders()) == ["aaaa1111-x"]


def test_a_run_of_this_process_is_live_until_it_is_let_go(tmp_path: Path) -> None:
    store = Store(tmp_path)
    folder = store.create(record("bbbb2222-x"))
    assert bury(store.folders()) == []
    folder.let_go()
    assert [path.name for path in folder.path.iterdir() if path.name == ".live"] == []
    assert bury(store.folders()) == ["bbbb2222-x"]


def test_a_folder_that_cannot_be_read_stops_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for name in ("aaaa1111-x", "bbbb2222-x"):
        store.create(record(name)).let_go()
    (tmp_path / "aaaa1111-x" / "run.json").write_text("no record")
    assert bury(store.folders()) == ["bbbb2222-x"]


@pytest.mark.parametrize("name", ["calls"])
def test_an_open_session_is_left_to_its_own_end(tmp_path: Path, name: str) -> None:
    store = Store(tmp_path)
    folder = store.create(record("aaaa1111-x"))
    folder.let_go()
    (folder.path / name).touch()
    assert bury(store.folders()) == []


def test_a_folder_that_was_never_begun_is_swept_and_others_stay(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.create(record("aaaa1111-x")).let_go()
    (tmp_path / "bbbb1111-x").mkdir()
    (tmp_path / "bbbb1111-x/.live").touch()
    sweep(store)
    assert {path.name for path in tmp_path.iterdir() if path.is_dir()} == {"aaaa1111-x"}
