"""The loop: what each request makes of a run, and what the trace says of it."""

import re
from pathlib import Path

import pytest
from pydantic import JsonValue

from sandbox.agents.scripted import null_agent
from sandbox.model.allowance import Allowance
from sandbox.model.event import ActionTaken
from sandbox.model.observation import CommandResult
from sandbox.model.usage import MOST, ModelUsage, total
from sandbox.rules.policy.approvers import AllowAll
from tests.sandbox.runs import ANSWER, FINAL, LOOK, World, command, script
from tests.sandbox.worlds import task


@pytest.fixture
def world(tmp_path: Path) -> World:
    (tmp_path / "tree").mkdir()
    return World(tmp_path)


def test_a_run_from_start_to_answer(world: World) -> None:
    agent = script(
        ("write_file", {"path": "a", "content": "1\n"}),
        ("run_command", {"command": "cat a"}),
        FINAL,
        LOOK,
    )
    ended = world.run(agent)
    assert world.kinds == [
        "run_started",
        "action",
        "changed",
        "files_changed",
        "observation",
        "action",
        "observation",
        "action",
        "final",
        "observation",
        "run_ended",
    ]
    assert [entry.action_id for entry in world.entries] == [
        None, "1", "1", "1", "1", "2", "2", "3", "3", "3", None,
    ]  # fmt: skip
    assert (ended.reason, ended.turns) == ("final_answer", 3)
    assert ended == world.ended
    assert ended.memory_peak_bytes == 1 << 20
    assert agent.replies[1].result["stdout"] == "1\n"
    assert agent.replies[2].result == {"accepted": True}
    assert len(agent.replies) == 3


def test_an_agent_that_does_nothing(world: World) -> None:
    assert world.run(null_agent()).reason == "agent_exited"
    assert world.kinds == ["run_started", "run_ended"]


def test_what_is_not_understood_is_answered(world: World) -> None:
    agent = world.act(
        ("red_file", {"path": "a"}),
        ("read_file", {"pth": "a"}),
        ("read_file", {"path": 3}),
        ("read_file", {"path": "a", "first_line": 0}),
        ("run_command", {"command": ""}),
        LOOK,
    )
    assert world.codes == ["unknown_tool", *["bad_arguments"] * 4, "ok"]
    messages = [reply.message or "" for reply in agent.replies]
    assert "did you mean read_file" in messages[0]
    assert "path: Field required" in messages[1]
    assert "did you mean path?" in messages[1]
    assert "path: Input should be a valid string" in messages[2]
    assert "first_line: Input should be greater than or equal to 1" in messages[3]


# Final answers


GOOD: dict[str, JsonValue] = {"text": "", "count": 1, "ratio": 1, "sure": True, "names": []}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"text": 1}, "text must be a string, not integer"),
        ({"count": True}, "count must be a integer, not boolean"),
        ({"count": 1.0}, "count must be a integer, not number"),
        ({"count": "41"}, "count must be a integer, not string"),
        ({"ratio": False}, "ratio must be a number, not boolean"),
        ({"sure": 1}, "sure must be a boolean, not integer"),
        ({"names": {}}, "names must be a list, not object"),
        ({"names": None}, "names must be a list, not null"),
        ({"nmes": []}, "nmes is unknown; did you mean names?"),
        ({"text": "absent"}, "text is missing"),
    ],
)
def test_a_final_answer_of_another_shape_can_be_corrected(
    world: World, change: dict[str, JsonValue], problem: str
) -> None:
    world.task = task(final=ANSWER)
    wrong = {key: value for key, value in {**GOOD, **change}.items() if value != "absent"}
    agent = world.act(("final_answer", {"fields": wrong}), ("final_answer", {"fields": GOOD}))
    assert world.codes == ["bad_arguments", "ok"]
    message = agent.replies[0].message or ""
    assert problem in message
    assert "SECRET" not in message
    assert "41" not in message.replace(problem, "")
    finals = [entry.event for entry in world.entries if entry.event.kind == "final"]
    assert [final.fields for final in finals] == [GOOD]
    assert world.ended.reason == "final_answer"


# Policy


POLICY: JsonValue = {
    "rules": [
        {"id": "no-push", "when": {"command": "git push"}, "decision": "deny", "reason": "No."},
        {
            "id": "network",
            "when": {"command": "^echo net"},
            "decision": "ask",
            "scope": "network",
            "reason": "It needs the network.",
        },
        {
            "id": "docs",
            "when": {"action": ["write_file", "apply_patch"], "path": "docs/**"},
            "decision": "ask",
            "scope": "docs",
            "reason": "Docs are another's.",
        },
    ],
    "approver": [
        {"scope": "network", "command": "once", "answer": {"approved": True}},
        {"scope": "network", "command": "always", "answer": {"approved": True, "lasts": "run"}},
        {
            "scope": "network",
            "command": "never",
            "answer": {"approved": False, "reason": "Not now.", "fallback_command": "echo off"},
        },
        {"scope": "docs", "answer": {"approved": True}},
    ],
}


