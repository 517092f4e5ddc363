"""What images hold at the watched folders, kept on this machine: to read it all takes a while.

A file is the SHA-256 of its text, and the text: one that was damaged is read anew.
"""

import hashlib
import json
from contextlib import suppress
from pathlib import Path

from sandbox.model import places
from sandbox.model.errors import StoreError
from sandbox.model.run_folder import write_whole

FOLDER = "baselines"
MOST = 64
"""Images of which it is kept; those that were written first go first."""

Rows = dict[str, tuple[str, str, bool, int]]
"""By path: digest, kind, whether it can be run, mode."""


def load(key: str) -> Rows | None:
    """Give what was kept; None where that is nothing, or cannot be read."""
    try:
        digest, _, text = _path(key).read_bytes().partition(b"\n")
    except OSError:
        return None
    if hashlib.sha256(text).hexdigest().encode() != digest:
        return None
    rows = json.loads(text)
    return {path: (digest, kind, run, mode) for path, (digest, kind, run, mode) in rows.items()}


def keep(key: str, rows: Rows) -> None:
    """Keep it for later; a cache that cannot be written keeps nothing."""
    path = _path(key)
    with suppress(OSError, StoreError):
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(rows, separators=(",", ":")).encode()
        write_whole(path, hashlib.sha256(text).hexdigest().encode() + b"\n" + text)
        others = sorted(path.parent.glob("*.json"), key=lambda each: each.stat().st_mtime)
        for old in others[:-MOST]:
            old.unlink(missing_ok=True)


def _path(key: str) -> Path:
    return places.cache() / FOLDER / f"{key}.json"
