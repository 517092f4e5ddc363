"""Bad input, and machinery that fails: a clear error, the run recorded, no container left."""

import os
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from sandbox.container.engines.base import MANAGED, Engine
from sandbox.model import places
from sandbox.model.store import Store
from sandbox.run.run_containers import RUN
from sandbox.tasks.library import load
from sandbox.tasks.sources import Sources
from tests.end_to_end import commands, scripts
from tests.end_to_end.begun import Begun
from tests.end_to_end.commands import (
    HUMANIZE,
    NO_ENGINE,
    SANDBOX,
    SECONDS,
    TASK,
    Recorded,
    ended_containers,
    recorded,
    sandbox,
    swept,
)
from tests.end_to_end.project import Project
from tests.end_to_end.proxy import Proxy
from tests.end_to_end.scripts import command

run = partial(commands.run, task=HUMANIZE)
pytestmark = pytest.mark.engine

# Bad input


def test_an_unknown_task(runs: Path) -> None:
    ended = sandbox("run", "humanize/file-size", "--agent", "null", "--runs", runs)
    assert ended.code == 2
    assert ended.err == (
        "error: There is no task 'humanize/file-size'.\nDid you mean humanize/file-sizes?\n"
    )
    assert not runs.exists()


def test_yaml_that_is_none(project: Project, runs: Path) -> None:
    line = project.replace(project.task, "\nfacet: ", '\nfacet: "')
    ended = run("null", runs, **project.environment)
    assert ended.code == 2
    assert f"{project.task}:" in ended.err
    assert "is not YAML" in ended.err
    assert line > 0
    assert not runs.exists()


def test_a_key_that_is_unknown(project: Project, runs: Path) -> None:
    line = project.replace(project.task, "limits:\n  turns:", "limits:\n  turn:") + 1
    ended = run("null", runs, **project.environment)
    assert ended.code == 2
    assert f"{project.task}:{line}: limits.turn: unknown key; did you mean turns" in ended.err
    assert not runs.exists()


def test_a_script_that_is_none(tmp_path: Path, runs: Path) -> None:
    script = tmp_path / "script.yaml"
    script.write_text("- action: run_tests\n  argument: {}\n")
    ended = run(script, runs)
    assert ended.code == 2
    assert f"{script}:2: " in ended.err
    assert not runs.exists()


@pytest.mark.slow
def test_a_pin_with_a_wrong_digest(project: Project, runs: Path, tmp_path: Path) -> None:
    wheel = load(HUMANIZE).task.world.mirror[0]
    good = Sources(places.cache()).fetch(wheel, lambda _: None)
    project.replace(project.task, wheel.sha256, "0" * 64)
    offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(good.parent)}
    ended = run("null", runs, **project.environment, **offline)
    assert ended.code == 3
    assert f"{wheel.filename} is not the file that was pinned" in ended.err
    assert wheel.sha256 in ended.err
    assert not runs.exists()


@pytest.mark.slow
def test_an_image_that_cannot_be_built(project: Project, runs: Path, tmp_path: Path) -> None:
    step = "RUN echo this is the reason; exit 42\n"
    file = project.folder / "images" / "python" / "environment.Dockerfile"
    project.replace(file, "ARG ", f"{step}ARG ")
    ended = run("null", runs, **project.environment)
    assert ended.code == 3
    assert "this is the reason" in ended.err
    assert "42" in ended.err
    log = Path(ended.err.split("The whole log: ")[1].splitlines()[0])
    assert "this is the reason" in log.read_text()
    assert not runs.exists()


# The engine


def test_no_engine(runs: Path) -> None:
    ended = run("null", runs, DOCKER_HOST=NO_ENGINE)
    assert ended.code == 3
    assert NO_ENGINE in ended.err
    assert ended.err.endswith("Run `sandbox doctor --mend`.\n")
    assert not runs.exists()


@pytest.fixture
def proxy(tmp_path: Path, engine: Engine) -> Iterator[Proxy]:
    address = engine.info().endpoint
    if not address.startswith("unix://"):
        pytest.skip("the engine has no socket on this host")
    with Proxy(tmp_path / "engine.sock", Path(address.removeprefix("unix://"))) as proxy:
        yield proxy


