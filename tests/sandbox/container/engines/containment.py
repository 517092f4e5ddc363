"""What every engine that runs real containers owes: an agent is held, and nothing is left behind.

A subclass gives `engine`, which holds the image TAG.
"""

import re
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.container.engines.base import (
    AGENT_FILES,
    CREATED,
    RESERVED,
    Engine,
    Limits,
    Session,
    SessionSpec,
)
from sandbox.container.engines.creation import CONTROL, SUPERVISOR
from sandbox.model.errors import EngineError
from sandbox.model.session import AGENT, ROOT, Command, Completed, User
from tests.sandbox.container.engines.conformance import shell
from tests.sandbox.container.engines.conftest import TAG

CAPABILITY_BITS = {"CHOWN": 0, "DAC_OVERRIDE": 1, "FOWNER": 3, "KILL": 5, "SETGID": 6, "SETUID": 7}
MEBIBYTE = 1 << 20

ABANDON = """
import os, sys
from sandbox.container.engines import connect
from sandbox.container.engines.base import SessionSpec
session = connect().start(SessionSpec(sys.argv[1], labels={"sandbox.run": sys.argv[2]}))
print("started", flush=True)
if sys.argv[3] == "killed":
    os._exit(0)
"""


def left(engine: Engine, mark: str) -> list[bool]:
    """Of each container with this mark: whether it runs."""
    return [each.running for each in engine.containers(f"sandbox.run={mark}")]


def marked(
    mark: str, image: str = TAG, limits: Limits | None = None, *, keep: bool = False
) -> SessionSpec:
    return SessionSpec(image, labels={"sandbox.run": mark}, limits=limits or Limits(), keep=keep)


def run(session: Session, line: str, user: User = AGENT) -> Completed:
    return session.run(Command(shell(line), environment={"PATH": "/bin"}, user=user))


