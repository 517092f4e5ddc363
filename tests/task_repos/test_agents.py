"""Every oracle of each task passes, and each wrong agent fails for its own reason.

The wrong agents and further oracles of a task run in one process, as those of `sandbox validate`
do: agents that leave the same candidate behind share what its tests gave. The first oracle runs by
the command line.
"""

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from sandbox.agents.base import Agent
from sandbox.agents.scripted import ScriptedAgent
from sandbox.container import engines
from sandbox.container.engines.base import Engine
from sandbox.model import documents, places
from sandbox.model.grade import RunGrade
from sandbox.model.job import Job
from sandbox.model.run_folder import RunFolder
from sandbox.model.store import Store
from sandbox.model.task import Script
from sandbox.rules.policy.approvers import ScriptedApprover
from sandbox.run.batch import Batch
from sandbox.run.trial import Trial
from sandbox.run.validate.shared_outcomes import SharedOutcomes
from sandbox.tasks import library
from sandbox.tasks.images import Images
from tests import samples
from tests.end_to_end.commands import TASK, sandbox
from tests.task_repos import ROOT
from tests.task_repos.wrong_agents import wrong_agents

pytestmark = pytest.mark.engine

AT_ONCE = 2
TASKS = sorted(library.names(), key=TASK.__ne__)
"""The cheapest one first, for the samples."""
OTHERS = [(task, name) for task in TASKS for name in library.load(task).task.other_oracles]
EACH = [(task, name) for task in TASKS for name in wrong_agents(task)]


def graded(engine: Engine, task: str, names: list[str], runs: Path) -> dict[str, RunGrade]:
    """Run some wrong agents of a task, and oracles of it but the first."""
    loaded = library.load(task)
    image = Images(engine, places.cache()).ensure(loaded, print)
    shared = SharedOutcomes()

    def prepare(job: Job) -> Trial:
        def agent(_: RunFolder) -> Agent:
            script = loaded.task.other_oracles.get(job.agent)
            if script is None:
                script = documents.load(ROOT / task / f"{job.agent}.yaml", Script).root
            return ScriptedAgent(script, job.agent)

        approver = ScriptedApprover(loaded.task.policy)
        tester = shared.tester(image.id)
        return Trial(loaded, image, agent, approver, tester=tester, early=False)

    store = Store(runs)
    jobs = [Job(task=task, task_digest=loaded.digest, agent=name, trial=1) for name in names]
    found = {}
    for result in Batch(prepare, engine, store, AT_ONCE).results(jobs):
        assert result.run is not None, result.problem
        assert not result.problem, result.problem
        folder = store.folder(result.run)
        found[result.job.agent] = folder.load(folder.grade, RunGrade)
    return found


@pytest.fixture(scope="module")
def grades(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], dict[str, RunGrade]]]:
    """The grades of a task's agents, made when they are first asked for."""
    engine = engines.connect()
    tests = (test_a_wrong_agent_fails_for_its_own_reason, test_every_other_oracle_passes)
    cases = samples.chosen(request, *(test.__name__ for test in tests))

    @cache
    def of_task(task: str) -> dict[str, RunGrade]:
        names = [str(case["name"]) for case in cases if case["task"] == task]
        return graded(engine, task, names, tmp_path_factory.mktemp("runs"))

    yield of_task
    engine.close()


@pytest.mark.slow
@pytest.mark.sampled(every=100)
@pytest.mark.parametrize(("task", "name"), EACH)
def test_a_wrong_agent_fails_for_its_own_reason(
    grades: Callable[[str], dict[str, RunGrade]], task: str, name: str
) -> None:
    expected = wrong_agents(task)[name]
    grade = grades(task)[name]
    refused = {part.grader: part for part in grade.grades if part.verdict != "passed"}
    assert set(refused) == set(expected.refused_by)
    reasons = refused[expected.refused_by[0]].reasons
    assert any(expected.reason in reason.model_dump_json() for reason in reasons), reasons


@pytest.mark.slow
@pytest.mark.sampled(every=6)
@pytest.mark.parametrize(("task", "name"), OTHERS)
def test_every_other_oracle_passes(
    grades: Callable[[str], dict[str, RunGrade]], task: str, name: str
) -> None:
    grade = grades(task)[name]
    assert grade.verdict == "passed", grade.model_dump_json(indent=2)


@pytest.mark.sampled(every=9)
@pytest.mark.parametrize("task", [task for task in TASKS if task != "humanize/file-sizes"])
def test_the_oracle_passes_on_the_command_line(task: str, tmp_path: Path) -> None:
    """That of humanize/file-sizes is tried by end_to_end/test_runs.py."""
    ended = sandbox("run", task, "--agent", "oracle", "--runs", tmp_path, "--json")
    assert ended.code == 0, ended
