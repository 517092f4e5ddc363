"""Patches between two states of some files."""

import difflib
import io
from collections.abc import Mapping

NOWHERE = "/dev/null"


def lines_of(data: bytes) -> list[str]:
    """Give a file's lines as git counts them, which a form feed or a lone return does not end."""
    return io.StringIO(data.decode(), newline="\n").readlines()


def unified(old: Mapping[str, bytes], new: Mapping[str, bytes]) -> str:
    """Write what leads from one to the other, in the order of the names, as git does."""
    return "".join(
        _of_file(path, old.get(path), new.get(path))
        for path in sorted({*old, *new})
        if old.get(path) != new.get(path)
    )


def _of_file(path: str, old: bytes | None, new: bytes | None) -> str:
    head = f"diff --git a/{path} b/{path}\n"
    head += "new file mode 100644\n" if old is None else ""
    head += "deleted file mode 100644\n" if new is None else ""
    lines = difflib.unified_diff(
        lines_of(old or b""),
        lines_of(new or b""),
        NOWHERE if old is None else f"a/{path}",
        NOWHERE if new is None else f"b/{path}",
    )
    return head + "".join(map(marked, lines))


def marked(line: str) -> str:
    """Give a line of a patch, which says where no end of line follows."""
    return line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
