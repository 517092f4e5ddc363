"""`sandbox audit` on the project's own tasks."""

import json
from pathlib import Path

import pytest

from sandbox.container.engines.base import Engine
from sandbox.model.store import Store
from tests.end_to_end.commands import TASK, sandbox

pytestmark = pytest.mark.engine


@pytest.mark.thorough
def test_nobody_passes_blindly(runs: Path, engine: Engine) -> None:
    ended = sandbox("audit", TASK, "--runs", runs, "--json")
    signs = {sign["name"]: sign for sign in json.loads(ended.out)}
    names = ["path", "harness", "spelling", "blind", "sequence", "forbidden", "decisions"]
    assert list(signs) == names
    assert (signs["blind"]["status"], signs["forbidden"]["status"]) == ("clear", "clear")
    (blind,) = Store(runs).checks.folders()
    assert blind.id in signs["blind"]["details"][0]
    assert (blind.record().agent, blind.record().verdict) == ("blind", "failed")
    assert ended.code == any(sign["status"] == "warning" for sign in signs.values())


def test_an_audit_without_an_engine(runs: Path) -> None:
    ended = sandbox("audit", TASK, "--no-blind", "--runs", runs)
    assert "no blind agent was run" in ended.out
    assert ended.err == ""
