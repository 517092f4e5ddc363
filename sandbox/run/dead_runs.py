"""Runs whose process was ended before they were: their end is noted by whoever comes next."""

from collections.abc import Iterable
from contextlib import suppress

from sandbox.model.errors import StoreError
from sandbox.model.run_folder import RunFolder
from sandbox.model.store import Store
from sandbox.run.judged_trial import abandon

KILLED = "The harness was killed before the run had ended; its trace says what was done until then."


def bury(folders: Iterable[RunFolder]) -> list[str]:
    """Note `error` for each run that nobody holds any more and that has no end; give their ids.

    Open sessions are left to `sandbox close`. What cannot be read or written is left as it is.
    """
    return [folder.id for folder in folders if _bury(folder)]


def sweep(store: Store) -> None:
    """Remove the folders of runs whose process was killed before it had written anything."""
    for folder in list(store.unbegun()):
        store.remove(folder)


def _bury(folder: RunFolder) -> bool:
    with suppress(StoreError):
        record = folder.record()
        over = record.ended is not None or record.verdict is not None
        if not over and not folder.calls.exists() and not folder.is_live:
            folder.release()
            folder.tidy()
            abandon(folder, KILLED)
            return True
    return False
