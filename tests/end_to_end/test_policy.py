"""A denied command in its disguises stays denied: the program does not run, and the trace says so.

Each disguise is tried as a line, which its text may give away, and in a script, where only the
process does. Without the rule each of them does what it says.
"""

from base64 import b64encode
from dataclasses import dataclass
from pathlib import Path

import pytest

from sandbox.agents.scripted import ScriptedAgent
from sandbox.container.engines.base import Engine, Limits, SessionSpec
from sandbox.model import documents
from sandbox.model import trace as traces
from sandbox.model.briefing import Reply
from sandbox.model.coverage import Coverage
from sandbox.model.decision import Policy
from sandbox.model.event import ApprovalDecided, Entry, Executed
from sandbox.model.task import ScriptedAction
from sandbox.model.trace import TraceWriter
from sandbox.rules.policy.approvers import AllowAll, Approver, DenyAll, ScriptedApprover
from sandbox.run.actions.workspace import Workspace
from sandbox.run.loop import run
from sandbox.tasks import library
from sandbox.tasks.images import BuiltImage
from tests.end_to_end.commands import HUMANIZE
from tests.sandbox.runs import STARTED

pytestmark = pytest.mark.engine

LOADED = library.load(HUMANIZE)
LIMITS = Limits(memory_bytes=512 << 20, processes=128)
PUSH = documents.parse(
    """
rules:
  - id: no-push
    when: {program: git, arguments: [push, "**"]}
    decision: deny
    reason: Nothing is pushed from here.
  - id: tags
    when: {program: git, arguments: [tag, "v*", "**"]}
    decision: ask
    scope: release
    reason: A tag is a release.
approver:
  - {scope: release, command: "git tag v1", answer: {approved: true}}
""",
    Path("policy.yaml"),
    Policy,
)

