"""The native engine keeps the contract of every engine, and holds an agent as Docker does."""

import os
import re
import secrets
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from glob import glob
from pathlib import Path

import pytest

from sandbox.container import engines
from sandbox.container.engines.base import Engine, SessionSpec
from sandbox.container.engines.native import crun, mounting, profile
from sandbox.container.engines.native.engine import NativeEngine
from sandbox.container.engines.native.store import StoredImage
from sandbox.model.errors import EngineError, SessionLostError, UsageError
from sandbox.model.session import Command
from tests.sandbox.container.engines.conformance import Conformance
from tests.sandbox.container.engines.conftest import TAG
from tests.sandbox.container.engines.containment import ABANDON, Containment, left, marked, run

pytestmark = pytest.mark.engine

MANY = 16


@pytest.fixture
def engine(native: Engine, monkeypatch: pytest.MonkeyPatch) -> NativeEngine:
    monkeypatch.setenv("SANDBOX_ENGINE", "native")  # for the processes that tests start
    assert isinstance(native, NativeEngine)
    return native


@pytest.fixture
def mark(monkeypatch: pytest.MonkeyPatch) -> str:
    """What the names of containers that this test starts hold, and their label."""
    real, own = secrets.token_hex, secrets.token_hex(4)
    monkeypatch.setattr(secrets, "token_hex", lambda size=None: f"{own}{real(size)}")
    return own


def traces(mark: str) -> list[str]:
    """What a test's containers leave on a host as long as they are there."""
    # Not Path.glob, which fails where another test's container ends meanwhile.
    groups = glob(f"/sys/fs/cgroup/**/*{mark}*", recursive=True)  # noqa: PTH207
    mounts = [line for line in Path("/proc/self/mounts").read_text().splitlines() if mark in line]
    states = [str(each) for each in crun.state().glob(f"*{mark}*")]
    return groups + mounts + states


class TestNative(Conformance, Containment):
    image = TAG

    @pytest.fixture
    def engine(self, engine: NativeEngine) -> Engine:
        return engine


def test_many_at_once_leave_nothing(engine: NativeEngine, mark: str) -> None:

    def work(number: int) -> bytes:
        with engine.start(marked(mark)) as session:
            return run(session, f"echo {number}").stdout

    with ThreadPoolExecutor(MANY) as threads:
        printed = list(threads.map(work, range(MANY)))
        with engine.start(marked(mark)):
            assert len(traces(mark)) > 1
    assert printed == [f"{number}\n".encode() for number in range(MANY)]
    assert traces(mark) == []


@pytest.mark.parametrize("known", [False, True])
def test_the_filter_of_system_calls_holds_whoever_made_it(
    engine: NativeEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, known: bool
) -> None:
    """The first container's filter is made by crun, the next one's is that of the first."""
    monkeypatch.setattr(engine, "_filters", profile.Filters(tmp_path / "filters"))
    for number in range(2 if known else 1):
        with engine.start(SessionSpec(TAG)) as session:
            status = session.read("/proc/1/status").decode()
            fields = dict(re.findall(r"^(\w+):[ \t]*(.*)$", status, re.MULTILINE))
            assert fields["Seccomp"] == "2", number
            assert fields["NoNewPrivs"] == "1"
    (kept,) = (tmp_path / "filters").iterdir()
    assert kept.stat().st_size % 8 == 0
    assert kept.stat().st_size > 1000


