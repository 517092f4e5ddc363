import contextlib
import secrets
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from docker.errors import APIError

from sandbox.container.engines.base import (
    AGENT_FILES,
    RESERVED,
    Engine,
    Session,
    SessionSpec,
)
from sandbox.container.engines.creation import SUPERVISOR
from sandbox.container.engines.docker_engine import DockerEngine
from sandbox.model.errors import SessionLostError, UsageError
from sandbox.model.session import Command
from tests.sandbox.container.engines.conformance import Conformance
from tests.sandbox.container.engines.conftest import TAG
from tests.sandbox.container.engines.containment import Containment, left, marked, run

pytestmark = pytest.mark.engine


@pytest.fixture(params=["attach", "socket"])
def engine(
    docker: Engine, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> DockerEngine:
    monkeypatch.setenv("SANDBOX_TRANSPORT", request.param)
    assert isinstance(docker, DockerEngine)
    return docker


@pytest.fixture
def session(engine: DockerEngine) -> Iterator[Session]:
    with engine.start(SessionSpec(TAG)) as session:
        yield session


@pytest.fixture
def mark() -> str:
    return secrets.token_hex(8)


class TestDocker(Conformance, Containment):
    image = TAG

    @pytest.fixture
    def engine(self, engine: DockerEngine) -> Engine:
        return engine


def test_a_killed_container_is_reported_as_killed(engine: DockerEngine) -> None:
    with engine.start(SessionSpec(TAG)) as session:
        process = session.start(Command(("/bin/sleep", "600")))
        engine._client.kill(session.container)
        with pytest.raises(SessionLostError, match="was killed"):
            process.wait(30)


@pytest.mark.slow
def test_a_kept_container_that_is_paused_is_stopped_too(engine: DockerEngine, mark: str) -> None:
    session = engine.start(marked(mark, keep=True))
    try:
        engine._client.pause(session.container)
        session.close()
        assert left(engine, mark) == [False]
    finally:
        engine.remove_container(session.container)


def test_a_supervisor_that_dies_at_once_keeps_no_container(
    engine: DockerEngine, mark: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "supervisor"
    broken.write_text("#!/bin/cat\n")
    broken.chmod(0o755)
    monkeypatch.setattr(
        "sandbox.container.supervisor.compiler.binary", lambda _architecture: broken
    )
    monkeypatch.setattr(engine, "_socket_works", True)
    with pytest.raises(SessionLostError, match=r"ended with status 1.* said: .*stdio"):
        engine.start(marked(mark))
    assert left(engine, mark) == []


@pytest.mark.parametrize("step", ["create_container_from_config", "start"])
@pytest.mark.parametrize("moment", ["before", "after"])
def test_an_interrupted_start_keeps_no_container(
    engine: DockerEngine, mark: str, step: str, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real: Callable[..., object] = getattr(engine._client, step)

    def interrupted(*arguments: object) -> object:
        if moment == "before":
            signal.raise_signal(signal.SIGINT)
        answer = real(*arguments)
        signal.raise_signal(signal.SIGINT)
        return answer

    monkeypatch.setattr(engine._client, step, interrupted)
    with pytest.raises(KeyboardInterrupt):
        engine.start(marked(mark))
    assert left(engine, mark) == []


def test_a_container_that_ends_as_it_is_to_be_killed_is_removed(
    engine: DockerEngine, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = engine.start(marked(mark))
    remove, kill = engine._client.remove_container, engine._client.kill

    def ends_meanwhile(name: str, **options: bool) -> None:
        monkeypatch.setattr(engine._client, "remove_container", remove)
        with contextlib.suppress(APIError):  # it may have ended already
            kill(name)
        engine._client.wait(name, timeout=30)
        raise APIError("Could not kill running container, cannot remove: it is not running")

    monkeypatch.setattr(engine._client, "remove_container", ends_meanwhile)
    session.close()
    assert left(engine, mark) == []


def test_the_supervisor_is_uploaded_where_no_files_are_shared(
    engine: DockerEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(engine.__dict__, "_mounts", False)
    with engine.start(SessionSpec(TAG)) as session:
        assert run(session, "true").exit_code == 0
        assert run(session, f"echo x > {SUPERVISOR}").exit_code != 0
        assert session.read("/etc/hosts").startswith(b"127.0.0.1\tlocalhost")


def test_an_agents_files_are_copied_where_no_files_are_shared(
    engine: DockerEngine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(engine.__dict__, "_mounts", False)
    tmp_path.chmod(0o755)
    (tmp_path / "tool").write_text("#!/bin/sh\necho here\n")
    (tmp_path / "tool").chmod(0o777)
    with engine.start(SessionSpec(TAG, files=tmp_path)) as session:
        assert run(session, f"{AGENT_FILES}/tool").stdout == b"here\n"
        for line in ("echo x > tool", "echo x > new", "rm tool"):
            assert run(session, f"cd {AGENT_FILES} && {line}").exit_code != 0, line
        assert not [
            path
            for path in session.manifest(["/"], excluding=[RESERVED])
            if path.endswith(b"/tool")
        ]


def test_an_unknown_transport_is_refused(docker: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDBOX_TRANSPORT", "pigeon")
    with pytest.raises(UsageError, match="pigeon"):
        docker.start(SessionSpec(TAG))
