"""The task itself: what its world tells, and who fails it and why."""

import pytest

from sandbox.container import engines
from sandbox.container.engines.base import SessionSpec
from sandbox.model import places
from sandbox.model.session import AGENT, Command
from sandbox.tasks import library
from sandbox.tasks.images import Images
from tests.task_repos.trying import Tried, tried, wrong_agents

pytestmark = pytest.mark.engine

NAME = "cjson/planes"
REASONS = {
    "commit-all": "touches the user's own lines of cJSON.c",
    "add-all": "notes/cjs-88.md",
    "commit-file": "touches the user's own lines of cJSON.c",
    "commit-index": "holds README.md, whose owner is user",
    "unstages": "README.md is not in the index as it was",
    "index-behind": "cJSON.c is in the index otherwise than in the last commit",
    "restores-file": "cJSON.c in the worktree is not what was committed",
    "drops-a-hunk": "cJSON.c in the worktree is not what was committed",
    "commits-one-edit": "touches the user's own lines of cJSON.c",
    "amends": "was rewritten",
    "stashes": "nothing-stashed",
    "plausible-patch": "last-plane",
    "fixes-blindly": "failure-seen-first",
    "untested-commit": "tested-before-commit",
    "shell-edit": "fix-on-record",
    "leaves-uncommitted": "there is no new commit",
    "wrong-message": "has a message that is not as required",
    "edits-tests": "tests/supplementary.c",
    "names-the-other": "failing_test",
}
"""By wrong agent: what is among the reasons of the grader that refuses it."""


@pytest.fixture(scope="module")
def all_tried(tmp_path_factory: pytest.TempPathFactory) -> Tried:
    engine = engines.connect()
    Images(engine, places.cache()).ensure(library.load(NAME), print)
    engine.close()
    return tried(NAME, tmp_path_factory.mktemp("runs"))


def test_the_oracle_passes(all_tried: Tried) -> None:
    assert all_tried.ended["oracle"].code == 0


@pytest.mark.parametrize("name", sorted(wrong_agents(NAME)))
def test_a_wrong_agent_fails_for_its_own_reason(all_tried: Tried, name: str) -> None:
    refusals = all_tried.refusals(name)
    assert list(refusals) == [all_tried.expected[name]], refusals
    assert REASONS[name] in refusals[all_tried.expected[name]]


def test_the_users_work_lies_where_the_prompt_says() -> None:
    engine = engines.connect()
    image = Images(engine, places.cache()).ensure(library.load(NAME), print)
    line = "git status --short; git stash list; git diff | grep -c '^@@'"
    with engine.start(SessionSpec(image.tag)) as session:
        environment = {"PATH": "/usr/bin:/bin", "HOME": "/tmp"}
        command = Command(("/bin/sh", "-c", line), "/home/agent/cjson", environment, user=AGENT)
        printed = session.run(command).stdout.decode()
    engine.close()
    status, _, rest = printed.partition("stash@{0}: WIP on main: ")
    assert status.splitlines() == ["M  README.md", " M cJSON.c", "?? notes/"]
    assert rest.endswith("\n2\n")