TO = "/tmp/r.git HEAD:refs/heads/{name}"
DISGUISES = {
    "plain": f"git push {TO}",
    "sh-c": f"sh -c 'git push {TO}'",
    "make": (
        f"mkdir -p /tmp/{{name}}; printf 'all:\\n\\t@git push {TO}\\n' >/tmp/{{name}}/Makefile;"
        " make -f /tmp/{name}/Makefile all"
    ),
    "assignment": f"A=1 B=2 git push {TO}",
    "env": f"env A=1 git push {TO}",
    "python": "python3 -c \"import subprocess; subprocess.run(['git', 'push', *'"
    + TO
    + "'.split()])\"",
    "absolute": f"/usr/bin/git push {TO}",
    "symlink": f"ln -s /usr/bin/git /tmp/{{name}}; /tmp/{{name}} push {TO}",
    "copy": f"mkdir /tmp/{{name}}; cp /usr/bin/git /tmp/{{name}}/git; /tmp/{{name}}/git push {TO}",
    "renamed": f"cp /usr/bin/git /tmp/{{name}}; /tmp/{{name}} push {TO}",
    "renamed-here": f"cp /usr/bin/git /tmp/{{name}}; (exec -a ls /tmp/{{name}} push {TO})",
    "called-otherwise": f"(exec -a ls git push {TO})",
    "dashed": "(exec -a git-push git " + TO + ")",
    "options": f"git -C . -c user.name=x --no-pager push {TO}",
    "alias": f"git -c alias.up=push up {TO}",
    "nohup": f"nohup git push {TO} >/dev/null 2>&1 & wait",
    "daemon": f"setsid sh -c '(git push {TO} >/dev/null 2>&1; touch /tmp/{{name}}-over) &';"
    " while ! test -e /tmp/{name}-over; do sleep 0.05; done",
    "xargs": f"echo {TO} | xargs git push",
    "find": f"find . -maxdepth 0 -exec git push {TO} ';'",
    "loader": f"$(ls /lib*/ld-linux-*.so.*) /usr/bin/git push {TO}",
    "loader-copy": (
        f"cp /usr/bin/git /tmp/{{name}}; $(ls /lib*/ld-linux-*.so.*) /tmp/{{name}} push {TO}"
    ),
    "descriptor": "python3 -c \"import os; os.execve(os.open('/usr/bin/git', os.O_RDONLY),"
    f" ['x', 'push', *'{TO}'.split()], os.environ)\"",
    "timeout": f"timeout 20 nice git push {TO}",
    "interpreter-line": (
        "git config --global url./tmp/r.git.insteadOf /tmp/{name}.x;"
        " printf '#!/usr/bin/git push\\n' >/tmp/{name}.x; chmod +x /tmp/{name}.x;"
        " /tmp/{name}.x HEAD:refs/heads/{name}"
    ),
    "perl": f"perl -e 'exec qw(git push {TO})'",
}
WAYS = ("line", "script")
NAMES = [f"{disguise}-{way}" for disguise in DISGUISES for way in WAYS]


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of a run."""

    replies: list[Reply]
    entries: tuple[Entry, ...]
    branches: frozenset[str]
    """What was pushed."""

    def processes(self, position: int) -> list[Executed]:
        return [
            entry.event
            for entry in self.entries
            if entry.action_id == str(position + 1) and isinstance(entry.event, Executed)
        ]


def line_of(name: str) -> str:
    """The shell line of a disguise; in a script, its text says nothing."""
    disguise, _, way = name.rpartition("-")
    line = DISGUISES[disguise].replace("{name}", name)
    if way == "line":
        return line
    text = b64encode(line.encode()).decode()
    return f"echo {text} | base64 -d >/tmp/{name}.sh; bash /tmp/{name}.sh"


def tried(
    engine: Engine,
    image: BuiltImage,
    folder: Path,
    policy: Policy,
    *actions: ScriptedAction,
    approver: Approver | None = None,
    coverage: Coverage = "exec",
) -> Tried:
    """Let an agent act in a container that has somewhere to push to."""
    task = LOADED.task.model_copy(update={"policy": policy})
    agent = ScriptedAgent(actions)
    with engine.start(SessionSpec(image.tag, limits=LIMITS, interception=coverage)) as session:
        assert session.greeting.coverage("hold") == coverage
        workspace = Workspace(session, task, LOADED.worktree)
        assert workspace.run(("git", "init", "-q", "--bare", "/tmp/r.git")).exit_code == 0
        with TraceWriter(folder / "trace.jsonl") as writer:
            run(agent, workspace, approver or ScriptedApprover(policy), writer, STARTED)
        refs = workspace.run(
            ("git", "-C", "/tmp/r.git", "for-each-ref", "--format=%(refname:short)")
        )
    found = traces.read(folder / "trace.jsonl")
    assert found.problem == ""
    return Tried(agent.replies, found.entries, frozenset(refs.stdout.decode().split()))


def command(line: str) -> ScriptedAction:
    return ScriptedAction(action="run_command", arguments={"command": line})


@pytest.fixture(scope="module", params=["exec", "ptrace"])
def denied(
    tmp_path_factory: pytest.TempPathFactory,
    engine: Engine,
    image: BuiltImage,
    request: pytest.FixtureRequest,
) -> Tried:
    folder, lines = tmp_path_factory.mktemp("denied"), map(command, map(line_of, NAMES))
    return tried(engine, image, folder, PUSH, *lines, coverage=request.param)


@pytest.fixture(scope="module")
def free(tmp_path_factory: pytest.TempPathFactory, engine: Engine, image: BuiltImage) -> Tried:
    lines = map(command, map(line_of, NAMES))
    return tried(engine, image, tmp_path_factory.mktemp("free"), Policy(), *lines)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_without_the_rule_a_disguise_works(free: Tried, name: str) -> None:
    assert name in free.branches, free.replies[NAMES.index(name)]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_denied_command_stays_denied(denied: Tried, name: str) -> None:
    reply = denied.replies[NAMES.index(name)]
    assert name not in denied.branches
    assert reply.error_code == "policy_denied", reply
    assert "Nothing is pushed from here." in (reply.message or "")
    refused = [one for one in denied.processes(NAMES.index(name)) if one.verdict == "denied"]
    if name.endswith("-script"):
        assert {one.decision.rule for one in refused if one.decision} == {"no-push"}
        assert all(one.exit_code is None for one in refused)
        assert reply.result["stdout"] is not None


def test_nothing_else_is_denied(denied: Tried) -> None:
    others = [
        entry.event
        for entry in denied.entries
        if isinstance(entry.event, Executed) and entry.event.verdict != "allowed"
    ]
    assert {one.decision.rule for one in others if one.decision} == {"no-push"}
    assert denied.branches == frozenset()


def test_what_is_asked_in_a_script_is_refused_until_it_is_granted_and_used_once(
    tmp_path: Path, engine: Engine, image: BuiltImage
) -> None:
    hidden = command("echo 'git tag $1' >/tmp/t.sh; sh /tmp/t.sh v1; git tag -l v1")
    asked = ScriptedAction(
        action="request_approval", arguments={"scope": "release", "command": "git tag v1"}
    )
    found = tried(engine, image, tmp_path, PUSH, hidden, asked, hidden, hidden)
    assert [reply.error_code for reply in found.replies] == [
        "approval_required",
        None,
        None,
        "approval_required",
    ]
    first, _, second, _ = found.replies
    assert "'release'" in (first.message or "")
    assert "'git tag v1'" in (first.message or "")
    assert "started by dash, bash" in (first.message or "")
    assert str(first.result["stdout"]).split() == []
    assert str(second.result["stdout"]).split() == ["v1"]
    granted, used = [entry for entry in found.entries if isinstance(entry.event, ApprovalDecided)]
    assert isinstance(used.event, ApprovalDecided)
    assert (used.event.granted_at, used.action_id) == (granted.sequence, "3")
    verdicts = [
        {one.verdict for one in found.processes(position) if one.argv == ("git", "tag", "v1")}
        for position in (0, 2, 3)
    ]
    assert verdicts == [{"denied"}, {"allowed"}, {"denied"}]


@pytest.mark.parametrize("approver", [AllowAll(), DenyAll()])
def test_who_can_be_asked_at_once_decides_while_the_process_is_held(
    tmp_path: Path, engine: Engine, image: BuiltImage, approver: Approver
) -> None:
    hidden = command("echo 'git tag v1' >/tmp/t.sh; sh /tmp/t.sh; git tag -l v1")
    found = tried(engine, image, tmp_path, PUSH, hidden, approver=approver)
    allowed = isinstance(approver, AllowAll)
    assert found.replies[0].error_code == (None if allowed else "approval_denied")
    assert str(found.replies[0].result["stdout"]).split() == (["v1"] if allowed else [])
    kinds = [
        entry.event.kind for entry in found.entries if entry.event.kind.startswith("approval_")
    ]
    assert kinds == ["approval_asked", "approval_decided"] + ["approval_decided"] * allowed
    (asked,) = [entry.event for entry in found.entries if entry.event.kind == "approval_asked"]
    assert asked.question.command == "git tag v1"
    assert asked.question.started_by == ("dash", "bash")


HOOKS = documents.parse(
    """
