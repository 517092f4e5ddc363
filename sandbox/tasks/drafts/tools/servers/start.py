"""Start a server that others wrote, over data that lies beside this file.

`start.py NAME.sql` serves a database (mcp-server-sqlite), `start.py FOLDER` the history of a folder
(mcp-server-git).
"""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

WIKI = {
    f"GIT_{role}_{key}": value
    for role in ("AUTHOR", "COMMITTER")
    for key, value in {
        "NAME": "Wiki",
        "EMAIL": "wiki@example.org",
        "DATE": "2024-11-18T09:00:00+00:00",
    }.items()
}


def database(script: Path) -> list[str]:
    """Make a database of a script, unless it is there already; give how it is served."""
    path = script.with_suffix(".db")
    if not path.exists():
        with sqlite3.connect(path) as made:
            made.executescript(script.read_text("utf-8"))
    return ["mcp-server-sqlite", "--db-path", str(path)]


def repository(folder: Path) -> list[str]:
    """Make a repository of a folder, unless it is one already; give how it is served."""
    if not (folder / ".git").exists():
        for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "Pages"]):
            subprocess.run(["git", *words], cwd=folder, env={**os.environ, **WIKI}, check=True)
    return ["mcp-server-git", "--repository", str(folder)]


def main() -> None:
    """Become the server."""
    data = Path(sys.argv[1]).resolve()
    served = repository(data) if data.is_dir() else database(data)
    os.execv(Path(sys.executable).with_name(served[0]), served)  # noqa: S606


if __name__ == "__main__":
    main()
