from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from sandbox.container.engines.base import Engine
from sandbox.model import places
from sandbox.tasks import library
from sandbox.tasks.images import BuiltImage, Images
from tests.end_to_end import project as projects
from tests.end_to_end.commands import HUMANIZE
from tests.end_to_end.happened import Deed, Happen, happened
from tests.end_to_end.looked import BROWSER, Looked
from tests.end_to_end.project import Project


@pytest.fixture(scope="session")
def lean(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A copy whose two cheapest tasks are graded by little, which is not to be changed."""
    found = projects.copy(tmp_path_factory.mktemp("lean") / "project")
    found.make_lean()
    return found


@pytest.fixture(scope="module", autouse=True)
def graded_by_little(request: pytest.FixtureRequest, lean: Project) -> Iterator[None]:
    """Spare what is not about grading most of it; modules marked `whole` take tasks as they are."""
    with pytest.MonkeyPatch.context() as patch:
        if request.node.get_closest_marker("whole") is None:
            patch.setenv("SANDBOX_PROJECT", str(lean.folder))
        yield


@pytest.fixture(scope="module")
def image(engine: Engine) -> BuiltImage:
    """The task's image."""
    return Images(engine, places.cache()).ensure(library.load(HUMANIZE), lambda _: None)


@pytest.fixture
def happen(engine: Engine, image: BuiltImage, tmp_path: Path) -> Happen:
    """Runs shell lines, or actions, without a policy; gives the facts in their order."""
    task = library.load(HUMANIZE).task
    number = count(1)

    def act(*deeds: Deed) -> list[object]:
        return happened(engine, image.id, task, deeds, tmp_path / f"{next(number)}.jsonl")

    return act


@pytest.fixture(autouse=True)
def ready(request: pytest.FixtureRequest) -> None:
    """Have the image before a run is started, so that no run waits for it."""
    if request.node.get_closest_marker("engine"):
        request.getfixturevalue("image")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A copy that the test may spoil."""
    return projects.copy(tmp_path / "project")


@pytest.fixture(scope="session")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A copy with short limits, which is not to be changed."""
    found = projects.copy(tmp_path_factory.mktemp("quick") / "project")
    found.limit()
    return found


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    return tmp_path / "runs"


@pytest.fixture(scope="module")
def browser() -> Iterator[object]:
    if BROWSER is None:
        pytest.skip("there is no Chromium here")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as started:
        found = started.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture
def looked(browser: object) -> Iterator[Looked]:
    from playwright.sync_api import Browser

    assert isinstance(browser, Browser)
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    yield Looked(page)
    page.close()
