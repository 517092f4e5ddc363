"""Other runtimes, and an engine that is not root, keep the same contract, where installed."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.container.engines import connect
from sandbox.container.engines.base import Engine, SessionSpec
from sandbox.container.engines.docker_engine import DockerEngine
from sandbox.container.engines.runtimes import VARIABLE, Runtime
from sandbox.model.errors import EngineError, UsageError
from tests.sandbox.container.engines.conformance import Conformance
from tests.sandbox.container.engines.conftest import TAG
from tests.sandbox.container.engines.escape.probing import attempts

FACTS = {"Runtimes": {"runc": {}, "runsc": {}}, "DefaultRuntime": "runc"}
ROOTLESS = ("docker.sock", "podman/podman.sock")


def test_the_engines_own_runtime_is_taken_where_none_is_chosen() -> None:
    assert Runtime.of(FACTS) == Runtime("runc", chosen=False, rootless=False)
    for name in ("runc", "io.containerd.runc.v2", "kata"):
        assert Runtime(name, chosen=True, rootless=False).capabilities == ()


def test_one_that_is_chosen_is_taken_where_the_engine_has_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(VARIABLE, "runsc")
    found = Runtime.of(FACTS)
    assert (found.name, found.chosen) == ("runsc", True)
    assert not found.on_the_hosts_kernel
    assert not found.shows_upper
    assert found.capabilities == ("SYS_PTRACE",)
    monkeypatch.setenv(VARIABLE, "kata")
    with pytest.raises(UsageError, match="the engine has runc, runsc"):
        Runtime.of(FACTS)


def test_an_engine_that_is_not_root_shows_other_owners() -> None:
    found = Runtime.of(
        {**FACTS, "SecurityOptions": ["name=seccomp,profile=default", "name=rootless"]}
    )
    assert found.rootless
    assert found.on_the_hosts_kernel
    assert not found.shows_upper


def installed(engine: Engine, name: str) -> bool:
    assert isinstance(engine, DockerEngine)
    return name in engine._facts.get("Runtimes", {})


@pytest.mark.engine
@pytest.mark.parametrize("name", ["runc", "io.containerd.runc.v2"])
def test_a_container_runs_in_the_chosen_runtime(
    docker: Engine, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not installed(docker, name):
        pytest.skip(f"the engine has no runtime {name}")
    monkeypatch.setenv(VARIABLE, name)
    assert isinstance(docker, DockerEngine)
    with docker.start(SessionSpec(TAG)) as session:
        found = docker._client.inspect_container(session.container)
        assert found["HostConfig"]["Runtime"] == name
        assert (session.overlay() is not None) is (name == "runc")
        assert session.read("/tree/file")
    assert docker.info().runtime == name


@pytest.fixture(scope="module")
def rootless(root_archive: Path) -> Iterator[Engine]:
    folder = Path(os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}")
    sockets = [folder / name for name in ROOTLESS if (folder / name).is_socket()]
    if not sockets:
        pytest.skip(f"no engine that is not root listens below {folder}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DOCKER_HOST", f"unix://{sockets[0]}")
        try:
            engine = connect()
        except EngineError as error:
            pytest.skip(f"{sockets[0]} does not answer: {error.message}")
    engine.import_image(root_archive, tag=TAG, labels={"sandbox.test": "engines"})
    yield engine
    engine.remove_image(TAG)
    engine.close()


@pytest.mark.engine
class TestRootless(Conformance):
    """The whole contract with an engine that runs as a user."""

    image = TAG

    @pytest.fixture
    def engine(self, rootless: Engine) -> Engine:
        return rootless

    def test_nothing_leads_out(self, engine: Engine) -> None:
        with engine.start(SessionSpec(TAG)) as session:
            assert [each for each in attempts(session) if each.done] == []
