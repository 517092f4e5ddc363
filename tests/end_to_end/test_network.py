"""A task whose registry is reached by grant, from the command line to the trace."""

from functools import partial
from pathlib import Path

import pytest

from sandbox.container.engines.base import Engine
from sandbox.model.event import FaultInjected, NetworkConnected, RegistryRequested
from sandbox.tasks import library
from tests.end_to_end import commands, scripts
from tests.end_to_end.commands import HUMANIZE, recorded, sandbox
from tests.end_to_end.project import Project

run = partial(commands.run, task=HUMANIZE)
pytestmark = pytest.mark.engine

PORT = 4999
REGISTRY = """
  registry:
    port: {port}
    artifacts:
      - kind: wheel
        name: six
        version: {six.version}
        filename: {six.filename}
        sha256: {six.sha256}
    faults:
      - id: busy
        effect: unavailable
        path: simple/**
        times: 1
"""
FETCH = f"pip download --no-deps -d /tmp/got -i http://localhost:{PORT}/simple/ six"


@pytest.mark.slow
def test_a_registry_is_reached_by_grant(
    runs: Path, project: Project, engine: Engine, tmp_path: Path
) -> None:
    six = next(each for each in library.load(HUMANIZE).task.world.mirror if each.name == "six")
    offered = REGISTRY.format(port=PORT, six=six)
    project.replace(project.task, "\npolicy:\n", f"{offered}\npolicy:\n")
    assert "up to date" in sandbox("build", HUMANIZE, **project.environment).err
    shown = sandbox("show", HUMANIZE, **project.environment).out
    assert f"network network: 1 packages on port {PORT}, 1 scripted faults" in shown
    script = scripts.write(tmp_path / "agent.yaml", scripts.command(FETCH), scripts.command(FETCH))
    run(str(script), runs, "--approver", "allow", **project.environment)
    stored = recorded(runs, engine)
    found = [
        (entry.action_id, type(entry.event))
        for entry in stored.entries
        if isinstance(entry.event, NetworkConnected | RegistryRequested | FaultInjected)
    ]
    first = [NetworkConnected, RegistryRequested, FaultInjected, *[RegistryRequested] * 2]
    again = [NetworkConnected, RegistryRequested]  # the file is there already
    assert found == [*[("1", kind) for kind in first], *[("2", kind) for kind in again]]
    shown = sandbox("trace", "last", "--runs", str(runs)).out
    assert f"GET /files/{six.filename}: 200" in shown
    assert "busy: unavailable of /simple/six/, number 1" in shown

    run(str(script), runs, **project.environment)
    denied = recorded(runs, engine)
    assert not any(isinstance(entry.event, NetworkConnected) for entry in denied.entries)