class Containment:
    @pytest.fixture
    def engine(self) -> Engine:
        raise NotImplementedError

    @pytest.fixture
    def session(self, engine: Engine) -> Iterator[Session]:
        with engine.start(SessionSpec(TAG)) as session:
            yield session

    @pytest.fixture
    def mark(self) -> str:
        return secrets.token_hex(8)

    def test_a_command_of_the_agent_has_no_rights(self, session: Session) -> None:
        status = run(session, "cat /proc/self/status").stdout.decode()
        fields = dict(re.findall(r"^(\w+):[ \t]*(.*)$", status, re.MULTILINE))
        assert fields["Uid"].split() == ["10001"] * 4
        assert fields["Gid"].split() == ["10001"] * 4
        assert fields["Groups"].split() in ([], ["10001"])
        assert fields["NoNewPrivs"] == "1"
        assert [int(fields[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")] == [
            0
        ] * 4
        allowed = sum(1 << bit for bit in CAPABILITY_BITS.values())
        assert int(fields["CapBnd"], 16) & ~allowed == 0

    def test_there_is_no_network_but_the_loopback(self, session: Session) -> None:
        assert run(session, "ls /sys/class/net").stdout.split() == [b"lo"]
        assert int(session.read("/sys/class/net/lo/flags"), 16) & 1, "the loopback is down"
        assert session.read("/etc/hosts") == b"127.0.0.1\tlocalhost sandbox\n::1\tlocalhost\n"
        mine = f"net:[{Path('/proc/self/ns/net').stat().st_ino}]"
        assert run(session, "ls -l /proc/self/ns/net").stdout.decode().split()[-1] != mine

    @pytest.mark.parametrize(
        "line",
        [
            "kill -9 1",
            "kill -STOP 1",
            "cat /proc/1/environ",
            "cat /proc/1/mem",
            "cat /proc/1/maps",
            "ls /proc/1/fd/",
            "ls /proc/1/root/",
            f"echo x > {SUPERVISOR}",
            f"rm -f {SUPERVISOR}",
            f"ls {CONTROL}/",
        ],
    )
    def test_the_supervisor_is_out_of_the_agents_reach(self, session: Session, line: str) -> None:
        done = run(session, line)
        assert done.exit_code not in (0, None), done
        assert done.stdout == b""
        assert run(session, "true").exit_code == 0

    def test_not_even_root_changes_the_supervisor(self, session: Session) -> None:
        assert run(session, f"echo x > {SUPERVISOR}", ROOT).exit_code != 0
        assert run(session, f"ls {CONTROL}/", ROOT).stdout == b""

    def test_the_engine_gives_nothing_of_its_environment(
        self, engine: Engine, session: Session
    ) -> None:
        own = {b"container"} if engine.info().name == "podman" else set()
        environment = session.read("/proc/1/environ").split(b"\0")
        assert {each.partition(b"=")[0] for each in environment if each} <= {
            *(b"PATH", b"HOSTNAME", b"HOME"),
            *own,
        }

    def test_a_fork_bomb_is_survived(self, engine: Engine, mark: str) -> None:
        with engine.start(marked(mark, limits=Limits(processes=64))) as session:
            bomb = Command(
                shell("b() { b | b & }; b & exec sleep 600"), timeout=1, kill_survivors=True
            )
            assert session.run(bomb).timed_out
            session.kill_all()
            assert run(session, "true").exit_code == 0
            assert session.usage().processes == 0

    def test_eating_all_memory_is_reported(self, engine: Engine, mark: str) -> None:
        with engine.start(marked(mark, limits=Limits(memory_bytes=64 * MEBIBYTE))) as session:
            done = session.run(Command(("/bin/tail", "/dev/zero"), timeout=60))
            assert done.out_of_memory
            assert done.signal == signal.SIGKILL
            assert not done.timed_out
            assert run(session, "true").exit_code == 0

    def test_a_flood_of_output_arrives(self, session: Session) -> None:
        size = 100 * MEBIBYTE
        done = session.run(
            Command(("/bin/head", "-c", str(size), "/dev/zero"), stdout_limit=2 * size)
        )
        assert len(done.stdout) == done.stdout_bytes == size
        assert not done.stdout.strip(b"\0")

    def test_many_threads_share_a_session(self, session: Session) -> None:
        results: list[bytes] = []

        def work(number: int) -> None:
            results.extend(run(session, f"echo {number}").stdout for _ in range(10))

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(results) == [f"{number}\n".encode() for number in range(8) for _ in range(10)]

    def test_what_the_agent_writes_is_in_the_upper_directory(self, session: Session) -> None:
        overlay = session.overlay()
        if overlay is None:
            pytest.skip("the upper directory cannot be read on this engine")
        session.write("/tree/new", b"x")
        assert (overlay.upper / "tree/new").read_bytes() == b"x"
        assert any((layer / "tree/file").exists() for layer in overlay.lower)

    def test_every_container_says_when_it_was_made(self, engine: Engine, mark: str) -> None:
        before = int(time.time())
        with engine.start(marked(mark)):
            (made,) = engine.containers(f"sandbox.run={mark}")
        assert before <= int(made.labels[CREATED]) <= time.time() + 1

    def test_a_harness_that_ends_takes_its_containers_along(
        self, engine: Engine, mark: str
    ) -> None:
        subprocess.run([sys.executable, "-c", ABANDON, TAG, mark, "ends"], check=True)
        assert left(engine, mark) == []

    def test_a_harness_that_is_killed_leaves_nothing_running(
        self, engine: Engine, mark: str
    ) -> None:
        subprocess.run([sys.executable, "-c", ABANDON, TAG, mark, "killed"], check=True)
        (container,) = engine.containers(f"sandbox.run={mark}")
        end = time.monotonic() + 30
        while left(engine, mark) == [True] and time.monotonic() < end:
            time.sleep(0.05)
        assert left(engine, mark) == [False]
        engine.remove_container(container.id)
        assert left(engine, mark) == []

    def test_a_kept_container_is_stopped_when_its_session_is_closed(
        self, engine: Engine, mark: str
    ) -> None:
        session = engine.start(marked(mark, keep=True))
        try:
            session.close()
            assert left(engine, mark) == [False]
        finally:
            engine.remove_container(session.container)
        assert left(engine, mark) == []

    def test_an_engine_that_refuses_a_container_keeps_none(self, engine: Engine, mark: str) -> None:
        with pytest.raises(EngineError, match=r"memory|fail"):
            engine.start(marked(mark, limits=Limits(memory_bytes=1)))
        assert left(engine, mark) == []

    def test_an_agents_files_are_there_and_cannot_be_written(
        self, engine: Engine, tmp_path: Path
    ) -> None:
        (tmp_path / "bin").mkdir()
        (tmp_path / "bin" / "tool").write_text("#!/bin/sh\necho here\n")
        (tmp_path / "bin" / "tool").chmod(0o777)
        tmp_path.chmod(0o777)
        with engine.start(SessionSpec(TAG, files=tmp_path)) as session:
            assert run(session, f"{AGENT_FILES}/bin/tool").stdout == b"here\n"
            for line in ("echo x > bin/tool", "echo x > new", "rm -r bin", "mv bin other"):
                assert run(session, f"cd {AGENT_FILES} && {line}").exit_code != 0, line
            found = session.manifest(["/"], excluding=[RESERVED])
            assert not [path for path in found if path.endswith(b"/tool")]
        assert sorted(path.name for path in tmp_path.iterdir()) == ["bin"]
