"""Harness mode `minimal`: it repairs spelling, and only that."""

import json
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from sandbox.agents.base import Departure, Garbage
from sandbox.agents.minimal import MinimalAgent
from sandbox.agents.repairs import Repaired, repaired, routed, shipped
from sandbox.agents.requests import parse
from sandbox.model.action import ACTIONS, Request
from sandbox.model.briefing import Briefing, Ended, Reply, brief
from sandbox.model.observation import ErrorCode
from sandbox.tasks import library
from tests.sandbox.worlds import task

WORKTREE = "/home/agent/toy"
FINAL: dict[str, JsonValue] = {
    "failing_before": {"type": "integer"},
    "suite_passed": {"type": "boolean"},
    "regression_test": {"type": "string"},
    "names": {"type": "list"},
    "ratio": {"type": "number"},
}


@dataclass
class Lines:
    """An agent that says lines, and keeps what it was told."""

    lines: list[str]
    replies: list[Reply | None] = field(default_factory=list)
    name: str = "lines"

    def begin(self, briefing: Briefing) -> None:
        pass

    def next(
        self,
        reply: Reply | None,
        timeout: float,  # noqa: ARG002
    ) -> Request | Garbage | None:
        self.replies.append(reply)
        return parse(self.lines.pop(0).encode()) if self.lines else None

    def ending(self) -> Departure:
        return Departure("It ended.")

    def close(self, reply: Reply | None, ended: Ended) -> None:  # noqa: ARG002
        self.replies.append(reply)


def minimal(*lines: str) -> tuple[MinimalAgent, Lines]:
    inner = Lines(list(lines))
    agent = MinimalAgent(inner)
    agent.begin(brief(task(final=FINAL), "r1", WORKTREE))
    return agent, inner


def asked(line: str) -> Request:
    found = minimal(line)[0].next(None, 1)
    assert isinstance(found, Request), found
    return found


def request(action: str, **arguments: JsonValue) -> str:
    return json.dumps({"id": "1", "action": action, "arguments": arguments})


@pytest.mark.parametrize(
    ("line", "action", "arguments"),
    [
        (request("bash", cmd="ls"), "run_command", {"command": "ls"}),
        (request("mcp__sandbox__run_command", command="ls"), "run_command", {"command": "ls"}),
        (request("Read", filePath="a.py"), "read_file", {"path": "a.py"}),
        (request("read_file", path=f"{WORKTREE}/src/a.py"), "read_file", {"path": "src/a.py"}),
        (
            request("read_file", path="a", first_line="7"),
            "read_file",
            {"path": "a", "first_line": 7},
        ),
        (
            request("list_files", path=WORKTREE, recursive="True"),
            "list_files",
            {"path": ".", "recursive": True},
        ),
        (
            request("run_command", command="7", timeout="2.5"),
            "run_command",
            {"command": "7", "timeout_seconds": 2.5},
        ),
        ("```bash\nmake\nmake test\n```", "run_command", {"command": "make\nmake test"}),
        ("$ git status", "run_command", {"command": "git status"}),
        ("Please run `pytest -q`.", "run_command", {"command": "pytest -q"}),
        ("Run the tests", "run_tests", {}),
        ("Open the file src/app/main.py.", "read_file", {"path": "src/app/main.py"}),
        ("list files in src", "list_files", {"path": "src"}),
        ("Search for 'def main'", "search_repo", {"pattern": "def main"}),
        ('I will look: {"tool": "grep", "args": {"query": "x"}}', "search_repo", {"pattern": "x"}),
        (
            '{"function": {"name": "shell", "arguments": "{\\"cmd\\": \\"ls\\"}"}}',
            "run_command",
            {"command": "ls"},
        ),
    ],
)
def test_spelling_is_repaired(line: str, action: str, arguments: dict[str, JsonValue]) -> None:
    found = asked(line)
    assert (found.action, found.arguments) == (action, arguments)
    assert isinstance(found, Repaired)
    assert found.repairs


@pytest.mark.parametrize(
    "line",
    [
        "I think the tests should be run by somebody.",
        "Now I am done.",
        "rm -rf /",
        '{"thought": "run the tests"}',
        "{broken",
        '{"tool": "fly", "args": {}}',
    ],
)
def test_what_asks_for_nothing_stays_garbage(line: str) -> None:
    said = parse(line.encode())
    assert isinstance(said, Garbage)
    assert routed(said, 1) is said