@pytest.mark.slow
@pytest.mark.parametrize(
    ("transport", "command", "reason"),
    [
        ("attach", "sleep 600", "session_lost"),
        ("socket", "true", "agent_exited"),  # commands need no engine, what comes then does
    ],
)
def test_an_engine_that_stops_in_the_middle(
    runs: Path,
    engine: Engine,
    tmp_path: Path,
    proxy: Proxy,
    transport: str,
    command: str,
    reason: str,
) -> None:
    environment = {"DOCKER_HOST": proxy.address, "SANDBOX_TRANSPORT": transport}
    with Begun(tmp_path, runs, command, **environment) as begun:
        proxy.cut()
        ended = begun.end()
    assert ended.code == 3
    assert ended.err.startswith("error: ")
    stored = Recorded(Store(runs).find("last"))
    assert (stored.record.verdict, stored.grade.verdict) == ("error", "error")
    assert stored.record.problem
    assert stored.record.problem in stored.grade.problem
    assert stored.ended.reason == reason
    (left,) = ended_containers(engine, begun.id)
    assert swept(begun.id) == [left]
    assert left not in [each.id for each in engine.containers(MANAGED)]


@pytest.mark.parametrize("transport", ["attach", "socket"])
def test_a_container_that_is_removed_in_the_middle(
    runs: Path, engine: Engine, tmp_path: Path, transport: str
) -> None:
    with Begun(tmp_path, runs, SANDBOX_TRANSPORT=transport) as begun:
        for each in engine.containers(f"{RUN}={begun.id}"):
            engine.remove_container(each.id)
        ended = begun.end()
    assert ended.code == 3
    assert "removed by someone else" in ended.err
    stored = recorded(runs, engine)
    assert stored.record.verdict == "error"
    assert "removed by someone else" in stored.record.problem
    assert stored.ended.reason == "session_lost"
    assert "verdict: error" in sandbox("show", "last", "--runs", runs).out.splitlines()
    again = sandbox("grade", "last", "--runs", runs)
    assert again.code == 3
    assert "has no" in again.err


# Disks


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A folder on a file system of 256 kB."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a small file system cannot be mounted here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.slow
def test_a_disk_that_fills_in_the_middle(small: Path, engine: Engine, tmp_path: Path) -> None:
    script = scripts.write(tmp_path / "script.yaml", *[command("seq 20000")] * 9)
    ended = run(script, small / "runs")
    assert ended.code == 3
    folder = Store(small / "runs").find("last")
    assert ended.err.startswith(f"error: {folder.trace}: the disk is full")
    assert "Make room" in ended.err
    stored = recorded(small / "runs", engine)
    assert stored.record.verdict == "error"
    assert "the disk is full" in stored.record.problem
    assert stored.ended.reason == "harness_error"  # for which there was room left
    assert len(stored.entries) > 3


def test_a_disk_that_is_full_from_the_start(small: Path, engine: Engine) -> None:
    (small / "filler").write_bytes(b"x" * (small_free(small)))
    ended = run("null", small / "runs")
    assert ended.code == 3
    assert ended.err.startswith("error: ")
    assert str(small / "runs") in ended.err


def small_free(folder: Path) -> int:
    found = os.statvfs(folder)
    return found.f_bavail * found.f_bsize


OUTPUTS = {
    "full": ("exec > /dev/full 2>&1", "C.UTF-8"),
    "closed": ("exec >&- 2>&-", "C.UTF-8"),
    "unread": ("exec > >(true) 2> >(true); sleep 0.2", "C.UTF-8"),
    "ASCII": (":", "C"),
}
"""What a shell does with the outputs of a command before it starts it, and the locale."""


@pytest.mark.slow
@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("how", OUTPUTS)
def test_no_output_ends_a_run(how: str, runs: Path) -> None:
    setting, locale = OUTPUTS[how]
    command = f"{setting}; exec {SANDBOX} run {TASK} --agent oracle --runs {runs}"
    environment = {**os.environ, "LC_ALL": locale, "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    ended = subprocess.run(
        ["bash", "-c", command], env=environment, capture_output=True, timeout=SECONDS, check=False
    )
    assert ended.returncode in ({0} if how == "ASCII" else {0, 3, 141}), ended
    assert b"Traceback" not in ended.stdout + ended.stderr
    (folder,) = Store(runs).folders()
    assert folder.record().verdict == "passed"
    assert folder.record().end is not None
