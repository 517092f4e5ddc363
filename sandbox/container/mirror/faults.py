"""Which of a world's faults befalls a request: counted, hence the same each time."""

import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sandbox.model.glob import Globs
from sandbox.model.registry import RegistryFault

ARCHIVES_ONLY = ("truncated", "wrong_hash")


@dataclass(frozen=True, slots=True)
class Strike:
    """A fault that befalls a request."""

    fault: RegistryFault
    occurrence: int
    """Counts from 1 in a run."""


class Faults:
    """The faults of one run. Safe for several threads."""

    def __init__(self, faults: Sequence[RegistryFault]) -> None:
        self._faults = [(fault, Globs([fault.package]), _paths(fault)) for fault in faults]
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()

    def strike(self, path: str, package: str, *, archive: bool) -> Strike | None:
        """Give what befalls a request, and count it."""
        with self._lock:
            for fault, packages, paths in self._faults:
                spent = fault.times is not None and self._counts[fault.id] >= fault.times
                if spent or (fault.effect in ARCHIVES_ONLY and not archive):
                    continue
                if packages.match(package) and (paths is None or paths.match(path.strip("/"))):
                    self._counts[fault.id] += 1
                    return Strike(fault, self._counts[fault.id])
        return None


def _paths(fault: RegistryFault) -> Globs | None:
    return None if fault.path is None else Globs([fault.path])
