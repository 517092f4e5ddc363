"""The wrong agents of all tasks, as data: `<repo>/<task>/<agent>.yaml` and `expected.yaml`."""

from pydantic import RootModel

from sandbox.model import documents
from sandbox.model.base import Record
from tests.task_repos import ROOT


class Expected(Record):
    """How a wrong agent has to end."""

    refused_by: tuple[str, ...]
    """The graders that refuse it."""
    reason: str
    """What is among the reasons of the first one."""


class Table(RootModel[dict[str, Expected]]):
    """By wrong agent."""


def wrong_agents(task: str) -> dict[str, Expected]:
    """All wrong agents of a task."""
    expected = documents.load(ROOT / task / "expected.yaml", Table).root
    scripts = {path.stem for path in (ROOT / task).glob("*.yaml")} - {"expected"}
    assert scripts == set(expected), f"{task}: each script is expected to fail somewhere"
    return expected
