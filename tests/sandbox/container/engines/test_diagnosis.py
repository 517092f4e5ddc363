import shutil
from typing import NamedTuple

import pytest

from sandbox.container.engines.diagnosis import GIBIBYTE, Check, State, examine


class Space(NamedTuple):
    total: int
    used: int
    free: int


def checks() -> dict[str, Check]:
    return {check.name: check for check in examine().checks}


@pytest.mark.slow
@pytest.mark.engine
def test_a_machine_with_an_engine_is_healthy() -> None:
    diagnosis = examine()
    found = {check.name: check for check in diagnosis.checks}
    assert State.BAD not in {check.state for check in diagnosis.checks}
    assert found["engine"].state is State.OK
    assert {"python", "storage driver", "change set", "control groups", "kernel"} <= found.keys()
    assert "exec" in found["processes seen"].found or found["processes seen"].mend
    assert {"disk: cache", "disk: runs", "git", "supervisor", "base images"} <= found.keys()


def test_without_an_engine_it_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere.sock")
    engine = checks()["engine"]
    assert engine.state is State.BAD
    assert "unix:///nowhere.sock" in engine.found
    assert "--mend" in engine.mend
    assert State.BAD in {check.state for check in examine().checks}


@pytest.mark.parametrize(
    ("free", "state"), [(9 * GIBIBYTE, State.OK), (3 * GIBIBYTE, State.WARN), (1000, State.BAD)]
)
def test_little_space_is_noticed(monkeypatch: pytest.MonkeyPatch, free: int, state: State) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere.sock")
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: Space(free, 0, free))
    assert checks()["disk: cache"].state is state
    assert bool(checks()["disk: runs"].mend) is (state is not State.OK)


def test_missing_git_is_bad(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere.sock")
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    assert checks()["git"].state is State.BAD
    assert checks()["base images"].state is State.WARN
