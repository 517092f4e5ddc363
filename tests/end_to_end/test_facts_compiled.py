"""Runs of compiled tests are facts, however their packages are named."""

from collections.abc import Callable

import pytest

from sandbox.container.engines.base import Engine
from sandbox.model import fact as facts
from sandbox.model import places
from sandbox.tasks.images import Images, package_clients
from sandbox.tasks.seeds import mined_repository
from sandbox.tasks.sources import Sources
from tests.end_to_end.happened import happened

pytestmark = [pytest.mark.engine, pytest.mark.slow]

Ran = Callable[[str, str], list[facts.Tested]]


@pytest.fixture(scope="module")
def ran(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """Runs a shell line in a repository as it is released; gives its runs of tests."""
    images = Images(engine, places.cache())
    sources = Sources(places.cache(), package_clients.provide)

    def act(repository: str, line: str) -> list[facts.Tested]:
        loaded = mined_repository.load(repository, sources, print).task()
        path = tmp_path_factory.mktemp("run") / "trace.jsonl"
        events = happened(engine, images.ensure(loaded, print).id, loaded.task, [line], path)
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
