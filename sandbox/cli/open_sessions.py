"""Open sessions of a store: which there are, and what is done for one whose process is gone."""

from typing import TYPE_CHECKING

from sandbox.model.errors import UsageError

if TYPE_CHECKING:
    from sandbox.container.engines.base import Engine
    from sandbox.model.run_folder import RunFolder
    from sandbox.model.store import Store

GONE = (
    "The process that kept the session was ended before the run was; its trace says what was done."
)


def is_open(folder: "RunFolder") -> bool:
    """Whether a run waits for calls or is being graded after them."""
    from sandbox.agents.session_caller import listens

    return folder.calls.exists() and listens(folder.calls)


def is_orphan(folder: "RunFolder") -> bool:
    """Whether a run was kept by a process that is no more, and nobody has noted its end."""
    from sandbox.agents.session_caller import listens

    # Asked in this order: a session that ends meanwhile notes that before its socket goes.
    return folder.calls.exists() and not listens(folder.calls) and folder.calls.exists()


def standing(folder: "RunFolder") -> str:
    """Describe the state of an open session; nothing for a run that is not an open session."""
    short = folder.id[:8]
    if is_open(folder):
        return f"no verdict yet: it is open to `sandbox call {short}`, or being graded"
    if is_orphan(folder):
        return f"no verdict: the session's process is gone; `sandbox close {short}` notes that"
    return ""


def bury(folder: "RunFolder", engine: "Engine") -> list[str]:
    """Note the end of an orphan, unless its own process has; the containers that were removed."""
    from sandbox.run.judged_trial import abandon
    from sandbox.run.run_containers import RUN

    left = [container.id for container in engine.containers(f"{RUN}={folder.id}")]
    for container in left:
        engine.remove_container(container)
    if folder.record().ended is None:
        folder.release()
        abandon(folder, GONE)
    folder.calls.unlink(missing_ok=True)
    return left


def find_open(store: "Store", name: str) -> "RunFolder":
    """The run that a name means; UsageError where nobody can call it any more, or ever could.

    What that says names no task: a variant's name would tell the caller what it is made of.
    """
    folder = store.find(name)
    if folder.calls.exists():
        return folder
    record = folder.record()
    if record.ended:
        ended = record.end
        why = f" ({ended.message.rstrip('.') or ended.how})" if ended else ""
        raise UsageError(
            f"{folder.id} is over: {record.verdict}{why}.",
            f"`sandbox show {folder.id[:8]}` says why. `sandbox open TASK` opens another.",
        )
    raise UsageError(
        f"{folder.id} is not an open session.",
        "`sandbox tasks` lists those that are. `sandbox open TASK` opens one.",
    )
