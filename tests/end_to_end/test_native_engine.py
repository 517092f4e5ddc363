"""Whole runs with containers that no daemon has made."""

import os
import shutil
from pathlib import Path

import pytest

from sandbox.container.engines.base import RESERVED, Engine, SessionSpec
from sandbox.container.engines.native.engine import NativeEngine
from sandbox.model import places
from sandbox.model.grade import RunGrade
from sandbox.model.store import Store
from sandbox.run.run_containers import RUN
from sandbox.tasks import library
from sandbox.tasks.images import Images
from tests.end_to_end.commands import NO_ENGINE, TASK, sandbox
from tests.task_repos.wrong_agents import wrong_agents

pytestmark = [
    pytest.mark.engine,
    pytest.mark.skipif(os.geteuid() != 0, reason="the native engine is root's"),
    pytest.mark.whole,
    pytest.mark.slow,
]

TASKS = sorted(library.names(), key=TASK.__ne__)
WRONG = [(task, name) for task in TASKS for name in wrong_agents(task)]
ENGINES_OWN = (b"/.dockerenv", b"/etc/mtab", b"/etc/hostname", b"/etc/resolv.conf")
TAKEN = ("sources", "supervisor", "listings")
"""What a cache may hold that has nothing to do with an engine."""


def left(runs: Path) -> list[str]:
    """Containers of runs that are still there."""
    engine = NativeEngine.connect()
    ids = {folder.id for folder in Store(runs).all_folders()}
    found = engine.containers(RUN)
    return [each.id for each in found if each.labels[RUN] in ids]


@pytest.mark.sampled(every=5)
@pytest.mark.parametrize("task", TASKS)
def test_oracles_pass_and_their_runs_leave_nothing(task: str, runs: Path) -> None:
    ended = sandbox("run", task, "--agent", "oracle", "--engine", "native", "--runs", runs)
    assert ended.code == 0, ended.out + ended.err
    (run,) = Store(runs).all_folders()
    assert left(runs) == []
    assert run.record().engine.startswith("native ")


@pytest.mark.sampled(every=200)
@pytest.mark.parametrize(("task", "name"), WRONG)
def test_a_wrong_agent_fails_as_with_docker(task: str, name: str, runs: Path) -> None:
    agent = f"tests/task_repos/{task}/{name}.yaml"
    codes = {
        engine: sandbox("run", task, "--agent", agent, "--engine", engine, "--runs", runs / engine)
        for engine in ("docker", "native")
    }
    assert {ended.code for ended in codes.values()} in ({1}, {4}), codes
    reasons = []
    for engine in codes:
        (run,) = Store(runs / engine).all_folders()
        grade = run.load(run.grade, RunGrade)
        told = [(part.grader, reason) for part in grade.grades for reason in part.reasons]
        reasons.append({(by, each.rule, each.path, each.test) for by, each in told})
    assert reasons[0] == reasons[1]


def test_a_kept_container_stays_until_gc(runs: Path) -> None:
    ended = sandbox(
        *("run", TASK, "--agent", "null", "--engine", "native", "--keep", "--runs", runs)
    )
    assert ended.code == 1, ended.err
    (container,) = left(runs)
    folder = NativeEngine.connect()._containers / container
    assert (folder / "upper").is_dir()
    gone = sandbox("gc", "--kept", "--runs", runs, SANDBOX_ENGINE="native")
    assert gone.code == 0, gone.err
    assert left(runs) == []
    assert not folder.exists()


def held(engine: Engine, image: str) -> dict[bytes, tuple[object, ...]]:
    """All files of an image, but those that an engine makes, with what matters of each."""
    left = ["/proc", "/sys", "/dev", RESERVED]
    with engine.start(SessionSpec(image)) as session:
        found = session.manifest(["/"], excluding=left, digest=True)
        entries = {path: session.entry(path, record) for path, record in found.items()}
    return {
        path: (entry.kind, entry.mode, entry.uid, entry.gid, entry.digest)
        for path, entry in entries.items()
        if path not in ENGINES_OWN
    }


@pytest.mark.thorough
def test_a_machine_without_docker_builds_and_passes(
    tmp_path: Path, runs: Path, engine: Engine
) -> None:
    """From the distribution's packages to a verdict, and to the same files as Docker's."""
    cache = tmp_path / "cache"
    cache.mkdir()
    for name in TAKEN:
        if (places.cache() / name).exists():
            shutil.copytree(places.cache() / name, cache / name, copy_function=os.link)
    alone = {"DOCKER_HOST": NO_ENGINE, "SANDBOX_ENGINE": "native", "SANDBOX_CACHE": str(cache)}
    built = sandbox("build", TASK, **alone)
    assert built.code == 0, built.err
    for agent, code in (("oracle", 0), ("null", 1)):
        ended = sandbox("run", TASK, "--agent", agent, "--runs", runs, **alone)
        assert ended.code == code, ended.out + ended.err
    tag = Images(engine, places.cache()).ensure(library.load(TASK), lambda _: None).tag
    files = held(NativeEngine(cache / "native"), tag)
    assert len(files) > 10_000
    assert files == held(engine, tag)
    again = sandbox("build", TASK, **alone)
    assert "up to date" in again.err
    removed = sandbox("gc", "--images", "--runs", runs, **alone)
    assert removed.code == 0, removed.err


def test_the_settings_file_chooses_it(tmp_path: Path) -> None:
    (tmp_path / "sandbox.toml").write_text('engine = "native"\n')
    told = sandbox("doctor", SANDBOX_CONFIG=str(tmp_path / "sandbox.toml"))
    assert "native" in told.out
    assert "no daemon" in told.out
