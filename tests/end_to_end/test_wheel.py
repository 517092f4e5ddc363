"""A wheel, installed where there is no checkout: tasks, recipes and supervisors are in it."""

import os
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from sandbox.container.engines.base import Engine
from tests import ROOT

MOST_BYTES = 300_000_000
"""Of an environment that holds the sandbox and what it depends on."""

pytestmark = [pytest.mark.engine, pytest.mark.thorough, pytest.mark.whole]


def called(command: Sequence[str | Path], folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {name: text for name, text in os.environ.items() if name != "SANDBOX_RUNS"}
    return subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    done = called([*pip, "wheel", "--no-deps", "--wheel-dir", folder, ROOT], folder)
    assert done.returncode == 0, done.stderr
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel; what it depends on is that of the tests, this checkout not."""
    place = tmp_path_factory.mktemp("installed") / "venv"
    assert called([sys.executable, "-m", "venv", place], ROOT).returncode == 0
    done = called([place / "bin" / "pip", "install", "--no-deps", wheel], ROOT)
    assert done.returncode == 0, done.stderr
    (packages,) = place.glob("lib/python*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return place / "bin" / "sandbox"


def test_it_holds_what_it_needs_and_no_tests(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    built = [name for name in names if "/supervisor/built/" in name]
    assert sorted(name.rpartition("/")[2].split("-")[1] for name in built) == ["aarch64", "x86_64"]
    for part in ("task_repos/qs/repo.yaml", "images/debian/base.yaml", "suites/standard.yaml"):
        assert f"sandbox/project/{part}" in names
    assert not [name for name in names if name.startswith("tests/")]
    assert not [name for name in names if name.endswith(".pyc")]


def test_it_works_where_there_is_no_checkout(
    installed: Path, tmp_path: Path, engine: Engine
) -> None:
    told = called([installed, "doctor"], tmp_path)
    assert "ready-built, in the package" in told.stdout, told
    assert called([installed, "tasks"], tmp_path).stdout.count("/") >= 9
    suite = called([installed, "tasks", "--suite", "suites/standard.yaml"], tmp_path)
    assert suite.returncode == 0, suite.stderr
    done = called([installed, "run", "humanize/file-sizes", "--agent", "oracle"], tmp_path)
    assert (done.returncode, "verdict: passed" in done.stdout) == (0, True), done
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]
    page = called([installed, "view", "last", "--html", "page.html"], tmp_path)
    assert page.returncode == 0, page.stderr


def test_it_draws_plots_without_a_network(installed: Path, tmp_path: Path) -> None:
    words = ("run", "inflection/house-terms", "--agent", "null", "--trials", "1")
    made = called([installed, *words, "--experiment", "drawn"], tmp_path)
    assert made.returncode == 1, made
    apart = ["unshare", "--net", "env", f"SANDBOX_CACHE={tmp_path / 'empty'}"]
    done = called([*apart, installed, "view", "drawn", "--html", "page.html"], tmp_path)
    assert done.returncode == 0, done
    text = (tmp_path / "page.html").read_text()
    assert "uPlot" in text
    assert "cannot be" not in done.stderr


def test_a_fresh_environment_of_it_is_small_and_needs_no_compiler(
    wheel: Path, tmp_path: Path
) -> None:
    place = tmp_path / "venv"
    assert called([sys.executable, "-m", "venv", place], tmp_path).returncode == 0
    pins = ("--constraint", ROOT / ".ci" / "pins.txt")
    done = called([place / "bin" / "pip", "install", "--quiet", *pins, wheel], tmp_path)
    assert done.returncode == 0, done.stderr
    size = sum(each.lstat().st_size for each in place.rglob("*") if not each.is_dir())
    assert size <= MOST_BYTES
    assert not list(place.glob("lib/python*/site-packages/ziglang*"))
    told = called([place / "bin" / "sandbox", "--version"], tmp_path)
    assert (told.returncode, told.stderr) == (0, "")
