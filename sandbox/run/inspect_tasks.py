"""Our tasks as tasks of Inspect: `inspect eval sandbox/humanize-file-sizes --model ...`.

Inspect loads this module by its entry point. The container of a sample is a run of ours: the
model's tools are our actions, `sandbox()` of other people's solvers reaches the same container by
the same actions, and the score is our verdict. Needs `sandbox[inspect]`.
"""

import asyncio
import base64
import shlex
from collections.abc import Callable
from typing import Any, Literal, overload

import inspect_ai
from inspect_ai.dataset import Sample
from inspect_ai.model import get_model
from inspect_ai.scorer import CORRECT, INCORRECT, Score, Scorer, Target, accuracy, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import Tool, ToolDef, ToolError
from inspect_ai.util import ExecResult, SandboxEnvironment, sandbox, sandboxenv
from pydantic import JsonValue

from sandbox.agents.tools import tools
from sandbox.model.briefing import Reply
from sandbox.model.observation import ErrorCode
from sandbox.model.verdict import Verdict
from sandbox.run.exports.inspect_log import parameters
from sandbox.run.python_async import AsyncOpenWorld, open_async
from sandbox.tasks import library

NAME = "sandbox"


@sandboxenv(name=NAME)
class RunEnvironment(SandboxEnvironment):
    """The container of a run. What is asked of it is an action: policy, limits and trace hold."""

    def __init__(self, world: AsyncOpenWorld) -> None:
        super().__init__()
        self.world = world
        self.cut_off = False
        """Whether an action was no longer waited for."""

    @classmethod
    async def sample_init(
        cls,
        task_name: str,
        config: object,
        metadata: dict[str, str],
    ) -> dict[str, SandboxEnvironment]:
        """Begin the run."""
        world = open_async(metadata["task"], name=f"inspect {get_model()}")
        return {"default": cls(await world.__aenter__())}

    @classmethod
    async def sample_cleanup(
        cls,
        task_name: str,
        config: object,
        environments: dict[str, SandboxEnvironment],
        interrupted: bool,
    ) -> None:
        """End the run, which is then graded, if it was not interrupted or graded before."""
        for environment in environments.values():
            ours = environment.as_type(cls)
            # Inspect does not call it an interrupt where it has caught the solver's itself.
            if interrupted or ours.cut_off:
                await ours.world.interrupt()
            else:
                await ours.world.__aexit__(None, None, None)

    async def step(self, action: str, arguments: dict[str, JsonValue]) -> Reply:
        """Perform an action."""
        try:
            return await self.world.step(action, arguments)
        except asyncio.CancelledError:
            self.cut_off = True
            raise

    async def exec(
        self,
        cmd: list[str],
        input: str | bytes | None = None,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        user: str | None = None,
        timeout: int | None = None,
        timeout_retry: bool = True,
        concurrency: bool = True,
    ) -> ExecResult[str]:
        """Run a command as the agent; PermissionError for any other user, or by the policy."""
        if user is not None:
            raise PermissionError("Commands run as the task's agent, and as nobody else.")
        setting = [f"{name}={value}" for name, value in (env or {}).items()]
        line = shlex.join(["env", *setting, *cmd] if setting else cmd)
        if cwd is not None:
            line = f"cd {shlex.quote(cwd)} && {line}"
        if input is not None:
            data = input.encode() if isinstance(input, str) else input
            line = f"printf %s {base64.b64encode(data).decode()} | base64 -d | ( {line} )"
        arguments: dict[str, JsonValue] = {"command": line}
        if timeout is not None:
            arguments["timeout_seconds"] = timeout
        reply = await self.step("run_command", arguments)
        if reply.error_code is ErrorCode.TIMEOUT:
            raise TimeoutError(reply.message)
        _permitted(reply)
        code = reply.result["exit_code"]
        return ExecResult(
            success=code == 0,
            returncode=code if isinstance(code, int) else 1,
            stdout=str(reply.result["stdout"]),
            stderr=str(reply.result["stderr"]),
        )

    async def write_file(self, file: str, contents: str | bytes) -> None:
        """Write a file of the worktree."""
        arguments: dict[str, JsonValue] = {"path": file}
        if isinstance(contents, bytes):
            arguments |= {"content": base64.b64encode(contents).decode(), "encoding": "base64"}
        else:
            arguments["content"] = contents
        _permitted(await self.step("write_file", arguments))

    @overload
    async def read_file(self, file: str, text: Literal[True] = True) -> str: ...

    @overload
    async def read_file(self, file: str, text: Literal[False]) -> bytes: ...

    async def read_file(self, file: str, text: bool = True) -> str | bytes:
        """Read a file of the worktree."""
        reply = await self.step("read_file", {"path": file})
        _permitted(reply)
        content = str(reply.result["content"])
        data = base64.b64decode(content) if reply.result["encoding"] == "base64" else None
        if text:
            return content if data is None else data.decode()
        return content.encode() if data is None else data


