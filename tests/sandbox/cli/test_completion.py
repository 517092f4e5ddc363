"""What a shell offers when Tab is pressed, asked as bash asks."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from sandbox.cli.app import application
from sandbox.model.store import Store
from sandbox.model.verdict import Verdict
from tests.sandbox.cli.pages.stored import stored_run


@pytest.fixture(autouse=True)
def _runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDBOX_RUNS", str(tmp_path))
    stored_run(Store(tmp_path), "0000000a-run", verdict=Verdict.PASSED)
    (tmp_path / "experiments" / "monday").mkdir(parents=True)


def offered(line: str) -> list[str]:
    """Give what is offered at the end of a line."""
    words = line.split(" ")
    asked = {
        "_SANDBOX_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
    }
    ended = CliRunner().invoke(application(), [], prog_name="sandbox", env=asked)
    return ended.output.split()


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("sandbox show la", ["last"]),
        ("sandbox show 0000", ["0000000a-run"]),
        ("sandbox show humanize/", ["humanize/file-sizes"]),
        ("sandbox diff l", ["last"]),
        ("sandbox view mon", ["monday"]),
        ("sandbox resume ", ["monday"]),
        ("sandbox report --experiment m", ["monday"]),
        ("sandbox run humanize/file-sizes --agent or", ["oracle"]),
        ("sandbox agents install mini", ["mini-swe-agent"]),
        ("sandbox call last read_", ["read_file"]),
        ("sandbox mine inflecti", ["inflection"]),
        ("sandbox validate cjson", ["cjson/planes"]),
        ("sandbox diff x", []),
    ],
)
def test_names_that_are_there_are_offered(line: str, found: list[str]) -> None:
    assert offered(line) == found


def test_nothing_is_offered_where_nothing_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    file.write_text("")
    monkeypatch.setenv("SANDBOX_RUNS", str(file))
    assert offered("sandbox show la") == []
