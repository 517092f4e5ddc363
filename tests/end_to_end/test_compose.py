"""docker-compose.yml for real: an engine in a container, and a run from nothing."""

import json
import secrets
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.container.engines.base import Engine
from sandbox.tasks.images import base
from tests.end_to_end.commands import TASK
from tests.end_to_end.composed import SECONDS, Composed, program

pytestmark = [pytest.mark.engine, pytest.mark.thorough, pytest.mark.whole]


def _bridges() -> list[str]:
    return [name for name in ("docker0", "sandbox0") if Path("/sys/class/net", name).exists()]


@pytest.fixture(scope="module")
def compose(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Composed]:
    folder = tmp_path_factory.mktemp("compose")
    name = f"sandbox-test-{secrets.token_hex(4)}"
    made = Composed(program(folder), name, folder / "override.yml", base.recipe().tag)
    made.prepare()
    try:
        bridges = _bridges()
        built = made("build")
        assert built.returncode == 0, built.stderr
        yield made
    finally:
        ended = made("down", "--volumes", "--timeout", "5")
        assert ended.returncode == 0, ended.stderr
        assert made.left() == []
        assert _bridges() == bridges, "those of the host are as they were"


def test_up_says_what_is_there(compose: Composed) -> None:
    up = compose("up", "--exit-code-from", "sandbox")
    assert up.returncode == 0, up.stdout + up.stderr
    assert "unix:///run/sandbox/docker.sock" in up.stdout


def test_a_run_from_nothing_passes_and_is_kept(compose: Composed) -> None:
    ran = compose("run", "--rm", "sandbox", "run", TASK, "--agent", "oracle")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "verdict: passed" in ran.stdout
    shown = compose("run", "--rm", "sandbox", "diff", "last")
    assert "inflection/__init__.py" in shown.stdout


def test_the_engine_is_its_own_and_comes_back_after_it_was_killed(
    compose: Composed, engine: Engine
) -> None:
    label = f"com.docker.compose.project={compose.name}"
    before = {each.id for each in engine.containers(label)}
    assert compose("kill", "--signal", "KILL", "engine").returncode == 0
    again = compose("run", "--rm", "sandbox", "run", TASK, "--agent", "null")
    assert again.returncode == 1, again.stdout + again.stderr
    assert "verdict: failed" in again.stdout
    after = {each.id for each in engine.containers(label)}
    assert after == before, "what it runs are no containers of the host's engine"


def test_workers_share_what_is_planned(compose: Composed) -> None:
    run = ("run", "--rm", "sandbox")
    words = ("run", TASK, "--agent", "null", "--trials", "6", "--experiment", "shared")
    planned = compose(*run, *words, "--jobs", "0")
    assert planned.returncode == 0, planned.stderr
    up = compose("up", "--detach", "--scale", "worker=2", "worker")
    assert up.returncode == 0, up.stderr
    deadline = time.monotonic() + SECONDS
    verdicts: list[object] = []
    while verdicts != ["failed"] * 6:
        assert time.monotonic() < deadline, verdicts
        listed = compose(*run, "runs", "--experiment", "shared", "--json")
        verdicts = [each["verdict"] for each in json.loads(listed.stdout)]
    told = compose("logs", "--no-log-prefix", "worker").stdout
    assert told.count("6 runs: 6 failed") == 2, "each tells of the whole when it is over"
    assert compose("stop", "worker").returncode == 0


def test_errors_and_exit_codes_come_through(compose: Composed) -> None:
    ended = compose("run", "--rm", "sandbox", "run", "humanize/file-size", "--agent", "null")
    assert ended.returncode == 2
    assert "humanize/file-size" in ended.stderr