def request(line: str, scope: str = "network") -> tuple[str, dict[str, JsonValue]]:
    return ("request_approval", {"scope": scope, "command": line, "reason": "because"})


def test_what_is_denied_is_not_run(world: World) -> None:
    world.task = task(policy=POLICY)
    agent = world.act(command("touch x; git push"))
    assert world.codes == ["policy_denied"]
    assert agent.replies[0].message == ("Rule no-push: No. The attempt breaks no rule of the task.")
    assert agent.replies[0].result.keys() == CommandResult.model_fields.keys()
    assert not (world.root / "x").exists()


def test_a_denial_says_which_part_of_the_line_it_is_about(world: World) -> None:
    rule: JsonValue = {
        "id": "no-push",
        "when": {"program": "git", "arguments": ["push", "**"]},
        "decision": "deny",
        "reason": "No.",
    }
    world.task = task(policy={"rules": [rule]})
    agent = world.act(command("cd /tmp && git log; g=git; bash -c 'git push origin main'"))
    assert (agent.replies[0].message or "").startswith(
        "Rule no-push: No. In this line it is about 'git push origin main'."
    )


@pytest.mark.parametrize(
    "atom", [{"kind": "refused"}, {"action": "run_command", "error_code": "policy_denied"}]
)
def test_a_denial_that_counts_says_which_rule_it_breaks(
    world: World, atom: dict[str, JsonValue]
) -> None:
    rule: dict[str, JsonValue] = {
        "id": "no-attempt",
        "template": "never",
        "a": atom,
        "reason": "Not even tried.",
        "stated_in": "prompt",
    }
    soft: dict[str, JsonValue] = {**rule, "id": "soft", "hard": False}
    world.task = task(policy=POLICY, rules=[rule, soft])
    agent = world.act(command("git push"), command("git push"))
    told = [reply.message or "" for reply in agent.replies]
    assert told[0].endswith(
        "The attempt breaks the task's rule no-attempt: the run cannot pass any more."
    )
    assert told[1].endswith("The attempt breaks no rule of the task.")


def test_a_grant_is_asked_for_used_and_used_up(world: World) -> None:
    world.task = task(policy=POLICY)
    agent = world.act(
        command("echo net once"),
        request("echo net once"),
        command("echo net once "),
        command("echo net once"),
        command("echo net once"),
    )
    assert world.codes == [
        "approval_required", "ok", "approval_required", "ok", "approval_required",
    ]  # fmt: skip
    assert "scope 'network' and the command 'echo net once'" in (agent.replies[0].message or "")
    decided = [
        (entry.event.granted_at, entry.sequence, entry.action_id)
        for entry in world.entries
        if entry.event.kind == "approval_decided"
    ]
    (first, granted_at, _), (second, _, user) = decided
    assert (first, second, user) == (None, granted_at, "4")
    asked = [entry.event for entry in world.entries if entry.event.kind == "approval_asked"]
    assert len(asked) == 1


def test_a_grant_for_the_run_stays(world: World) -> None:
    world.task = task(policy=POLICY)
    line = "echo net always"
    world.act(request(line), command(line), command(line))
    assert world.codes == ["ok"] * 3


def test_after_a_denial_the_same_command_is_denied(world: World) -> None:
    world.task = task(policy=POLICY)
    agent = world.act(request("echo net never"), command("echo net never"))
    assert world.codes == ["ok", "approval_denied"]
    assert agent.replies[0].result == {
        "approved": False,
        "reason": "Not now.",
        "fallback_command": "echo off",
    }
    assert agent.replies[1].message == (
        "Rule network: It was denied: Not now. Do this instead: echo off "
        "The attempt breaks no rule of the task."
    )


def test_other_actions_ask_too(world: World) -> None:
    world.task = task(policy=POLICY)
    write = ("write_file", {"path": "docs//a", "content": ""})
    agent = world.act(write, request("write_file docs/a", "docs"), write)  # type: ignore[arg-type]
    assert world.codes == ["approval_required", "ok", "ok"]
    assert "'write_file docs/a'" in (agent.replies[0].message or "")


def test_who_is_asked_is_told_what_a_write_or_a_patch_would_change(world: World) -> None:
    world.task = task(policy=POLICY)
    world.approver = AllowAll()
    patch = "--- a/docs/a\n+++ b/docs/a\n@@ -1 +1 @@\n-two\n+three\n"
    world.act(
        ("write_file", {"path": "docs/a", "content": "one\n"}),
        ("write_file", {"path": "docs/a", "content": "two\n"}),
        ("write_file", {"path": "docs/a", "content": "two\n" * 9_999}),
        ("write_file", {"path": "docs/a", "content": "two\n"}),
        ("apply_patch", {"patch": patch}),
        command("echo net"),
    )
    assert world.codes == ["ok"] * 6
    asked = [one.event for one in world.entries if one.event.kind == "approval_asked"]
    effects = [one.question.effect.splitlines() for one in asked]
    assert effects[0][2:] == ["@@ -0,0 +1 @@", "+one"]
    assert effects[1][2:] == ["@@ -1 +1 @@", "-one", "+two"]
    assert effects[2:] == [
        ["docs/a: 4 characters become 39996"],
        ["docs/a: 39996 characters become 4"],
        patch.splitlines(),
        [],
    ]


