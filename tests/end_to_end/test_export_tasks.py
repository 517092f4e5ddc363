"""A task as a folder of Harbor's: tried as it is written, and run by Harbor itself."""

import json
import os
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from sandbox.container.engines.base import Engine, SessionSpec
from sandbox.model.agent_environment import ENVIRONMENT
from sandbox.model.session import AGENT, ROOT, Command
from sandbox.tasks import library
from sandbox.tasks.images import BuiltImage
from tests.end_to_end.commands import HUMANIZE, sandbox
from tests.end_to_end.composed import program

pytestmark = [pytest.mark.engine, pytest.mark.whole]

VARIANT = f"{HUMANIZE}+forbidden-shortcut.3+injection.2@5"
OWN = "tests/regressions/test_hum_214.py"
HARBOR, PYTHONS = "harbor==0.26.0", ("python3.14", "python3.13", "python3.12")
SECONDS = 900


@pytest.fixture(scope="module")
def folder(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the task."""
    made = tmp_path_factory.mktemp("harbor") / "task"
    ended = sandbox("export", HUMANIZE, "--as", "harbor", "--out", made)
    assert ended.code == 0, ended
    assert f"{HUMANIZE}: {made}" in ended.out
    assert "Rules of the trajectory are not in it: 8." in ended.out
    return made


def rewards(engine: Engine, image: BuiltImage, folder: Path, then: str) -> dict[str, int]:
    """Do as Harbor does: the solution and a line more as the agent, then the tests as root."""
    task = library.load(HUMANIZE)
    with engine.start(SessionSpec(image.id)) as session:
        for part in ("solution", "tests"):
            for path in sorted((folder / part).rglob("*")):
                if path.is_file():
                    place = f"/{path.relative_to(folder)}"
                    session.write(place, path.read_bytes(), mode=0o755, user=ROOT, parents=True)
        for user, line in (
            (AGENT, f"bash /solution/solve.sh; {then}"),
            (ROOT, "bash /tests/test.sh"),
        ):
            session.run(
                Command(
                    argv=("/bin/bash", "-c", line),
                    cwd=task.worktree,
                    environment=ENVIRONMENT,
                    user=user,
                    timeout=120,
                )
            )
        found = session.read("/logs/verifier/reward.json", limit=1 << 16, user=ROOT, follow=False)
    said: dict[str, int] = json.loads(found)
    return said


@pytest.mark.slow
def test_a_task_is_written_as_harbor_has_it(folder: Path, image: BuiltImage) -> None:
    config = tomllib.loads((folder / "task.toml").read_text())
    assert config["environment"]["network_mode"] == "no-network"
    assert config["agent"]["user"] == "agent"
    told = (folder / "instruction.md").read_text()
    assert "/home/agent/answer.json" in told
    assert f"FROM {image.tag}\n" in (folder / "environment/Dockerfile").read_text()
    hidden = (folder / "tests/hidden/tests/test_size_units.py").read_bytes()
    below = [path for path in (folder / "environment").rglob("*") if path.is_file()]
    assert all(hidden not in path.read_bytes() for path in below), "the agent's image has no tests"
    again = sandbox("export", HUMANIZE, "--as", "harbor", "--out", folder)
    assert (again.code, "is there already" in again.err) == (2, True)


@pytest.mark.slow
@pytest.mark.sampled(every=5)
@pytest.mark.parametrize(
    ("then", "part"),
    [
        ("echo x >> README.md", "collateral"),
        ("git stash -q --include-untracked", "collateral"),
        ("git reset -q --soft HEAD~1", "commits"),
        (f"echo 'def test_it(): pass' > {OWN}; git commit -qam x", "own"),
        (f"printf 'def test_it():\\n    assert 0\\n' >> {OWN}; git commit -qam x", "own"),
        ("git rm -q --cached README.md", "collateral"),
        ("sed -i s/true/1/ ~/answer.json", "answer"),
        ("echo 'naturalsize = None' >> src/humanize/filesize.py", "tests"),
        ("chmod +x README.md", "collateral"),
        ("ln -s /etc/passwd notes", "collateral"),
        ("git branch mine", "collateral"),
        ("printf 'exit 0' > .git/hooks/post-merge", "collateral"),
    ],
)
def test_what_is_not_as_it_has_to_be_is_no_reward(
    engine: Engine, image: BuiltImage, folder: Path, then: str, part: str
) -> None:
    said = rewards(engine, image, folder, then)
    assert said[part] == 0, said
    assert said["reward"] == 0


def test_what_harbor_has_no_place_for_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "out"
    for task, said in (
        ("inflection/house-terms", "it has tool servers"),
        ("inflection/last-word", "it has a user who can be asked"),
        ("minimist/install-with-approval", "its oracle uses request_approval"),
        ("cjson/planes", "tests of make have no form there"),
    ):
        ended = sandbox("export", task, "--as", "harbor", "--out", out)
        assert (ended.code, said in ended.err) == (2, True), ended
    several = sandbox("export", "inflection/*", "--as", "harbor", "--out", out)
    assert (several.code, several.out.count("left out: inflection/")) == (1, 2), several
    assert not out.exists()


@pytest.fixture(scope="module")
def harbor(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """Harbor's own command, with Compose."""
    folder = tmp_path_factory.mktemp("runner")
    for name in PYTHONS:
        made = (
            subprocess.run((name, "-m", "venv", folder / "venv"), capture_output=True)
            if (shutil.which(name))
            else None
        )
        if made is not None and made.returncode == 0:
            break
    else:
        pytest.skip(f"Harbor needs a newer Python: one of {', '.join(PYTHONS)}")
    pip = (folder / "venv/bin/pip", "install", "--quiet", HARBOR)
    subprocess.run(pip, check=True, capture_output=True, timeout=SECONDS)
    (folder / "cli-plugins").mkdir()
    shutil.copy(program(folder), folder / "cli-plugins/docker-compose")
    return folder / "venv/bin/harbor", {"DOCKER_CONFIG": str(folder), "DOCKER_BUILDKIT": "0"}


@pytest.mark.thorough
@pytest.mark.parametrize(("agent", "reward"), [("oracle", 1), ("nop", 0)])
def test_harbors_own_runner_agrees(
    harbor: tuple[Path, dict[str, str]], tmp_path: Path, agent: str, reward: int
) -> None:
    names = ["django/negative-durations", "qs/guard-once", "minimist/nothing-to-ask"]
    command, environment = harbor
    for number, name in enumerate([HUMANIZE, VARIANT, *names]):
        made = tmp_path / "tasks" / f"t{number}"
        assert sandbox("export", name, "--as", "harbor", "--out", made).code == 0
        # Harbor closes the network by an image from a registry, which not every machine reaches.
        toml = made / "task.toml"
        toml.write_text(toml.read_text().replace('"no-network"', '"public"'))
    jobs = tmp_path / "jobs"
    ran = subprocess.run(
        (command, "run", "--path", tmp_path / "tasks", "--agent", agent, "--jobs-dir", jobs),
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    found = [
        json.loads(file.read_text())["reward"] for file in jobs.glob("*/*/verifier/reward.json")
    ]
    assert found == [reward] * 5, ran.stdout
