"""A stored run as messages of a model with tools, for training and for people's own tools."""

from pathlib import Path

from sandbox.agents.function_agent import Shape
from sandbox.agents.messages import Message
from sandbox.agents.messages import messages as conversing
from sandbox.model import places
from sandbox.model import trace as traces
from sandbox.model.errors import UsageError
from sandbox.model.run_folder import RunFolder
from sandbox.model.store import Store
from sandbox.tasks import library


def conversation(folder: RunFolder, shape: Shape = "openai") -> list[Message]:
    """Give a run as messages.

    UsageError where its task is another one by now, for the prompt is the task's; EvidenceError
    where the trace is not whole.
    """
    record = folder.record()
    task = library.load(record.task)
    if task.digest != record.task_digest:
        raise UsageError(
            f"{record.task} has changed since the run {record.id}: its prompt may be another one.",
            "Take the version of the task that the run was made with.",
        )
    return conversing(task.task.prompt, traces.whole(folder.trace), shape)


def messages(
    run: str = "last", *, shape: Shape = "openai", runs: str | Path | None = None
) -> list[Message]:
    """Give a stored run, `last` or the start of its name, as messages; raises as `conversation`.

    `runs` is where runs are kept (SANDBOX_RUNS, else ./runs).
    """
    store = Store(Path(runs) if runs is not None else places.runs())
    return conversation(store.find(run), shape)