def test_an_interrupt_while_it_starts_leaves_nothing(
    engine: NativeEngine, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = crun.start

    def interrupted(*arguments: object) -> object:
        signal.raise_signal(signal.SIGINT)
        answer = real(*arguments)  # type: ignore[arg-type]
        signal.raise_signal(signal.SIGINT)
        return answer

    monkeypatch.setattr(crun, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        engine.start(marked(mark))
    assert left(engine, mark) == []
    assert traces(mark) == []


def test_a_container_whose_harness_was_killed_is_removed_by_another(
    engine: NativeEngine, mark: str
) -> None:
    subprocess.run([sys.executable, "-c", ABANDON, TAG, mark, "killed"], check=True)
    other = NativeEngine.connect()
    (container,) = other.containers(f"sandbox.run={mark}")
    other.remove_container(container.id)
    assert left(other, mark) == []
    assert traces(container.id) == []


@pytest.mark.parametrize("victim", ["crun", "first process"])
def test_a_session_whose_container_is_killed_is_lost(
    engine: NativeEngine, mark: str, victim: str
) -> None:
    with engine.start(marked(mark)) as session:
        process = session.start(Command(("/bin/sleep", "600")))
        running = engine._running[session.container]
        assert running.first is not None
        os.kill(running.process.pid if victim == "crun" else running.first, signal.SIGKILL)
        if victim == "crun":
            # The container outlives it, and is removed all the same.
            assert run(session, "true").exit_code == 0
        else:
            with pytest.raises(SessionLostError, match="was killed"):
                process.wait(30)
    assert left(engine, mark) == []
    end = time.monotonic() + 10
    while traces(mark) and time.monotonic() < end:
        time.sleep(0.05)
    assert traces(mark) == []


def test_a_container_whose_supervisor_has_not_come_has_not_begun(
    engine: NativeEngine, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`sandbox gc` leaves such a one alone for a while: another process is about to use it."""
    seen = []
    real = crun.start

    def watched(*arguments: object) -> object:
        seen.extend(engine.containers(f"sandbox.run={mark}"))
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(crun, "start", watched)
    with engine.start(marked(mark)):
        (after,) = engine.containers(f"sandbox.run={mark}")
    assert [(each.begun, each.running) for each in seen] == [(False, False)]
    assert (after.begun, after.running) == (True, True)


def test_a_container_runs_before_crun_has_written_so(
    engine: NativeEngine, mark: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Who asks in between would take it for one that has stopped, and `sandbox gc` away."""
    with engine.start(marked(mark)):
        monkeypatch.setattr(crun, "state", lambda: tmp_path)
        assert [each.running for each in engine.containers(f"sandbox.run={mark}")] == [True]
        monkeypatch.undo()


def test_removing_a_container_ends_its_session(engine: NativeEngine, mark: str) -> None:
    session = engine.start(marked(mark))
    process = session.start(Command(("/bin/sleep", "600")))
    engine.remove_container(session.container)
    with pytest.raises(SessionLostError, match="removed by someone else"):
        process.wait(30)
    session.close()


def test_a_layer_that_comes_twice_is_laid_once(engine: NativeEngine) -> None:
    image = engine._store.find(TAG)
    assert image is not None
    twice = StoredImage(**{**image.model_dump(), "id": f"sha256:{'0' * 64}"}).model_copy(
        update={"layers": image.layers * 2}
    )
    engine._store.add(twice, ("sandbox-test-twice:1",))
    try:
        with engine.start(SessionSpec("sandbox-test-twice:1")) as session:
            assert session.read("/tree/file") == b"one\ntwo\nthree\n"
    finally:
        engine.remove_image("sandbox-test-twice:1")


def test_more_layers_than_a_mount_can_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="image of 500 layers"):
        mounting.overlay([tmp_path / str(number) for number in range(500)], tmp_path)


def test_threads_that_start_one_keep_their_own_view(engine: NativeEngine) -> None:
    """Only the thread that mounts leaves the process's name space."""
    mine = Path("/proc/thread-self/ns/mnt").readlink()
    seen: list[Path] = []

    def work() -> None:
        with engine.start(SessionSpec(TAG)):
            seen.append(Path("/proc/thread-self/ns/mnt").readlink())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert [mine, Path("/proc/thread-self/ns/mnt").readlink()] == [*seen, mine]


def test_it_is_refused_where_it_cannot_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SANDBOX_ENGINE", "native")
    with monkeypatch.context() as patch:
        patch.setattr(os, "geteuid", lambda: 1000)
        with pytest.raises(EngineError, match="root"):
            engines.connect()
    with monkeypatch.context() as patch:
        patch.setenv("PATH", str(tmp_path))
        with pytest.raises(EngineError, match="crun, tar, which this machine lacks") as caught:
            engines.connect()
        assert "doctor --mend" in str(caught.value.next_step)
    for variable, choice in (("SANDBOX_RUNTIME", "runsc"), ("SANDBOX_TRANSPORT", "attach")):
        with monkeypatch.context() as patch:
            patch.setenv(variable, choice)
            with pytest.raises(UsageError, match=f"{variable} is '{choice}'"):
                engines.connect()
    monkeypatch.setenv("SANDBOX_ENGINE", "pigeon")
    with pytest.raises(UsageError, match="pigeon"):
        engines.connect()
