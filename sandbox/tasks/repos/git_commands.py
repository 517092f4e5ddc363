"""git, run on one repository as if nobody had ever configured it."""

import tempfile
from collections.abc import Mapping
from pathlib import Path

from sandbox.model.errors import RepositoryError

_OPTIONS = {
    "commit.gpgSign": "false",
    "core.attributesFile": "/dev/null",
    "core.autocrlf": "false",
    "core.commitGraph": "false",
    "core.excludesFile": "/dev/null",
    "core.fileMode": "true",
    "core.hooksPath": "/dev/null",
    "core.ignoreCase": "false",
    "core.logAllRefUpdates": "false",
    "core.precomposeUnicode": "false",
    "core.quotePath": "false",
    "core.safecrlf": "false",
    "gc.auto": "0",
    "index.version": "2",
    "maintenance.auto": "false",
    "pack.threads": "1",
    "pack.writeReverseIndex": "false",
    "repack.writeBitmaps": "false",
    "tag.gpgSign": "false",
}
"""Whatever else could change an object, or leave a file behind."""


class CommandError(Exception):
    """git ended with an error; the text is what it said."""


class Git:
    """Runs git on the repository `folder`, deaf to configuration and environment."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.absolute()
        self.directory = self.folder / ".git"

    def run(
        self, *arguments: str, environment: Mapping[str, str] | None = None, stdin: bytes = b""
    ) -> str:
        """Return what git printed, without the last newline; CommandError where it failed."""
        try:
            import git  # it starts a process when it is imported
        except ImportError as error:
            raise RepositoryError(
                "git cannot be started; nothing was built.", "Install git, then repeat."
            ) from error
        options = [part for name, value in _OPTIONS.items() for part in ("-c", f"{name}={value}")]
        with tempfile.TemporaryFile() as file:
            file.write(stdin)
            file.seek(0)
            try:
                return str(
                    git.Git(self.folder).execute(
                        ["git", *options, *arguments],
                        env={**self._environment(), **(environment or {})},
                        istream=file,
                    )
                )
            except git.GitCommandNotFound as error:
                raise CommandError(f"git {arguments[0]} cannot be started") from error
            except git.GitCommandError as error:
                raise CommandError(_said(error.stderr) or f"git {arguments[0]} failed") from error

    def _environment(self) -> dict[str, str]:
        # Variables cannot be unset through GitPython, hence each that could matter is set.
        return {
            "GIT_DIR": str(self.directory),
            "GIT_WORK_TREE": str(self.folder),
            "GIT_INDEX_FILE": str(self.directory / "index"),
            "GIT_OBJECT_DIRECTORY": str(self.directory / "objects"),
            "GIT_COMMON_DIR": str(self.directory),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": "",
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_CONFIG_COUNT": "0",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_PARAMETERS": "",
            "GIT_DEFAULT_HASH": "sha1",
            "GIT_NAMESPACE": "",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_TEMPLATE_DIR": "",
            "GIT_TERMINAL_PROMPT": "0",
            "HOME": "/dev/null",
            "LC_ALL": "C",
            "TZ": "UTC",
            "XDG_CONFIG_HOME": "/dev/null",
        }


def _said(stderr: str) -> str:
    """Return git's own words out of GitPython's framing (`stderr: '...'`)."""
    return stderr.strip().removeprefix("stderr:").strip().strip("'").strip()
