"""What the gate sees of a client that does right, and of each that does wrong."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.agents.clients import preset_files
from sandbox.agents.clients.installation import Installation
from sandbox.agents.clients.preset import Preset, VersionReading
from sandbox.agents.playback.script import Call
from sandbox.container import engines
from sandbox.container.engines.base import Session
from sandbox.model import places
from sandbox.model.client import GateReport
from sandbox.run.run_containers import begin
from sandbox.run.safety import gate
from sandbox.run.safety.gate import Gate
from sandbox.tasks import library
from sandbox.tasks.images import Images

pytestmark = pytest.mark.engine

LOADED = library.load("humanize/file-sizes")
ROOT = Path(__file__).parents[4]


@pytest.fixture
def session() -> Iterator[Session]:
    engine = engines.connect()
    try:
        image = Images(engine, places.cache()).ensure(LOADED, lambda _: None)
        with begin(engine, LOADED, image, "gate") as session:
            yield session
    finally:
        engine.close()


def toy(fault: str) -> Preset:
    command = (
        "-m",
        "tests.sandbox.run.safety.toy_client",
        fault,
        "${base_url}",
        "${url}",
        "${token}",
    )
    return preset_files.find("opencode").model_copy(
        update={
            "arguments": command,
            "files": {},
            "environment": {"PYTHONPATH": str(ROOT)},
            "version": VersionReading(command=("echo", "1.0.0")),
            "tools": "sandbox_${action}",
            "built_in": (Call(tool="shell", arguments={"command": "echo escaped > ${canary}"}),),
        }
    )


def check(fault: str, session: Session) -> GateReport:
    installation = Installation(Path(sys.executable), "/usr/bin:/bin")
    return Gate(toy(fault), installation, session, LOADED.worktree).check()


def failed(report: GateReport) -> dict[str, str]:
    return {check.name: check.message for check in report.checks if not check.passed}


@pytest.mark.slow
def test_one_that_does_right_passes(session: Session) -> None:
    report = check("none", session)
    assert failed(report) == {}
    assert report.passed
    assert (report.preset, report.version) == ("opencode", "1.0.0")
    assert [each.name for each in report.checks] == [
        "works",
        "tools",
        "ended",
        "built_in",
        "denied",
        "cancelled",
    ]


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize(
    ("fault", "names"),
    [
        ("shell", ["tools", "built_in"]),
        ("hidden", ["built_in"]),
        ("adds", ["tools"]),
        ("hides", ["tools"]),
        ("early", ["ended"]),
        ("lost", ["works", "tools", "ended", "denied", "cancelled"]),
    ],
)
def test_one_that_does_wrong_fails_for_that(fault: str, names: list[str], session: Session) -> None:
    report = check(fault, session)
    assert list(failed(report)) == names
    assert not report.passed


@pytest.mark.slow
def test_one_that_ignores_interrupts_is_killed_with_what_it_runs(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate, "INTERRUPT_SECONDS", 0.2)
    monkeypatch.setattr("sandbox.agents.mcp_agent.ANSWERED_SECONDS", 0.2)
    assert failed(check("deaf", session)) == {}


@pytest.mark.slow
def test_the_messages_name_what_is_wrong(session: Session) -> None:
    told = failed(check("shell", session))
    assert told["tools"] == "Tools offered: 11, of which are not the harness's: shell."
    assert told["built_in"] == "On this host wrote: shell."
