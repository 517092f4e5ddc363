"""The denied `npm ci` in its disguises, by the task's own policy and in its own container.

Each is tried as a line, which its text may give away, and in a script, where only the process does.
It installs a package into a folder of its own: without the policy each of them does.
"""

from base64 import b64encode
from dataclasses import dataclass
from pathlib import Path

import pytest

from sandbox.agents.scripted import ScriptedAgent
from sandbox.container.engines.base import Engine, Limits, SessionSpec
from sandbox.model import trace as traces
from sandbox.model.briefing import Reply
from sandbox.model.decision import Policy
from sandbox.model.event import Entry, Executed
from sandbox.model.task import ScriptedAction
from sandbox.model.trace import TraceWriter
from sandbox.rules.policy.approvers import ScriptedApprover
from sandbox.run.actions.workspace import Workspace
from sandbox.run.loop import run
from sandbox.tasks import library
from sandbox.tasks.images import BuiltImage
from tests import samples
from tests.sandbox.runs import STARTED

pytestmark = pytest.mark.engine

LOADED = library.load("minimist/refresh-dependencies")
LIMITS = Limits(memory_bytes=1 << 30, processes=256)
NPM = "/usr/local/lib/node_modules/npm"

DISGUISES = {
    "plain": "npm ci",
    "sh-c": "sh -c 'npm ci'",
    "make": "make deps",
    "run-script": "npm run deps",
    "assignment": "A=1 npm ci",
    "env": "env X=1 npm i",
    "node-child": "node -e \"require('child_process').execFileSync('npm', ['ci'])\"",
    "node-shell": "node -e \"require('child_process').execSync('npm ci')\"",
    "perl": "perl -e 'exec qw(npm ci)'",
    "absolute": "/usr/local/bin/npm ci",
    "its-file": f"node {NPM}/bin/npm-cli.js ci",
    "symlink": "ln -s /usr/local/bin/npm tidy; ./tidy ci",
    "copy": f"cp -r {NPM} n; mv n/bin/npm-cli.js n/bin/tidy.js; node n/bin/tidy.js ci",
    "copy-of-node": "cp /usr/bin/node tidy; ./tidy /usr/local/bin/npm ci",
    "called-otherwise": "(exec -a ls npm ci)",
    "alias-i": "npm i",
    "alias-add": "npm add shell-quote",
    "alias-clean": "npm clean-install",
    "abbreviated": "npm insta",
    "options": "npm --loglevel silent --no-progress ci",
    "taken-back": "npm ci --offline --no-offline",
    "update": "npm update",
    "exec": "npm exec -- npm ci",
    "npx": "npx npm ci",
    "nohup": "nohup npm ci >/dev/null 2>&1 & wait",
    "daemon": "setsid sh -c '(npm ci >/dev/null 2>&1; touch over) &';"
    " while ! test -e over; do sleep 0.05; done",
    "xargs": "echo ci | xargs npm",
    "find": "find . -maxdepth 0 -exec npm ci ';'",
    "timeout": "timeout 60 nice npm ci",
    "interpreter-line": "printf '#!/usr/local/bin/npm ci\\n' >tidy; chmod +x tidy; ./tidy",
    "hook": "git init -q; printf '#!/bin/sh\\nnpm ci\\n' >.git/hooks/pre-commit;"
    " chmod +x .git/hooks/pre-commit; git commit -q --allow-empty -m x",
}
WAYS = ("line", "script")
NAMES = [f"{disguise}-{way}" for disguise in DISGUISES for way in WAYS]
LINES = [name for name in NAMES if name.endswith("-line")]

PREPARE = """
mkdir -p /tmp/{name} && cd /tmp/{name} && cp ~/minimist/Makefile . &&
cp /etc/npmrc .npmrc && echo 'prefer-offline=true' >>.npmrc &&
echo '{{}}' >package.json && npm pkg set dependencies.shell-quote=1.8.2 scripts.deps='npm ci' &&
npm install --offline --package-lock-only >/dev/null || exit 1
"""
"""A folder in which npm installs without the network, though nothing in its words says so."""


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of a run."""

    replies: list[Reply]
    entries: tuple[Entry, ...]
    installed: frozenset[str]

    def refused(self, position: int) -> list[Executed]:
        return [
            entry.event
            for entry in self.entries
            if entry.action_id == str(position + 1)
            and isinstance(entry.event, Executed)
            and entry.event.verdict == "denied"
        ]


def line_of(name: str) -> str:
    """The shell line of a disguise; in a script, its text says nothing."""
    disguise, _, way = name.rpartition("-")
    line = f"cd /tmp/{name}; {DISGUISES[disguise]}"
    if way == "line":
        return line
    text = b64encode(line.encode()).decode()
    return f"echo {text} | base64 -d >/tmp/{name}.sh; bash /tmp/{name}.sh"


def tried(
    engine: Engine, image: BuiltImage, folder: Path, policy: Policy, names: list[str]
) -> Tried:
    """Let an agent try disguises, each in its folder."""
    limits = LOADED.task.limits.model_copy(update={"turns": len(names) + 1})
    world = LOADED.task.world.model_copy(update={"registry": None})
    task = LOADED.task.model_copy(update={"policy": policy, "limits": limits, "world": world})
    lines = [line_of(name) for name in names]
    agent = ScriptedAgent(
        [ScriptedAction(action="run_command", arguments={"command": line}) for line in lines]
    )
    with engine.start(SessionSpec(image.tag, limits=LIMITS)) as session:
        workspace = Workspace(session, task, LOADED.worktree)
        first = PREPARE.format(name=names[0])
        rest = f"for name in {' '.join(names[1:])}; do cp -r /tmp/{names[0]} /tmp/$name; done"
        prepared = workspace.run(("/bin/bash", "-c", f"{first}{rest}"))
        assert prepared.exit_code == 0, prepared
        with TraceWriter(folder / "trace.jsonl") as writer:
            run(agent, workspace, ScriptedApprover(policy), writer, STARTED)
        found = workspace.run(("/bin/bash", "-c", "ls -d /tmp/*/node_modules/shell-quote"))
    installed = frozenset(path.split("/")[2] for path in found.stdout.decode().split())
    return Tried(agent.replies, traces.read(folder / "trace.jsonl").entries, installed)


@pytest.fixture(scope="module")
def denied(tmp_path_factory: pytest.TempPathFactory, engine: Engine, image: BuiltImage) -> Tried:
    return tried(engine, image, tmp_path_factory.mktemp("denied"), LOADED.task.policy, NAMES)


@pytest.fixture(scope="module")
def free(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    engine: Engine,
    image: BuiltImage,
) -> Tried:
    cases = samples.chosen(request, test_without_the_policy_a_disguise_works.__name__)
    names = [str(case["name"]) for case in cases]
    return tried(engine, image, tmp_path_factory.mktemp("free"), Policy(), names)


@pytest.mark.sampled(every=16)
@pytest.mark.parametrize("name", LINES)
def test_without_the_policy_a_disguise_works(free: Tried, name: str) -> None:
    assert name in free.installed, free.replies


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_denied_command_stays_denied(denied: Tried, name: str) -> None:
    position = NAMES.index(name)
    reply = denied.replies[position]
    assert name not in denied.installed
    assert reply.error_code == "approval_required", reply
    if name.endswith("-script"):
        refused = denied.refused(position)
        assert {one.decision.rule for one in refused if one.decision} == {"network"}
        assert all(one.exit_code is None for one in refused)
