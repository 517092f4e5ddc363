"""Rules over a stored trace of 100,000 events: the cost of each, and of grading it all."""

import statistics
import tempfile
from pathlib import Path

from pydantic import JsonValue

from graders import trajectory
from sandbox.model import trace as traces
from sandbox.model.event import ActionTaken, Entry, FilesChanged, Observed, RunEnded, RunStarted
from sandbox.model.grade import Evidence
from sandbox.model.observation import Observation
from sandbox.model.task import Task
from sandbox.rules.monitors.trajectory import watched
from tests.bench.clock import Measure, interleaved, milliseconds
from tests.sandbox.worlds import task

EVENTS, RULES, ROUNDS = 100_000, 30, 3
ALLOWED_US, ALLOWED_GRADING_MS = 5, 2000

STARTED = RunStarted(
    run="r", task="toy/task", task_digest="d", image="i", agent="a", mode="raw", coverage="exec"
)


def step(number: int) -> tuple[str, dict[str, JsonValue], dict[str, JsonValue]]:
    """One of the things that agents do most; no line and no path is as the one before."""
    path = f"src/module_{number % 97}.py"
    lines = "a line of text\n" * 20
    ran: dict[str, JsonValue] = {"exit_code": number % 3, "stdout": lines, "stderr": ""}
    match number % 5:
        case 0:
            return "read_file", {"path": path}, {"path": path, "content": lines}
        case 1:
            return "write_file", {"path": path, "content": lines}, {"path": path, "size": 300}
        case 2:
            return "run_tests", {"command": f"cd src && pytest -q test_{number % 97}.py"}, ran
        case 3:
            return "run_command", {"command": f"grep -n 'word {number}' {path} | head"}, ran
    line = f"git add {path} && git commit -m 'change {number}' -- {path}"
    return "run_command", {"command": line}, ran


def write(path: Path) -> None:
    with traces.TraceWriter(path) as writer:
        count, number = writer.append(STARTED).sequence + 1, 0
        while count < EVENTS - 3:
            name, arguments, result = step(number)
            writer.append(ActionTaken(name=name, arguments=arguments), str(number))
            if name == "write_file":
                count += 1
                writer.append(FilesChanged(paths=(str(arguments["path"]),)), str(number))
            writer.append(Observed(name=name, observation=Observation(result=result)), str(number))
            count, number = count + 2, number + 1
        writer.append(RunEnded(reason="final_answer", turns=number, seconds=1.0))


def rules() -> list[JsonValue]:
    """Every template in turn; each rule looks at paths or lines of its own."""
    templates = [template for number in range(4) for template in _templates(number)][:RULES]
    about: dict[str, JsonValue] = {"reason": "It is measured.", "stated_in": "prompt"}
    return [{**template, **about, "id": f"r-{i}"} for i, template in enumerate(templates)]


def _templates(number: int) -> list[dict[str, JsonValue]]:
    edit: JsonValue = {"changes": f"src/module_{number}*.py"}
    tests: JsonValue = {"tests": [f"src/test_{number}.py"], "exit_code": 0}
    commit: JsonValue = {"argv": ["git", "**", "commit", "**", f"src/module_{number}.py"]}
    clean: JsonValue = {"action": "run_command", "arguments": {"command": rf"\brm -rf {number}"}}
    read: JsonValue = {"action": "read_file", "bind": {"path": "arguments.path"}}
    write: JsonValue = {"action": "write_file", "bind": {"path": "arguments.path"}}
    return [
        {"template": "required", "a": tests},
        {"template": "never", "a": clean},
        {"template": "never_after", "a": clean, "b": edit},
        {"template": "precedes", "a": edit, "b": clean},
        {"template": "fresh", "a": tests, "since": edit, "before": clean},
        {"template": "responds", "a": edit, "b": commit},
        {"template": "at_most", "a": {**_dict(read), "action": f"*_{number}"}, "n": 3},
        {"template": "derived", "x": "path", "from": read, "in": {**_dict(write), "where": {
            "arguments.path": {"like": f"src/module_{number}.py"}}}},
    ]  # fmt: skip


def _dict(value: JsonValue) -> dict[str, JsonValue]:
    assert isinstance(value, dict)
    return value


@traces.collection_paused()
def graded(measured: Task, path: Path) -> None:
    """Read and judge, as `trial.regrade` does with this part of a run."""
    stored = traces.read(path)
    assert not stored.problem
    evidence = Evidence(
        run="r",
        task=measured.id,
        task_digest="d",
        entries=stored.entries,
        changes=None,
        tests=None,
        final=None,
    )
    trajectory.grade(measured, evidence)


def rule_and_event(measured: Task, entries: tuple[Entry, ...]) -> float:
    """Milliseconds of one rule over one event, beyond what joining events to steps takes."""
    assert len(entries) >= EVENTS - 3
    assert 0 < len(watched(measured, entries).breaches) < RULES
    ours, floor = interleaved(
        ROUNDS, lambda: watched(measured, entries), lambda: watched(task(), entries)
    )
    return (ours - floor) / len(entries) / RULES


def measure() -> list[Measure]:
    measured = task(rules=rules())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.jsonl"
        write(path)
        each = rule_and_event(measured, traces.read(path).entries)
        grading = [milliseconds(lambda: graded(measured, path)) for _ in range(ROUNDS)]
    return [
        (
            "one rule over one event (of 30 over 100,000)",
            "the bound, ms",
            each,
            ALLOWED_US / 1000,
            1,
            False,
        ),
        (
            "grading a stored trace of 100,000 events by 30 rules",
            "the bound, ms",
            statistics.median(grading),
            ALLOWED_GRADING_MS,
            1,
            False,
        ),
    ]
