"""`sandbox.toml`: settings and defaults of options, below what is set and what is typed."""

import json
import os
from pathlib import Path

import pytest

from sandbox.model import places, settings
from sandbox.model.store import Store
from sandbox.model.verdict import Verdict
from tests import ROOT
from tests.end_to_end.commands import NO_ENGINE, sandbox
from tests.sandbox.cli.pages.stored import stored_run


@pytest.fixture
def file(tmp_path: Path) -> Path:
    for name in ("mine", "other"):
        stored_run(Store(tmp_path / name), f"0000000{len(name)}-{name}", verdict=Verdict.PASSED)
    return tmp_path / "sandbox.toml"


def listed(file: Path, *words: str, **environment: str) -> list[str]:
    ended = sandbox("runs", "--json", *words, SANDBOX_CONFIG=str(file), **environment)
    assert ended.code == 0, ended
    return [record["id"].partition("-")[2] for record in json.loads(ended.out)]


def test_the_line_goes_before_the_variable_and_that_before_the_file(file: Path) -> None:
    file.write_text('runs = "mine"\n')
    other = str(file.parent / "other")
    assert listed(file, SANDBOX_RUNS="") == ["mine"]
    assert listed(file, SANDBOX_RUNS=other) == ["other"]
    assert listed(file, "--runs", str(file.parent / "mine"), SANDBOX_RUNS=other) == ["mine"]


def test_options_have_their_defaults_there(file: Path) -> None:
    file.write_text('runs = "mine"\n[options.runs]\nlimit = 1\njson = true\n')
    stored_run(Store(file.parent / "mine"), "00000009-second", verdict=Verdict.PASSED)
    for words, count in (((), 1), (("--limit", "2"), 2)):
        ended = sandbox("runs", *words, SANDBOX_CONFIG=str(file), SANDBOX_RUNS="")
        assert len(json.loads(ended.out)) == count


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("runs = [", "Invalid value"),
        ("runs = 7", "runs: "),
        ('rums = "x"', "rums: "),
        ("[options.rum]\n", "Did you mean run?"),
        ("[options.run]\nagnt = 1\n", "Did you mean agent?"),
        ("[options.agents.chekc]\n", "Did you mean check?"),
        ("[run]\njobs = 1", "run: extra"),
        ("options = 7", "options: "),
        ("options.run = 7", "options.run is not"),
        ('disk_reserve = "much"', "disk_reserve: "),
        ('[options.run]\njobs = "many"\n', "Invalid value for '--jobs'"),
    ],
)
def test_what_it_may_not_hold_is_said(file: Path, text: str, said: str) -> None:
    file.write_text(text)
    ended = sandbox(
        "run", "qs/guard-once", "--agent", "null", SANDBOX_CONFIG=str(file), DOCKER_HOST=NO_ENGINE
    )
    assert (ended.code, said in ended.err) == (2, True), ended


def test_the_nearest_file_is_found_from_below(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SANDBOX_CONFIG", raising=False)
    (tmp_path / "sandbox.toml").touch()
    (tmp_path / "a" / "b").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "a" / "b")
    assert places.settings_file() == tmp_path / "sandbox.toml"


def test_each_setting_is_in_the_table_and_becomes_its_variable(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "settings.md").read_text()
    for name, variable in settings.VARIABLES.items():
        assert f"| `{name}` | {variable} |" in page
    assert set(settings.VARIABLES) == set(settings.Settings.model_fields)
    told = settings.Settings(runs=Path("r"), tasks=(Path("a"), Path("/b")), engine="unix:///x")
    assert told.variables(tmp_path) == {
        "SANDBOX_RUNS": f"{tmp_path}/r",
        "SANDBOX_TASKS": f"{tmp_path}/a{os.pathsep}/b",
        "DOCKER_HOST": "unix:///x",
    }


def test_the_shell_completes_verbs_options_and_tasks() -> None:
    def completed(*words: str) -> list[str]:
        return sandbox(
            _SANDBOX_COMPLETE="complete_bash",
            COMP_WORDS=" ".join(("sandbox", *words)),
            COMP_CWORD=str(len(words)),
        ).out.split()

    assert completed("resu") == ["resume"]
    assert "--trials" in completed("run", "--tri")
    assert completed("run", "humanize/") == ["humanize/file-sizes"]
