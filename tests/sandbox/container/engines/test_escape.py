"""What leads out of a container is tried in one, and refused; and docs/isolation.md lists it."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.container.engines.base import Engine, Session, SessionSpec
from sandbox.model.session import ROOT
from tests.sandbox.container.engines.conftest import TAG
from tests.sandbox.container.engines.escape.probing import Attempt, attempts

pytestmark = pytest.mark.engine

DOCUMENT = Path(__file__).parents[4] / "docs" / "isolation.md"


@pytest.fixture(scope="module", params=["docker", "native"])
def session(request: pytest.FixtureRequest) -> Iterator[Session]:
    engine: Engine = request.getfixturevalue(request.param)
    with engine.start(SessionSpec(TAG)) as session:
        yield session


@pytest.fixture(scope="module")
def tried(session: Session) -> list[Attempt]:
    return attempts(session)


def test_nothing_leads_out(tried: list[Attempt]) -> None:
    assert len(tried) > 100
    escaped = [attempt for attempt in tried if attempt.done]
    assert not escaped, "\n".join(map(str, (*escaped, "", "All that was tried:", *tried)))


def test_the_probe_tells_what_works(session: Session) -> None:
    found = {each.name: each.done for each in attempts(session, "identity", user=ROOT)}
    assert found["capabilities"]
    assert found["setuid to root"]


@pytest.mark.parametrize("part", ["name_spaces", "calls", "network"])
def test_root_is_confined_too(session: Session, part: str) -> None:
    assert [str(each) for each in attempts(session, part, user=ROOT) if each.done] == []


def test_what_is_tried_is_documented(tried: list[Attempt]) -> None:
    listed = re.findall(r"`([^`]+)`", DOCUMENT.read_text().partition("## What is tried")[2])
    assert sorted(listed) == sorted(attempt.name for attempt in tried)