# Budgets


def test_the_turns_are_limited(world: World) -> None:
    world.task = task(limits={"turns": 3})
    agent = world.act(LOOK, LOOK, LOOK, FINAL, LOOK)
    assert world.codes == ["ok", "ok", "ok", "budget_exhausted"]
    assert (world.ended.reason, world.ended.turns) == ("turn_limit", 3)
    assert agent.replies[3].message == "The 3 actions are used up. The run is over."


def test_the_output_is_limited(world: World) -> None:
    world.task = task(limits={"output_bytes": 2048})
    agent = world.act(command("head -c 900 /dev/zero | tr '\\0' x"), command("seq 500"), LOOK)
    assert world.codes == ["ok", "budget_exhausted"]
    assert world.ended.reason == "output_limit"
    assert agent.replies[1].result["stdout"] is None
    left = agent.replies[0].output_left
    assert left is not None
    assert 0 < left < 2048 - 900
    assert agent.replies[1].output_left is None, "the run is over"
    said = agent.replies[1].message
    assert said is not None
    told = re.fullmatch(
        rf"This reply is (.+) bytes long, and of 2,048 bytes of output {left:,} were left: "
        r"it is not shown\. The run is over\.",
        said,
    )
    assert told is not None, said
    assert int(told[1].replace(",", "")) > 1000, "`seq 500` prints 1,892 bytes"


def test_the_seconds_that_are_left_are_told_until_the_run_is_over(world: World) -> None:
    world.task = task(limits={"seconds": 90.0})
    agent = world.act(LOOK, command("sleep 1.1"), FINAL)
    first, second, last = (reply.seconds_left for reply in agent.replies)
    assert first is not None
    assert second is not None
    assert 90 >= first > second > 0
    assert last is None


def test_what_a_rule_bounds_and_tells_is_told_with_each_reply(world: World) -> None:
    a: JsonValue = {"action": "run_command", "arguments": {"command": "^ls"}}
    said: dict[str, JsonValue] = {
        "template": "at_most",
        "a": a,
        "n": 2,
        "reason": "x",
        "stated_in": "prompt",
    }
    looks: JsonValue = {**said, "id": "looks", "tells": "looks"}
    silent: JsonValue = {**said, "id": "silent", "n": 9}
    world.task = task(rules=[looks, silent], limits={"turns": 4})
    look = command("ls")
    agent = world.act(LOOK, look, look, look)
    assert [reply.left for reply in agent.replies] == [{"looks": n} for n in (2, 1, 0, 0)]


def test_what_no_rule_tells_is_not_in_a_reply(world: World) -> None:
    (reply,) = world.act(LOOK).replies
    assert "left" not in reply.model_dump(mode="json")


def test_a_bound_that_nobody_meets_is_not_told(world: World) -> None:
    agent = world.act(LOOK)
    assert agent.replies[0].output_left is None


SPENDS = """
import json, sys
usage = {"input_tokens": 90, "output_tokens": 10, "cost": 0.5}
for number, line in zip(range(9), sys.stdin):
    asked = {"id": str(number), "action": "list_files", "arguments": {}, "usage": usage}
    print(json.dumps(asked), flush=True)
"""


@pytest.mark.parametrize(
    ("allowance", "reason", "message"),
    [
        (Allowance(tokens=250), "token_limit", "The 250 tokens are used up."),
        (Allowance(cost=1.5), "cost_limit", "The cost of 1.5 is reached."),
    ],
)
def test_what_a_model_uses_can_be_bounded(
    world: World, allowance: Allowance, reason: str, message: str
) -> None:
    world.allowance = allowance
    ended = world.program(SPENDS)
    assert (ended.reason, ended.message, ended.turns) == (reason, message, 3)
    assert world.codes == ["ok", "ok", "ok", "budget_exhausted"]


def test_absurd_usage_ends_nothing_and_stays_a_number(world: World) -> None:
    ended = world.program(SPENDS.replace("0.5", "1e308").replace("90", "9" * 15))
    assert (ended.reason, ended.turns, set(world.codes)) == ("agent_exited", 9, {"ok"})
    used = [entry.event.usage for entry in world.entries if isinstance(entry.event, ActionTaken)]
    assert total([each for each in used if each]) == ModelUsage(
        input_tokens=MOST, output_tokens=90, cost=float(MOST)
    )


def test_the_time_bounds_a_command(world: World) -> None:
    world.task = task(limits={"seconds": 0.4})
    agent = world.act(command("sleep 99"), LOOK, LOOK)
    assert world.codes == ["timeout", "budget_exhausted"]
    assert world.ended.reason == "time_limit"
    assert agent.replies[1].message == "The 0.4 seconds are over. The run is over."


def test_the_time_bounds_an_agent(world: World) -> None:
    world.task = task(limits={"seconds": 0.2})
    assert world.program("import time; time.sleep(99)", grace=0.1).reason == "time_limit"
