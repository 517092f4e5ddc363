"""A stored run as messages of a model with tools, for training and for people's own tools."""

from pathlib import Path

from sandbox.agents.messages import Message
from sandbox.agents.messages import messages as conversing
from sandbox.agents.tools import Shape, refuse_unknown
from sandbox.model import places
from sandbox.model.run_folder import RunFolder
from sandbox.model.store import Store
from sandbox.run.exports import stored_run


def conversation(folder: RunFolder, shape: Shape = "openai") -> list[Message]:
    """Give a run as messages.

    Raises as `stored_run.read`.
    """
    run = stored_run.read(folder)
    return conversing(run.prompt, run.entries, shape)


def messages(
    run: str = "last", *, shape: Shape = "openai", runs: str | Path | None = None
) -> list[Message]:
    """Give a stored run, `last` or the start of its name, as messages; raises as `conversation`.

    UsageError for another shape. `runs` is where runs are kept (SANDBOX_RUNS, else ./runs).
    """
    refuse_unknown(shape)
    store = Store(Path(runs) if runs is not None else places.runs())
    return conversation(store.find(run), shape)
