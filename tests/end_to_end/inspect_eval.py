"""Evaluates a task with Inspect and a model whose answers are given; prints what Inspect logged.

Started as a program of its own, as Inspect is: sys.argv has the task, whose solver acts, and the
folder of logs; standard input the tool calls as JSON.
"""

import json
import sys
from collections.abc import Awaitable

from inspect_ai import eval as evaluate
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.solver import Generate, Solver, TaskState, generate, solver, use_tools
from inspect_ai.tool import bash
from inspect_ai.util import sandbox

MODEL = "mockllm/model"
USAGE = ModelUsage(input_tokens=10, output_tokens=2, total_tokens=12)


@solver
def files() -> Solver:
    """Do with the sandbox what solvers do, and note what came of it."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        async def refused(doing: Awaitable[object]) -> str:
            try:
                await doing
            except OSError as error:
                return type(error).__name__
            return ""

        there = sandbox()
        await there.write_file("new/a.txt", "one\n")
        await there.write_file("new/b.bin", b"\xff\x00")
        shell = ["sh", "-c", "cat; pwd; echo $X"]
        done = await there.exec(shell, input="in ", cwd="/tmp", env={"X": "é $"})
        state.metadata["told"] = {
            "text": await there.read_file("new/a.txt"),
            "bytes": list(await there.read_file("new/b.bin", text=False)),
            "exec": [done.success, done.returncode, done.stdout],
            "failed": (await there.exec(["false"])).returncode,
            "refused": [
                await refused(there.read_file("nowhere")),
                await refused(there.read_file("/etc/shadow")),
                await refused(there.exec(["id"], user="root")),
            ],
        }
        return state

    return solve


def main(task: str, acting: str, logs: str) -> None:
    outputs = [
        ModelOutput.for_tool_call(MODEL, call["action"], call["arguments"])
        for call in json.load(sys.stdin)
    ]
    outputs.append(ModelOutput.from_content(MODEL, "That is all."))
    for output in outputs:
        output.usage = USAGE  # else Inspect counts tokens, with a table that it fetches
    model = get_model(MODEL, custom_outputs=outputs)
    theirs = {"theirs": [use_tools(bash()), generate()], "files": [files()]}.get(acting)
    (log,) = evaluate(task, model=model, solver=theirs, log_dir=logs, display="none")
    sample = (log.samples or [])[0]
    score = (sample.scores or {})["verdict"]
    told = {
        "status": log.status,
        "told": sample.metadata.get("told"),
        "value": score.value,
        "explanation": score.explanation,
        "run": (score.metadata or {})["run"],
        "tools": [
            [message.text, message.error.message if message.error else None]
            for message in sample.messages
            if message.role == "tool"
        ],
    }
    sys.stdout.write(json.dumps(told) + "\n")


main(*sys.argv[1:])
