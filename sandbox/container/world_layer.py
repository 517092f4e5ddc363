"""Laying a world's layer over a session that nobody has used: commits, files, tool servers."""

import shlex
from datetime import datetime

from sandbox.container.engines.base import Session
from sandbox.container.servers.servers import PLACE, SERVER_USER
from sandbox.model.errors import LayerError
from sandbox.model.layer import LaidCommit, LaidFile, Layer
from sandbox.model.repository import Person
from sandbox.model.session import AGENT, Command, User

OLD = "2025-06-01T00:00:00+00:00"
"""When all files of a layer were last changed, as far as their times say."""

_PRIVATE = 0o600
_ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/home/agent",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
}


def lay(session: Session, layer: Layer, worktree: str, author: Person) -> None:
    """Lay it down, the same bytes and times in each session of an image.

    LayerError where a file is there that should be new, or is not there that should be longer.
    Git runs here on a repository that no agent has touched.
    """
    if layer == Layer():
        return
    # Earlier than any tick of the clock by which files may be written from now on.
    _run(session, "touch -d '2 seconds ago' .git/laying", worktree)
    for commit in layer.commits:
        _write(session, commit.files, worktree)
        _run(session, _committing(commit, author), worktree)
    _write(session, layer.files, worktree)
    paths = shlex.join(file.path for file in layer.every_file)
    aged = f"find .git {paths} -newer .git/laying -type f -exec touch -d {OLD} {{}} +"
    _run(session, f"{aged}; rm .git/laying", worktree)
    _lay_servers(session, layer)


def _write(session: Session, files: tuple[LaidFile, ...], worktree: str) -> None:
    for file in files:
        data = file.text.encode()
        try:
            if file.append:
                data = session.read(file.path, beneath=worktree, follow=False) + data
            elif _is_there(session, file.path, worktree):
                raise LayerError(f"The layer would write over {file.path}, which is there already.")
            session.write(file.path, data, beneath=worktree, user=AGENT, parents=True, follow=False)
        except OSError as error:
            problem = f"The layer's {file.path} cannot be laid down: {error.strerror}."
            raise LayerError(problem) from error


def _is_there(session: Session, path: str, worktree: str) -> bool:
    try:
        session.stat(path, beneath=worktree)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def _committing(commit: LaidCommit, author: Person) -> str:
    """Return the lines that commit files beside whatever the user has staged.

    They go into the real index without the times of their files, which differ in each session.
    """
    paths = shlex.join(file.path for file in commit.files)
    message = shlex.quote(commit.message.rstrip() + "\n")
    stamp = f"{int(datetime.fromisoformat(commit.date).timestamp())} +0000"
    who = {"NAME": author.name, "EMAIL": author.email, "DATE": stamp}
    variables = " ".join(
        f"GIT_{role}_{key}={shlex.quote(value)}"
        for role in ("AUTHOR", "COMMITTER")
        for key, value in who.items()
    )
    subject = shlex.quote(f"commit: {commit.message.partition(chr(10))[0]}")
    return f"""
export {variables}
beside() {{ GIT_INDEX_FILE=.git/laying.index git "$@"; }}
beside read-tree HEAD
beside update-index --add -- {paths}
tree=$(beside write-tree)
made=$(printf %s {message} | git commit-tree "$tree" -p HEAD)
git update-ref -m {subject} HEAD "$made"
git ls-tree -r "$made" -- {paths} | git update-index --index-info
rm .git/laying.index
"""


def _lay_servers(session: Session, layer: Layer) -> None:
    for server in layer.servers:
        folder = f"{PLACE}/{server.name}"
        for name, text in server.files.items():
            session.write(
                f"{folder}/{name}",
                text.encode(),
                mode=_PRIVATE,
                user=SERVER_USER,
                parents=True,
                follow=False,
            )
        if server.files:
            _run(session, f"find . -type f -exec touch -d {OLD} {{}} +", folder, SERVER_USER)


def _run(session: Session, lines: str, folder: str, user: User = AGENT) -> None:
    command = Command(
        argv=("/bin/sh", "-euc", lines), cwd=folder, environment=_ENVIRONMENT, user=user
    )
    ended = session.run(command)
    if ended.exit_code != 0:
        said = ended.stderr.decode("utf-8", "replace").strip().splitlines()
        raise LayerError(f"The world's layer cannot be laid down: {said[-1] if said else 'sh'}.")
