"""`sandbox runs`: which runs there are, and which of them one asks for."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sandbox.cli.app import application
from sandbox.cli.run_end import end_rows
from sandbox.model.event import RunEnded
from sandbox.model.how_ended import RunEnd
from sandbox.model.run import Actor, RunRecord
from sandbox.model.run_folder import RunFolder
from sandbox.model.store import Store
from sandbox.model.verdict import Verdict

CRASH = RunEnded(
    reason="agent_exited",
    message="The agent exited with status 1.",
    status=1,
    turns=1,
    seconds=0.4,
)
ANSWER = RunEnded(reason="final_answer", turns=17, seconds=8.2)
TASK = "humanize/file-sizes"


def stored(store: Store, number: int, end: RunEnded, verdict: Verdict, agent: str) -> RunFolder:
    record = RunRecord(
        id=f"{number:08x}-task",
        task=TASK if number % 2 else "qs/guard-once",
        task_digest="d",
        image="i",
        image_id="i",
        agent=agent,
        actor=Actor(command="python3 a.py", digest="ab" * 32, tags={"branch": "main"}),
        sandbox_version="0",
        engine="e",
        started=f"2026-01-0{number}T00:00:00+00:00",
        ended="2026-02-01T00:00:00+00:00",
        end=RunEnd.of(end, None),
        verdict=verdict,
    )
    folder = store.create(record)
    folder.let_go()
    return folder


@pytest.fixture
def store(tmp_path: Path) -> Store:
    found = Store(tmp_path)
    stored(found, 1, ANSWER, Verdict.PASSED, "mine")
    stored(found, 2, CRASH, Verdict.FAILED, "mine")
    stored(found, 3, CRASH, Verdict.PASSED, "other")
    stored(found.checks, 9, ANSWER, Verdict.PASSED, "oracle")
    return found


def listed(store: Store, *words: str) -> list[str]:
    told = CliRunner().invoke(application(), ["runs", "--runs", str(store.root), "--json", *words])
    assert told.exit_code == 0, told.output
    return [record["id"][:8].lstrip("0") for record in json.loads(told.stdout)]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ((), ["3", "2", "1"]),
        (("--limit", "1"), ["3"]),
        (("--task", "humanize/*"), ["3", "1"]),
        (("--agent", "mine"), ["2", "1"]),
        (("--verdict", "crashed"), ["2"]),
        (("--verdict", "failed"), []),
        (("--ended", "crashed"), ["3", "2"]),
        (("--tag", "branch=main", "--since", "2026-01-02"), ["3", "2"]),
        (("--tag", "branch=other"), []),
    ],
)
def test_runs_are_listed_newest_first_as_asked_for(
    store: Store, words: tuple[str, ...], found: list[str]
) -> None:
    assert listed(store, *words) == found


def test_what_the_harness_runs_to_prove_a_task_is_found_by_name_only(store: Store) -> None:
    assert store.find("last").id.startswith("00000003")
    assert store.find("00000009").path.parent == store.checks.root
    assert [folder.id[7] for folder in store.all_folders()] == ["3", "2", "1", "9"]


@pytest.mark.parametrize("words", [("--verdict", "bad"), ("--ended", "x"), ("--since", "soon")])
def test_a_word_of_no_meaning_is_told(store: Store, words: tuple[str, ...]) -> None:
    told = CliRunner().invoke(application(), ["runs", "--runs", str(store.root), *words])
    assert told.exit_code == 2
    assert words[1] in told.stderr


def test_since_takes_spans_too(store: Store) -> None:
    days = (datetime.now(UTC) - datetime(2026, 1, 3, tzinfo=UTC)).days
    assert listed(store, "--since", f"{days + 1}d") == ["3"]


def test_how_a_run_ended_is_said_with_the_last_words_of_an_agent_that_crashed(
    store: Store,
) -> None:
    folder = store.find("00000002")
    folder.agent_log.write_text("one\n\ntwo\nthree\nRateLimitError: \x1b[31m429\n")
    assert end_rows(folder.record(), folder) == [
        "ended: crashed without an answer after 1 turn, 0.4 s: The agent exited with status 1.",
        "    agent.log: two",
        "    agent.log: three",
        "    agent.log: RateLimitError: \\x1b[31m429",
    ]
    whole = store.find("00000001")
    assert end_rows(whole.record(), whole) == ["ended: answered after 17 turns, 8.2 s"]
