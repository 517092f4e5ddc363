"""The oracle and the wrong agents of a task, run by the command line, and who refused them."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import yaml

from sandbox.model.grade import RunGrade
from tests.end_to_end.commands import Ended, sandbox
from tests.task_repos import ROOT

AT_ONCE = 2


@dataclass(frozen=True, slots=True)
class Tried:
    """What became of every agent of a task."""

    ended: dict[str, Ended]
    expected: dict[str, str]
    """By wrong agent: the one grader that has to refuse it."""

    def refusals(self, name: str) -> dict[str, str]:
        """By grader that refused an agent: all its reasons, as JSON."""
        grade = RunGrade.model_validate_json(self.ended[name].out)
        return {
            part.grader: part.model_dump_json() for part in grade.grades if part.verdict != "passed"
        }


def wrong_agents(task: str) -> dict[str, str]:
    """By wrong agent of a task: the one grader that has to refuse it."""
    expected: dict[str, str] = yaml.safe_load((ROOT / task / "expected.yaml").read_text())
    scripts = {path.stem for path in (ROOT / task).glob("*.yaml")} - {"expected"}
    assert scripts == set(expected), "each wrong agent is expected to fail somewhere"
    return expected


def tried(task: str, runs: Path) -> Tried:
    """Run the oracle and every wrong agent."""
    expected = wrong_agents(task)
    agents: dict[str, str | Path] = {name: ROOT / task / f"{name}.yaml" for name in expected}
    agents["oracle"] = "oracle"
    with ThreadPoolExecutor(AT_ONCE) as pool:
        started = {
            name: pool.submit(sandbox, "run", task, "--agent", agent, "--runs", runs, "--json")
            for name, agent in agents.items()
        }
    return Tried({name: future.result() for name, future in started.items()}, expected)
