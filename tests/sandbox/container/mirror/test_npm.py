"""Real npm against the registry."""

import json
import shutil
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from sandbox.container.mirror.npm import ABBREVIATED, latest
from tests.sandbox.container.mirror.packages import Fault, Files, Running, call, npm, running

needs_npm = pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")


@pytest.fixture
def files(tmp_path: Path) -> Files:
    folder = tmp_path / "files"
    folder.mkdir()
    return {
        **npm(folder, "left", "1.2.0", dependencies={"@scope/right": "^1.0.0"}),
        **npm(folder, "left", "1.10.0", dependencies={"@scope/right": "^1.0.0"}),
        **npm(folder, "left", "2.0.0-beta.1"),
        **npm(folder, "@scope/right", "1.0.5", scripts={"postinstall": "true"}),
    }


def install(where: Running, folder: Path, *words: str) -> tuple[int, str]:
    project = folder / "project"
    project.mkdir(exist_ok=True)
    return call(
        *("npm", "install", "--no-audit", "--no-fund", "--no-update-notifier", *words),
        cwd=project,
        npm_config_registry=where.address,
        npm_config_cache=str(folder / "cache"),
        npm_config_fetch_retry_mintimeout="10",
        npm_config_fetch_retry_maxtimeout="20",
    )


def version(folder: Path, name: str) -> str:
    path = folder / "project" / "node_modules" / name / "package.json"
    return str(json.loads(path.read_text())["version"])


@pytest.mark.slow
@needs_npm
def test_it_installs_what_is_needed_and_picks_the_version(files: Files, tmp_path: Path) -> None:
    with running(files) as where:
        code, output = install(where, tmp_path, "left")
        assert code == 0, output
        assert (version(tmp_path, "left"), version(tmp_path, "@scope/right")) == ("1.10.0", "1.0.5")
        assert set(where.statuses) == {200}
        code, output = install(where, tmp_path, "left@1.2.0")
        assert code == 0, output
        assert version(tmp_path, "left") == "1.2.0"
    lock = json.loads((tmp_path / "project" / "package-lock.json").read_text())
    right = lock["packages"]["node_modules/@scope/right"]
    assert right["resolved"].endswith("/@scope/right/-/right-1.0.5.tgz")
    assert right["hasInstallScript"] is True


@needs_npm
def test_what_is_not_served_is_not_found(files: Files, tmp_path: Path) -> None:
    with running(files) as where:
        code, output = install(where, tmp_path, "absent")
    assert code == 1
    assert "E404" in output


@needs_npm
def test_faults_are_met_as_by_any_registry(files: Files, tmp_path: Path) -> None:
    unavailable: Fault = {"id": "down", "effect": "unavailable", "package": "left", "times": 2}
    with running(files, unavailable) as where:
        assert install(where, tmp_path, "left")[0] == 0
        assert where.struck == [("down", 1), ("down", 2)]
    shutil.rmtree(tmp_path / "project")
    shutil.rmtree(tmp_path / "cache")
    wrong: Fault = {"id": "wrong", "effect": "wrong_hash", "package": "@scope/*"}
    with running(files, wrong) as where:
        code, output = install(where, tmp_path, "left")
    assert code == 1
    assert "EINTEGRITY" in output, output
    assert not (tmp_path / "project" / "node_modules" / "left").exists()


def test_the_abbreviated_form_has_what_an_install_needs(files: Files) -> None:
    with running(files) as where:

        def get(path: str, accept: str = "*/*") -> dict[str, Any]:
            asked = urllib.request.Request(where.address + path, headers={"Accept": accept})
            with urllib.request.urlopen(asked) as answer:
                read = json.loads(answer.read())
            assert isinstance(read, dict)
            return read

        whole, short = get("/left"), get("/left", f"{ABBREVIATED}; q=1.0, application/json; q=0.8")
        assert whole["versions"].keys() == short["versions"].keys() == {
            "1.2.0", "1.10.0", "2.0.0-beta.1",
        }  # fmt: skip
        assert "description" in whole["versions"]["1.2.0"]
        assert "description" not in short["versions"]["1.2.0"]
        assert whole["versions"]["1.2.0"]["dist"] == short["versions"]["1.2.0"]["dist"]
        assert short["dist-tags"] == {"latest": "1.10.0"}
        assert get("/@scope%2fright") == get("/@scope/right")
        assert get("/left/latest")["version"] == get("/left/1.10.0")["version"]


@pytest.mark.parametrize(
    ("versions", "newest"),
    [
        (["1.9.0", "1.10.0"], "1.10.0"),
        (["1.0.0", "2.0.0-rc.1"], "1.0.0"),
        (["2.0.0-rc.2", "2.0.0-rc.10", "2.0.0-beta"], "2.0.0-rc.10"),
        (["1.0.0-1", "1.0.0-a"], "1.0.0-a"),
        (["1.0.0+b", "0.9.9"], "1.0.0+b"),
    ],
)
def test_the_newest_release_is_the_latest(versions: list[str], newest: str) -> None:
    assert latest(dict.fromkeys(versions)) == newest