def _permitted(reply: Reply) -> None:
    """Raise what Inspect expects where an action was refused."""
    kinds = {
        ErrorCode.NOT_FOUND: FileNotFoundError,
        ErrorCode.NOT_A_FILE: IsADirectoryError,
    }
    if reply.error_code is not None:
        raise kinds.get(reply.error_code, PermissionError)(reply.message)


def _run() -> RunEnvironment:
    """Give the sample's run."""
    found: RunEnvironment = sandbox().as_type(RunEnvironment)
    return found


def actions(world: AsyncOpenWorld) -> list[Tool]:
    """Give the actions of a run as tools."""
    return [
        ToolDef(
            tool=_performing(each.name),
            name=each.name,
            description=each.description,
            parameters=parameters(each),
        ).as_tool()
        for each in tools(world.briefing)
    ]


def _performing(action: str) -> Callable[..., Any]:
    async def perform(**arguments: Any) -> str:  # noqa: ANN401 - whatever JSON has
        reply = await _run().step(action, arguments)
        if reply.status == "error":
            raise ToolError(f"{reply.error_code}: {reply.message}")
        return reply.model_dump_json(
            include={"result", "turns_left", "output_left", "seconds_left", "said", "left"}
        )

    return perform


@solver
def acting() -> Solver:
    """Let the model act until it has answered, its run is over, or it calls nothing any more."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        world = _run().world
        state.tools = actions(world)
        while not world.over:
            state = await generate(state, tool_calls="single")
            if not state.output.message.tool_calls:
                break
        return state

    return solve


@scorer(metrics=[accuracy(), stderr()])
def verdict() -> Scorer:
    """Score by our verdict; a run that the machinery could not carry through raises."""

    async def score(state: TaskState, target: Target) -> Score:
        outcome = await _run().world.finish()
        if outcome.verdict is Verdict.ERROR:
            raise RuntimeError(outcome.problem)
        return Score(
            value=CORRECT if outcome.passed else INCORRECT,
            answer=outcome.verdict.value,
            explanation="\n".join(outcome.reasons) or None,
            metadata={"run": outcome.run, "how": outcome.how, "rewards": outcome.rewards},
        )

    return score


def task_of(name: str) -> inspect_ai.Task:
    """Give one of our tasks, or a variant, as a task of Inspect; UsageError for an unknown one."""
    task = library.load(name).task
    sample = Sample(
        id=task.id,
        input=f"{task.title}\n\n{task.prompt}",
        target="passed",
        metadata={"task": name, "facet": task.facet.value},
        sandbox=NAME,
    )
    return inspect_ai.Task(dataset=[sample], solver=acting(), scorer=verdict(), name=_called(name))


def _called(name: str) -> str:
    return name.replace("/", "-")


def _register(name: str) -> None:
    def made() -> inspect_ai.Task:
        return task_of(name)

    inspect_ai.task(made, name=_called(name))


for _name in library.names():
    _register(_name)