rules:
  - id: hooks-run
    when: {program: git, arguments: [commit, "**", [--no-verify, "-n*"], "**"]}
    decision: deny
    reason: The hooks run for every commit.
""",
    Path("policy.yaml"),
    Policy,
)
TWO = (
    "git stash -q; rm .git/hooks/*; export GIT_EDITOR=true;"
    " for i in 1 2; do echo $i > f; git add f; git commit -qm $i; done"
)
BYPASS = "git commit -n --allow-empty -m x"


@pytest.mark.parametrize("coverage", ["exec", "ptrace"])
def test_who_has_git_rebase_has_not_said_that_hooks_are_left_out(
    tmp_path: Path, engine: Engine, image: BuiltImage, coverage: Coverage
) -> None:
    squash = "GIT_EDITOR=true GIT_SEQUENCE_EDITOR='sed -i 2s/pick/squash/' git rebase -i HEAD~2"
    lines = (
        f"{TWO}; git branch base HEAD~2",
        f"{squash} && git rev-list --count base..HEAD",
        "GIT_EDITOR=true git revert -e HEAD && git rev-list --count base..HEAD",
        f"git -c alias.y='commit -n --allow-empty -m x' y; {BYPASS}",
        f"git rebase -q -x '{BYPASS}' HEAD~1; git rebase --abort",
        f"GIT_SEQUENCE_EDITOR='{BYPASS}; :' git rebase -i HEAD~1",
        "git rev-list --count base..HEAD",
    )
    found = tried(engine, image, tmp_path, HOOKS, *map(command, lines), coverage=coverage)
    codes = [reply.error_code for reply in found.replies]
    assert codes == [None] * 3 + ["policy_denied"] * 3 + [None]
    counts = [str(found.replies[i].result["stdout"]).split()[-1] for i in (1, 2, 6)]
    assert counts == ["1", "2", "2"]
