"""A run as a line of training data: its messages, and what the run was worth."""

from pydantic import JsonValue

from sandbox.agents.messages import messages
from sandbox.agents.tools import Shape
from sandbox.model.verdict import Verdict
from sandbox.run.exports.stored_run import StoredRun


def line(run: StoredRun, shape: Shape) -> dict[str, JsonValue]:
    """Give the messages of a model with tools, the verdict, and a reward of 0 or 1.

    `tools` are the actions that the agent had. The reward is None where the run says nothing of the
    agent, for an error has ended it.
    """
    verdict = run.record.verdict
    graded = verdict in (Verdict.PASSED, Verdict.FAILED, Verdict.INVALID)
    return {
        "run": run.record.id,
        "task": run.record.task,
        "agent": run.record.acting,
        "model": run.model,
        "verdict": verdict,
        "ended": run.record.end.how if run.record.end else None,
        "reward": float(verdict is Verdict.PASSED) if graded else None,
        "rewards": {
            grade.grader: float(grade.verdict is Verdict.PASSED)
            for grade in (run.grade.grades if run.grade else ())
        },
        "tools": list(run.tools(shape)),
        "messages": list(messages(run.prompt, run.entries, shape)),
    }
