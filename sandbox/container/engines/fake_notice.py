"""What happens to files of a container that exists in this process only: by comparison."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from sandbox.model.session import ExecObserver, FileEntry, FileKind, Touch, TouchKind

Listing = Callable[[], Mapping[bytes, FileEntry]]
"""Everything there is, by absolute path, with digests."""

KINDS = {FileKind.FILE: 0o100000, FileKind.SYMLINK: 0o120000}


@dataclass(slots=True)
class FakeNotice:
    """Notices, when it is asked, what differs from the last time."""

    listing: Listing
    roots: Sequence[str]
    excluding: Sequence[str]
    _known: dict[bytes, FileEntry] = field(init=False)

    def __post_init__(self) -> None:
        """Look for the first time."""
        self._known = self._look()

    def tell(self, observer: ExecObserver) -> None:
        """Tell what differs."""
        before, self._known = self._known, self._look()
        for path in sorted(before.keys() | self._known.keys()):
            old, new = before.get(path), self._known.get(path)
            if new is None:
                observer.touched(Touch(TouchKind.GONE, path))
            elif old is None or (old.mode, old.digest, old.target) != (
                new.mode,
                new.digest,
                new.target,
            ):
                mode = KINDS.get(new.kind, 0) | new.mode
                touch = Touch(TouchKind.FILE, path, mode, new.digest, changed_ns=new.ctime_ns)
                observer.touched(touch)

    def _look(self) -> dict[bytes, FileEntry]:
        return {
            path: entry
            for path, entry in self.listing().items()
            if entry.kind is not FileKind.DIRECTORY and self._is_watched(path.decode())
        }

    def _is_watched(self, path: str) -> bool:
        if not any(f"{path}/".startswith(root.rstrip("/") + "/") for root in self.roots):
            return False
        parts = path.split("/")
        above = {"/".join(parts[:count]) for count in range(2, len(parts) + 1)}
        return not any(each in above if "/" in each else each in parts for each in self.excluding)
