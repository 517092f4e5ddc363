"""The change set of one run, found in two ways."""

from pathlib import Path

import pytest

from sandbox.agents.scripted import ScriptedAgent
from sandbox.container import candidate as candidates
from sandbox.container.changes.collector import Collected, Collector
from sandbox.container.engines.base import Engine, SessionSpec
from sandbox.model.trace import TraceWriter
from sandbox.rules.policy.approvers import ScriptedApprover
from sandbox.run.actions.workspace import Workspace
from sandbox.run.loop import run
from sandbox.tasks import library
from sandbox.tasks.images import BuiltImage
from tests.end_to_end.commands import HUMANIZE
from tests.sandbox.runs import STARTED

pytestmark = pytest.mark.engine


@pytest.mark.thorough
def test_overlay_and_manifest_agree_on_the_oracle(
    engine: Engine, image: BuiltImage, tmp_path: Path
) -> None:
    loaded = library.load(HUMANIZE)
    task, scope, worktree = loaded.task, loaded.task.scope, loaded.worktree
    spec = SessionSpec(image.id)
    with engine.start(spec) as session, engine.start(spec) as pristine:
        usual = Collector(session, scope, worktree)
        if usual.source != "overlay":
            pytest.skip("the engine's overlay cannot be read from here")
        other = Collector(session, scope, worktree, source="manifest")
        workspace = Workspace(session, task, worktree)
        with TraceWriter(tmp_path / "trace.jsonl") as trace:
            run(
                ScriptedAgent(task.oracle), workspace, ScriptedApprover(task.policy), trace, STARTED
            )
        found: list[Collected] = [each.collect(lambda: pristine) for each in (usual, other)]
        taken = [candidates.take(session, each.changes, scope, worktree) for each in found]
    by_overlay, by_manifest = found
    assert by_manifest.changes.changes == by_overlay.changes.changes
    assert by_manifest.changes.git == by_overlay.changes.git
    assert by_manifest.patch == by_overlay.patch
    assert taken[0] == taken[1]
    assert {change.owner for change in by_overlay.changes.changes} == {"must", "generated", "git"}
