"""A flood of execs: sixty-four processes that do nothing but vfork and exec the smallest program.

Without interception it goes far beyond 5,000 execs a second on four processors. What is held goes
as fast as it is answered, for who floods waits too.
"""

import errno
import platform
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.container.engines.base import Engine, Limits, Session, SessionSpec
from sandbox.model import places
from sandbox.model.agent_environment import ENVIRONMENT
from sandbox.model.session import AGENT, Command, Exec, ExecOutcome, Interception
from sandbox.tasks import library
from sandbox.tasks.images import Images
from tests.sandbox.container.supervisor.watched import Recorder

pytestmark = pytest.mark.engine

WORKERS, EACH = 64, 100
OWN, TINY, EVIL = "/tmp/attacks", "/tmp/tiny", "/tmp/evil"
SLACK = 512
"""Pages by which PID 1 may have grown: 2 MiB, which its queue towards the host has."""


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = f"{platform.machine()}-linux-musl"
    built = tmp_path_factory.mktemp("tiny") / "tiny"
    zig = [sys.executable, "-m", "ziglang", "cc", "-target", target, "-static", "-nostdlib", "-O1"]
    subprocess.run([*zig, "-o", built, Path(__file__).with_name("tiny.c")], check=True)
    return built


@pytest.fixture(params=["exec", "ptrace"])
def session(
    engine: Engine, attacks: Path, tiny: Path, request: pytest.FixtureRequest
) -> Iterator[Session]:
    task = library.load("humanize/file-sizes")
    image = Images(engine, places.cache()).ensure(task, lambda _: None)
    limits = Limits(memory_bytes=512 << 20, processes=256, cpus=4)
    spec = SessionSpec(image.tag, limits=limits, interception=request.param)
    with engine.start(spec) as session:
        if session.greeting.coverage("hold") != request.param:
            pytest.skip(f"this kernel has no {request.param}")
        for path, program in ((OWN, attacks), (EVIL, attacks), (TINY, tiny)):
            session.write(path, program.read_bytes(), mode=0o755, user=AGENT)
        yield session


def decide(seen: Exec) -> int:
    return errno.EACCES if seen.resolved == EVIL.encode() else 0


def pages(session: Session) -> int:
    return int(session.read("/proc/1/statm").split()[1])


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("how", ["hold", "log"])
def test_a_flood_runs_nothing_unapproved_and_loses_nothing(
    session: Session, how: Interception
) -> None:
    session.on_exec(recorder := Recorder(decide))  # which fails where sight is lost
    argv = (OWN, "flood", TINY, str(WORKERS * EACH), str(WORKERS), EVIL)
    before = pages(session)
    done = session.run(
        Command(argv, cwd="/tmp", environment=ENVIRONMENT, interception=how, timeout=120)
    )
    assert (done.exit_code, done.timed_out) == (0, False)
    assert recorder.names.count("tiny") == WORKERS * EACH * 9 // 10
    assert recorder.names.count("evil") == WORKERS * EACH // 10
    assert recorder.untold == 0
    numbers = [each.number for each in recorder.all]
    assert numbers == sorted(set(numbers))
    assert set(numbers) == recorder.ends.keys()
    outcomes = {recorder.ends[each.number].outcome for each in recorder.all if decide(each)}
    ran = "evil.mark" in {entry.path.decode() for entry in session.list("/tmp")}
    assert outcomes == {ExecOutcome.REFUSED if how == "hold" else ExecOutcome.EXITED}
    assert ran == (how == "log")
    assert pages(session) <= before + SLACK
    assert session.usage().processes == 0
    assert session.run(Command(("/bin/true",), environment=ENVIRONMENT)).exit_code == 0
