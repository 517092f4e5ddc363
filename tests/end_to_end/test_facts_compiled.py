"""Runs of compiled tests are facts, however their packages are named."""

from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox.agents.scripted import ScriptedAgent
from sandbox.container.engines.base import Engine, SessionSpec
from sandbox.model import fact as facts
from sandbox.model import places
from sandbox.model import trace as traces
from sandbox.model.task import ScriptedAction
from sandbox.model.trace import TraceWriter
from sandbox.rules.policy.approvers import AllowAll
from sandbox.run.actions.workspace import Workspace
from sandbox.run.loop import run
from sandbox.tasks.images import Images, package_clients
from sandbox.tasks.seeds import mined_repository
from sandbox.tasks.sources import Sources
from tests.sandbox.runs import STARTED

pytestmark = [pytest.mark.engine, pytest.mark.slow]

Ran = Callable[[str, str], list[facts.Tested]]


@pytest.fixture(scope="module")
def ran(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """Runs a shell line in a repository as it is released; gives its runs of tests."""
    images = Images(engine, places.cache())
    sources = Sources(places.cache(), package_clients.provide)

    def act(repository: str, line: str) -> list[facts.Tested]:
        loaded = mined_repository.load(repository, sources, print).task()
        script = ScriptedAction.model_validate(
            {"action": "run_command", "arguments": {"command": line, "timeout_seconds": 300}}
        )
        path: Path = tmp_path_factory.mktemp("run") / "trace.jsonl"
        image = images.ensure(loaded, print)
        with engine.start(SessionSpec(image.id)) as session, TraceWriter(path) as trace:
            free = loaded.task.model_copy(update={"policy": type(loaded.task.policy)()})
            workspace = Workspace(session, free, loaded.task.worktree)
            run(ScriptedAgent((script,)), workspace, AllowAll(), trace, STARTED)
        events = (entry.event for entry in traces.read(path).entries)
        return [event for event in events if isinstance(event, facts.Tested)]

    return act


@pytest.mark.parametrize(
    ("line", "paths"),
    [
        ("go test", ("*",)),
        ("go test .", ("*",)),
        ("go test -count=1 github.com/gorilla/mux", ("*",)),
        ("cd .git && cd .. && go test github.com/gorilla/mux/...", (".",)),
    ],
)
def test_a_package_of_go_may_be_named_by_its_import_path(
    ran: Ran, line: str, paths: tuple[str, ...]
) -> None:
    (test,) = ran("mux", line)
    assert (test.paths, test.exit_code, test.sound) == (paths, 0, True)


@pytest.mark.parametrize(
    "line",
    [
        "cargo test --offline -p pico-args",
        "cd tests && cargo test --offline --package=pico-args -q",
        "cargo test --offline --manifest-path ./Cargo.toml",
    ],
)
def test_a_package_of_rust_may_be_named(ran: Ran, line: str) -> None:
    (test,) = ran("pico-args", line)
    assert (test.paths, test.exit_code, test.sound) == ((".",), 0, True)


@pytest.mark.parametrize(
    ("repository", "line"),
    [
        ("mux", "go test fmt"),
        ("pico-args", "cargo test --offline -p serde"),
    ],
)
def test_other_packages_are_no_run_of_the_repository(ran: Ran, repository: str, line: str) -> None:
    assert not [test for test in ran(repository, line) if test.sound]


def test_a_module_by_another_name_is_no_longer_the_image_s(ran: Ran) -> None:
    line = "sed -i 's,^module .*,module errors,' go.mod; go test errors"
    assert not [test for test in ran("mux", line) if test.sound]
