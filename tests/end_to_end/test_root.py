"""Work as root in a run: refused, asked for, in the trace and in the change set."""

from pathlib import Path

import pytest

from sandbox.agents.scripted import ScriptedAgent
from sandbox.container.changes.collector import Collector
from sandbox.container.engines.base import Engine, Limits, SessionSpec
from sandbox.model import documents
from sandbox.model import trace as traces
from sandbox.model.briefing import Reply
from sandbox.model.change import Change, Owner
from sandbox.model.coverage import Coverage
from sandbox.model.decision import Policy
from sandbox.model.event import Executed
from sandbox.model.task import ScriptedAction
from sandbox.model.trace import TraceWriter
from sandbox.rules.policy.approvers import ScriptedApprover
from sandbox.run.actions.workspace import Workspace
from sandbox.run.loop import run
from sandbox.tasks import library
from sandbox.tasks.images import BuiltImage
from tests.end_to_end.commands import HUMANIZE
from tests.sandbox.runs import STARTED

pytestmark = pytest.mark.engine

LOADED = library.load(HUMANIZE)
POLICY = documents.parse(
    """
rules:
  - {id: no-push, when: {program: git, arguments: [push, '**']}, decision: deny, reason: No push.}
  - {id: marks, when: {program: [touch, git], privileged: true}, decision: allow, reason: Free.}
  - {id: shell, when: {program: sh, privileged: true}, decision: ask, scope: root, reason: Ask.}
approver:
  - {scope: root, answer: {approved: true}}
""",
    Path("policy.yaml"),
    Policy,
)
SHELL = "sudo sh -c 'id -u'"
HIDDEN = {
    "allowed": "sudo touch /etc/marked; stat -c %u /etc/marked",
    "unknown": "sudo id; echo $?",
    "push": "sudo git push /tmp/r.git HEAD; echo $?",
    "asked": SHELL,
}


def hidden(name: str) -> ScriptedAction:
    """A script whose text the action's line does not have."""
    line = f"cat >/tmp/{name}.sh <<'END'\n{HIDDEN[name]}\nEND\nsh /tmp/{name}.sh"
    return ScriptedAction(action="run_command", arguments={"command": line})


def tried(
    engine: Engine,
    image: BuiltImage,
    folder: Path,
    policy: Policy,
    *actions: ScriptedAction,
    coverage: Coverage = "exec",
) -> tuple[list[Reply], list[Executed], dict[str, Change]]:
    """Let an agent act: what it is told, what ran as root, what has changed."""
    task = LOADED.task.model_copy(update={"policy": policy})
    agent = ScriptedAgent(actions)
    limits = Limits(memory_bytes=512 << 20, processes=128)
    spec = SessionSpec(image.id, limits=limits, interception=coverage)
    with engine.start(spec) as session, engine.start(SessionSpec(image.id)) as pristine:
        collector = Collector(session, task.scope, LOADED.worktree)
        with TraceWriter(folder / "trace.jsonl") as writer:
            workspace = Workspace(session, task, LOADED.worktree)
            run(agent, workspace, ScriptedApprover(policy), writer, STARTED)
        collected = collector.collect(lambda: pristine)
    events = [entry.event for entry in traces.read(folder / "trace.jsonl").entries]
    rooted = [one for one in events if isinstance(one, Executed) and one.uid == 0]
    return agent.replies, rooted, {change.path: change for change in collected.changes.changes}


@pytest.mark.slow
@pytest.mark.parametrize("coverage", ["exec", "ptrace", "top-level"])
def test_each_request_is_decided_on_recorded_and_seen(
    engine: Engine, image: BuiltImage, tmp_path: Path, coverage: Coverage
) -> None:
    ask = ScriptedAction(action="request_approval", arguments={"scope": "root", "command": SHELL})
    actions = [*map(hidden, HIDDEN), ask, hidden("asked"), hidden("asked")]
    replies, rooted, changes = tried(engine, image, tmp_path, POLICY, *actions, coverage=coverage)
    allowed, unknown, push, asked, granted, used, again = replies
    assert {reply.error_code for reply in (allowed, granted, used)} == {None}
    assert {reply.error_code for reply in (unknown, push)} == {"policy_denied"}
    assert {reply.error_code for reply in (asked, again)} == {"approval_required"}
    assert allowed.result["stdout"] == "0\n"
    assert unknown.result["stdout"] == "1\n"
    assert "sudo: not allowed: No rule" in str(unknown.result["stderr"])
    assert "Rule no-push: No push." in str(push.result["stderr"])
    assert f'the command "{SHELL}"' in (asked.message or "")
    assert used.result["stdout"] == "0\n"
    verdicts = [f"{one.argv[0]} {one.verdict}" for one in rooted if one.argv[0] != "id"]
    of_sh = ["sh denied", "sh allowed", "sh denied"]
    assert verdicts == ["touch allowed", "git denied", *of_sh]
    assert [one.decision.rule for one in rooted if one.argv[0] == "git" and one.decision] == [
        "no-push"
    ]
    assert changes["/etc/marked"].owner is Owner.COLLATERAL
    after = changes["/etc/marked"].after
    assert after is not None
    assert after.uid == 0
    assert not {"/usr/bin/sudo", "/usr/bin"} & changes.keys()


@pytest.mark.slow
def test_without_a_rule_nothing_runs_as_root(
    engine: Engine, image: BuiltImage, tmp_path: Path
) -> None:
    replies, rooted, changes = tried(
        engine, image, tmp_path, Policy(), hidden("allowed"), hidden("unknown")
    )
    assert [reply.error_code for reply in replies] == [None, None]
    assert "sudo: not allowed: No rule" in str(replies[1].result["stderr"])
    assert {one.verdict for one in rooted} == {"denied"}
    assert "/etc/marked" not in changes
