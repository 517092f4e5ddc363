"""What git itself does not tell of a difference: the text of new files, and whose each line is."""

import json

from graders.shared import edits
from sandbox.model.observation import DiffedLines

_NO_END = "\\ No newline at end of file\n"


def new_file(path: str, content: bytes, *, executable: bool) -> str:
    """Give the difference that git would show once the file is added."""
    old, new = _quoted(f"a/{path}"), _quoted(f"b/{path}")
    head = f"diff --git {old} {new}\nnew file mode {'100755' if executable else '100644'}\n"
    if not content:
        return head
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return f"{head}Binary files /dev/null and {new} differ\n"
    if "\0" in text:
        return f"{head}Binary files /dev/null and {new} differ\n"
    lines = text.split("\n")
    ended = lines[-1] == ""
    rows = lines[:-1] if ended else lines
    body = "".join(f"+{row}\n" for row in rows)
    count = "1" if len(rows) == 1 else f"1,{len(rows)}"
    end = "" if ended else _NO_END
    return f"{head}--- /dev/null\n+++ {new}\n@@ -0,0 +{count} @@\n{body}{end}"


def _quoted(name: str) -> str:
    """Put a name with odd characters between quotes, so that it ends where it ends."""
    return name if name.isprintable() and '"' not in name else json.dumps(name)


def line_owners(head: str, now: str, users: str) -> tuple[DiffedLines, ...]:
    """Say of each place where a file differs from HEAD whether the user had changed it so.

    `users` is the file as it stood when the run began. HEAD may have moved since.
    """
    lines = head.splitlines(keepends=True)
    theirs = {(start, end, *instead) for start, end, instead in edits(lines, users)}
    found = []
    shift = 0
    for start, end, instead in edits(lines, now):
        first = start + shift + bool(instead)
        last = first + max(len(instead) - 1, 0)
        owner = "user" if (start, end, *instead) in theirs else "yours"
        found.append(DiffedLines.model_validate({"first": first, "last": last, "owner": owner}))
        shift += len(instead) - (end - start)
    return tuple(found)
