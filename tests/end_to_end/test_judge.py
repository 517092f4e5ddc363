"""A model's opinion of runs: asked in both orders, with its agreement, and deciding nothing."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.commands import TASK, Ended, sandbox
from tests.sandbox.agents.chat_server import ChatServer, Step, says

pytestmark = [pytest.mark.engine, pytest.mark.slow]

RUBRIC = """
question: Which of the two changes is easier to review?
criteria: [It is small., Its answer says what was done.]
times: 2
"""


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with an experiment of two agents on a task, a trial each."""
    runs = tmp_path_factory.mktemp("judged") / "runs"
    ended = sandbox(
        "run", TASK, "--agent", "oracle", "--agent", "null", "--experiment", "both", "--runs", runs
    )
    assert ended.code == 1, ended
    return runs


def said(better: str) -> dict[str, Any]:
    return says(("judge", {"better": better, "reason": "It is."}))


def judged(
    runs: Path, folder: Path, *steps: Step, labels: str = "", code: int = 0
) -> tuple[dict[str, Any], ChatServer, Ended]:
    rubric = folder / "rubric.yaml"
    rubric.write_text(RUBRIC)
    extra: list[str | Path] = []
    if labels:
        (folder / "labels.yaml").write_text(labels)
        extra = ["--labels", folder / "labels.yaml"]
    with ChatServer(*steps) as server:
        ended = sandbox(
            *("judge", "both", "--rubric", rubric, "--model", "m", "--base-url", server.url),
            *("--json", "--runs", runs, *extra),
            OPENAI_API_KEY="secret",
        )
    assert ended.code == code, ended
    return (json.loads(ended.out) if not code else {}), server, ended


def names(runs: Path) -> dict[str, str]:
    found = json.loads(sandbox("runs", "--json", "--runs", runs).out)
    return {each["agent"]: each["id"] for each in found}


def test_who_goes_by_the_place_judges_nothing(compared: Path, tmp_path: Path) -> None:
    found, server, _ = judged(compared, tmp_path, said("first"))
    (pair,) = found["pairs"]
    assert pair["better"] == "equal"
    assert [each["better"] for each in pair["opinions"]] == ["first", "second"] * 2
    assert found["orders"] == {"pairs": 1, "observed": 0.0, "kappa": 0.0}
    assert found["repeats"]["observed"] == 1.0
    assert len(server.requests) == 4
    assert found["usage"]["input_tokens"] == 400


def test_who_goes_by_the_work_is_compared_with_people(compared: Path, tmp_path: Path) -> None:
    run = names(compared)
    label = {"first": run["null"][:8], "second": run["oracle"][:8], "better": "second"}
    labels = json.dumps({"pairs": [label]})
    steps = [said("first"), said("second")] * 2
    found, server, _ = judged(compared, tmp_path, *steps, labels=labels)
    (pair,) = found["pairs"]
    assert (pair["first"], pair["second"]) == (run["oracle"], run["null"])
    assert pair["better"] == "first"
    assert found["labels"] == {"pairs": 1, "observed": 1.0, "kappa": None}
    straight, swapped = (each["messages"][1]["content"] for each in server.requests[:2])
    assert "Which of the two changes is easier to review?" in straight
    patch = straight.index("@@ -")
    assert straight.index("The first:") < patch < straight.index("The second:")
    assert swapped.index("The second:") < swapped.index("@@ -")


def test_no_verdict_report_or_run_is_touched(compared: Path, tmp_path: Path) -> None:
    def state() -> dict[str, str]:
        return {
            str(path): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(compared.rglob("*"))
            if path.is_file() and "judgements" not in path.parts
        }

    before, report = state(), sandbox("report", "--json", "--runs", compared).out
    judged(compared, tmp_path, said("second"))
    assert state() == before
    assert sandbox("report", "--json", "--runs", compared).out == report
    (kept, *_) = (compared / "judgements").glob("both-*.json")
    assert json.loads(kept.read_text())["model"] == "m"


def test_answers_that_cannot_be_used_are_none(compared: Path, tmp_path: Path) -> None:
    steps = [says(text="The first."), says(("judge", {"better": "best"}))] * 2
    found, _, _ = judged(compared, tmp_path, *steps)
    (pair,) = found["pairs"]
    assert pair["better"] is None
    assert {each["better"] for each in pair["opinions"]} == {None}
    assert found["orders"] == {"pairs": 0, "observed": None, "kappa": None}


def test_a_label_of_no_pair_is_refused_before_anything_is_asked(
    compared: Path, tmp_path: Path
) -> None:
    labels = "pairs: [{first: '00000000', second: '11111111', better: equal}]"
    _, server, ended = judged(compared, tmp_path, said("first"), labels=labels, code=2)
    assert "Label 1 is of 00000000 and 11111111" in ended.err
    assert server.requests == []


def test_a_rubric_that_asks_nothing_is_refused_with_its_line(
    compared: Path, tmp_path: Path
) -> None:
    rubric = tmp_path / "rubric.yaml"
    rubric.write_text("question: Which?\ncriteria: []\n")
    ended = sandbox("judge", "both", "--rubric", rubric, "--model", "m", "--runs", compared)
    assert ended.code == 2
    assert "rubric.yaml:2" in ended.err
