"""The toolchain of JavaScript projects, and what a repository's pins become in it."""

import json
import secrets
import shutil
from pathlib import Path

import pytest

from sandbox.container.engines import packages
from sandbox.container.engines.base import Engine, SessionSpec
from sandbox.model import places
from sandbox.model.artifact import Artifact, ArtifactKind
from sandbox.model.errors import EngineError
from sandbox.model.session import Command
from sandbox.tasks import library
from sandbox.tasks.images import Images, package_clients, pins, toolchain
from sandbox.tasks.sources import Sources

LOADED = library.load("minimist/refresh-dependencies")


def test_each_client_finds_its_own_pins() -> None:
    wheel = Artifact(
        kind=ArtifactKind.WHEEL,
        name="six",
        version="1.17.0",
        filename="six-1.17.0-py2.py3-none-any.whl",
        sha256="0" * 64,
    )
    repository = LOADED.repository
    tape = next(each for each in repository.requirements if each.name == "tape")
    mixed = repository.model_copy(update={"requirements": (wheel, tape), "paths": ("src",)})
    assert pins.files_of(mixed) == {
        "requirements.txt": "six==1.17.0\n",
        "project.pth": "/home/agent/minimist/src\n",
        "home/minimist/package.json": '{\n  "dependencies": {\n    "tape": "4.0.0"\n  }\n}',
    }


@pytest.mark.parametrize("ours", ["x86_64", "aarch64"])
def test_a_package_is_for_the_machine_that_it_names(
    ours: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platform.machine", lambda: ours)
    (tape,) = (each for each in LOADED.repository.requirements if each.name == "tape")
    compiled = [
        tape.model_copy(update={"name": f"@a/{machine}", "machine": machine})
        for machine in ("x86_64", "aarch64")
    ]
    mixed = LOADED.repository.model_copy(update={"requirements": (tape, *compiled)})
    assert [each.name for each in pins.needed(mixed)] == ["tape", f"@a/{ours}"]
    named = json.loads(pins.files_of(mixed)["home/minimist/package.json"])["dependencies"]
    assert named == {"tape": "4.0.0", f"@a/{ours}": "4.0.0"}


def test_npm_is_installed_where_it_is_missing_and_its_absence_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: list[str] = []
    package_clients.provide("pip", lines.append)
    monkeypatch.setenv("PATH", str(tmp_path))
    release = tmp_path / "os-release"
    release.write_text("ID=fedora\n")
    monkeypatch.setattr(packages, "OS_RELEASE", release)
    with pytest.raises(EngineError, match="npm is needed"):
        package_clients.provide("npm", lines.append)
    program = tmp_path / "npm"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    package_clients.provide("npm", lines.append)
    assert lines == []


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the project's data that a test may change."""
    for name in ("images", "task_repos"):
        shutil.copytree(places.project() / name, tmp_path / name)
    monkeypatch.setenv("SANDBOX_PROJECT", str(tmp_path))
    return tmp_path


def printed(engine: Engine, tag: str, line: str) -> str:
    path = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/tmp"}
    with engine.start(SessionSpec(tag)) as session:
        completed = session.run(Command(("/bin/bash", "-c", line), "/", path))
    assert completed.exit_code == 0, completed
    return completed.stdout.decode()


CONTENT = (
    "cd / && find opt/npm-cache home/agent -mindepth 1 -printf '%p %m %U %T@ %y %l\\n' | sort;"
    " find opt/npm-cache home/agent -type f -print0 | sort -z | xargs -0 sha256sum"
)
"""Mode, owner, time and content of all that environment and task add."""


@pytest.mark.thorough
@pytest.mark.engine
def test_the_same_pins_give_the_same_files(engine: Engine, project: Path) -> None:
    images = Images(engine, places.cache())
    first = images.ensure(LOADED, print).tag
    path = project / "images" / "node" / "environment.Dockerfile"
    again_from = f"ENV AGAIN={secrets.token_hex(8)}\nUSER 10001:10001\n"
    path.write_text(path.read_text().replace("USER 10001:10001\n", again_from))
    loaded = library.load(LOADED.task.id)
    below = toolchain.environment("node", loaded.repository, Sources(places.cache()))
    again = images.ensure(loaded, print)
    try:
        assert again.rebuilt
        assert printed(engine, again.tag, CONTENT) == printed(engine, first, CONTENT)
    finally:
        engine.remove_image(again.tag)
        engine.remove_image(below.tag)


@pytest.mark.slow
@pytest.mark.engine
def test_the_toolchain_is_what_it_says(engine: Engine) -> None:
    tag = Images(engine, places.cache()).ensure(LOADED, print).tag
    found = printed(engine, tag, "node --version; npm --version; npm config get registry; whoami")
    node, npm, registry, user = found.split()
    assert node.startswith("v18.")
    assert npm == "10.9.4"
    assert registry == "http://127.0.0.1:4873/"
    assert user == "agent"
    assert printed(engine, tag, "find / -xdev -perm /6000 -type f 2>/dev/null || true") == ""
    left = "grep -rlE 'registry[.]npmjs[.]org' /opt/npm-cache /home/agent /etc 2>/dev/null || true"
    assert printed(engine, tag, left) == ""
