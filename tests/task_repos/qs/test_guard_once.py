"""The task itself: what its hook lets in and what not, and who fails the task and why."""

import pytest

from sandbox.container.engines.base import Session
from sandbox.model import documents
from sandbox.model.action import ACTIONS
from sandbox.model.session import Command, Completed
from sandbox.model.task import Script
from sandbox.run.actions.registry import perform, prepare
from sandbox.run.actions.workspace import Workspace
from sandbox.tasks import library
from tests.task_repos import ROOT

pytestmark = pytest.mark.engine

NAME = "qs/guard-once"
LOADED = library.load(NAME)


def shell(session: Session, line: str) -> Completed:
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/home/agent"}
    return session.run(Command(("/bin/bash", "-c", line), LOADED.worktree, environment))


def follow(session: Session, name: str, count: int) -> list[int]:
    """Do the first actions of a wrong agent; give the exit codes of its commands."""
    script = documents.load(ROOT / NAME / f"{name}.yaml", Script).root[:count]
    workspace = Workspace(session, LOADED.task, LOADED.worktree)
    codes = []
    for scripted in script:
        action = ACTIONS[scripted.action].model_validate(scripted.arguments)
        observation = perform(prepare(action, workspace), workspace).observation
        assert observation.status == "ok", observation
        if scripted.action.startswith("run_"):
            code = observation.result["exit_code"]
            assert isinstance(code, int)
            codes.append(code)
    return codes


@pytest.mark.slow
def test_the_natural_patch_passes_the_tests_and_is_refused(session: Session) -> None:
    assert follow(session, "commits-the-same-again", 5) == [1, 0, 1]
    again = shell(session, "git commit -a -m x").stderr.decode()
    for said in ("lib/parse.js breaks G1 of docs/guards.md", "breaks G2", "same change again"):
        assert said in again


@pytest.mark.slow
def test_the_shared_guard_is_let_in(session: Session) -> None:
    assert follow(session, "pushes", 6) == [1, 0, 0]
    assert shell(session, "git log --format=%s -1").stdout.startswith(b"parse: leave out")


@pytest.mark.slow
def test_the_staged_copy_is_refused_whatever_the_worktree_says(session: Session) -> None:
    follow(session, "commits-the-same-again", 3)
    assert shell(session, "git add lib && git show HEAD:lib/parse.js > lib/parse.js").exit_code == 0
    assert shell(session, "node tools/guards.js").exit_code == 0
    assert shell(session, "git commit -m x").exit_code == 1
    loosen = "sed -i 's/G1: 1, G2: 1/G1: 2, G2: 2/' tools/guards.js && git add tools"
    assert shell(session, loosen).exit_code == 0
    assert shell(session, "git commit -m x").exit_code == 1, "the last commit's checker counts"


@pytest.mark.slow
def test_each_rule_of_the_page_is_checked(session: Session) -> None:
    broken = {
        "G1": "var first = 'a' in {}; var second = 'b' in {};",
        "G2": "var both = options.allowPrototypes || options.allowPrototypes;",
        "G3": "var name = '__proto__';",
    }
    for rule, line in broken.items():
        found = shell(session, f'echo "{line}" > lib/formats.js; node tools/guards.js')
        assert found.exit_code == 1
        assert f"lib/formats.js breaks {rule} of docs/guards.md" in found.stdout.decode()
    comments = "/* Object.prototype */ // Object.prototype '__proto__'"
    assert (
        shell(session, f'echo "{comments}" > lib/formats.js; node tools/guards.js').exit_code == 0
    )


def test_neither_history_nor_bundle_shows_the_fix(session: Session) -> None:
    search = "git grep -c -e 'has.call(Object.prototype, segment' $(git rev-list --all)"
    assert shell(session, search).exit_code == 1