def test_what_is_unknown_is_left_to_be_refused() -> None:
    unknown = Request(id="1", action="fly", arguments={"cmd": "x"})
    assert repaired(unknown, WORKTREE) is unknown
    extra = Request(id="1", action="read_file", arguments={"path": "a", "colour": "red"})
    assert repaired(extra, WORKTREE) is extra
    both = Request(id="1", action="run_command", arguments={"command": "a", "cmd": "b"})
    assert repaired(both, WORKTREE) is both, "which of the two is meant is not guessed"


def test_a_right_request_is_not_touched() -> None:
    for name in library.names():
        loaded = library.load(name)
        for number, action in enumerate(loaded.task.oracle):
            exact = Request(id=str(number), action=action.action, arguments=action.arguments)
            assert repaired(exact, loaded.worktree) is exact


@given(st.sampled_from(sorted(ACTIONS)), st.data())
def test_only_what_would_be_refused_is_changed(name: str, data: st.DataObject) -> None:
    texts = st.text(max_size=8)
    fields = {
        field: st.one_of(texts, st.integers(1, 9), st.booleans())
        for field in ACTIONS[name].model_fields
    }
    arguments: dict[str, JsonValue] = data.draw(st.fixed_dictionaries({}, optional=fields))
    exact = Request(id="1", action=name, arguments=arguments)
    try:
        ACTIONS[name].model_validate(arguments)
    except ValueError:
        return
    assert repaired(exact, WORKTREE) is exact


def test_every_name_stands_for_one_thing() -> None:
    known = shipped()
    names = [name for names in known.actions.values() for name in names]
    assert len(names) == len(set(names))
    assert not set(names) & set(ACTIONS)
    assert set(known.actions) | set(known.arguments) <= set(ACTIONS)
    for action, arguments in known.arguments.items():
        spelt = [name for names in arguments.values() for name in names]
        assert len(spelt) == len(set(spelt)), action
        assert set(arguments) <= set(ACTIONS[action].model_fields)
        assert not set(spelt) & set(ACTIONS[action].model_fields)


def test_the_final_answer_is_spelt_as_asked_for() -> None:
    told = {"paths": [{"path": "tests/Test_A.py"}], "stdout": "41 failed"}
    seen = Reply(id="1", status="ok", error_code=None, message=None, result=told)  # type: ignore[arg-type]
    fields: dict[str, JsonValue] = {
        "Failing-Before": "41 tests failed",
        "suitePassed": "yes",
        "regression_test": f"`{WORKTREE}/tests/test_a.py`",
        "names": "a, b",
        "ratio": "0.50",
    }
    agent, _ = minimal(request("git_diff"), request("submit", **fields))
    agent.next(None, 1)
    final = agent.next(seen, 1)
    assert isinstance(final, Repaired)
    assert (final.action, final.arguments) == (
        "final_answer",
        {
            "fields": {
                "failing_before": 41,
                "suite_passed": True,
                "regression_test": "tests/Test_A.py",
                "names": ["a", "b"],
                "ratio": 0.5,
            }
        },
    )


def test_no_value_is_invented() -> None:
    fields: dict[str, JsonValue] = {
        "failing_before": "between 3 and 5",
        "suite_passed": "perhaps",
        "regression_test": "",
        "names": 3,
    }
    found = asked(request("final_answer", fields=fields))
    assert found.arguments == {"fields": fields}


def test_errors_say_what_the_action_takes() -> None:
    agent, inner = minimal(request("read_file", colour="red"), request("fly"), request("git_diff"))
    for code in (ErrorCode.BAD_ARGUMENTS, ErrorCode.UNKNOWN_TOOL, ErrorCode.NOT_FOUND):
        agent.next(None, 1)
        reply = Reply(id="1", status="error", error_code=code, message="No.", result={})
        agent.close(reply, Ended(ended="final_answer"))
    told = [reply.message or "" for reply in inner.replies if reply is not None]
    assert told[0].startswith("No. The arguments of read_file, as JSON Schema: {")
    assert told[1].startswith("No. The actions are: read_file, ")
    assert told[2] == "No."
