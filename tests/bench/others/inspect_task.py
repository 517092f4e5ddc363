"""Trials under Inspect, in its own sandbox of Docker Compose; the order is in ORDER."""

import json
import os

from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import Score, Scorer, Target, accuracy, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import sandbox
from inspect_ai.util._sandbox.docker import prereqs

# It asks for Docker 24.0.6; what these trials do works with Debian's 20.10 as well.
prereqs.validate_docker_engine.__defaults__ = ("20.10.0",)
ORDER = json.loads(os.environ["ORDER"])


@solver  # type: ignore[untyped-decorator]
def ten_actions() -> Solver:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        for line in ORDER["lines"]:
            await sandbox().exec(["bash", "-c", line], user="agent", cwd=ORDER["folder"])
        return state

    return solve


@scorer(metrics=[accuracy()])  # type: ignore[untyped-decorator]
def tests() -> Scorer:
    async def score(state: TaskState, target: Target) -> Score:
        done = await sandbox().exec(
            ["bash", "-c", ORDER["tests"]], user="agent", cwd=ORDER["folder"]
        )
        assert done.returncode == 1, done
        return Score(value="I")

    return score


@task  # type: ignore[untyped-decorator]
def ten() -> Task:
    return Task(
        dataset=[Sample(input="Begin.", id=number) for number in range(ORDER["at_once"])],
        solver=ten_actions(),
        scorer=tests(),
        sandbox=("docker", ORDER["compose"]),
    )
