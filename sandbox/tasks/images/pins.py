"""A repository's pinned requirements, written as each toolchain's own client reads them."""

import json
import platform
from collections.abc import Mapping

from sandbox.model.artifact import Artifact, ArtifactKind
from sandbox.model.repository import Repository

INSTALLED = "node_modules"
"""The folder of the worktree that an environment of `images/node` installs packages into. It is
no part of the repository."""


def needed(repository: Repository) -> tuple[Artifact, ...]:
    """Give the requirements that this kind of machine has use for."""
    ours = platform.machine()
    return tuple(each for each in repository.requirements if each.machine in (None, ours))


def files_of(repository: Repository) -> Mapping[str, str]:
    """Give the files of an environment's build context by their paths in it.

    Each toolchain's Dockerfile takes its own: `requirements.txt` and `project.pth` are for pip and
    Python, `home/<repository>/package.json` is for npm.
    """
    wanted = needed(repository)
    by_npm = [each for each in wanted if each.kind is ArtifactKind.NPM]
    by_pip = [each for each in wanted if each not in by_npm]
    roots = [f"/home/agent/{repository.name}/{path}\n" for path in repository.paths]
    packages = {each.name: each.version for each in by_npm}
    return {
        "requirements.txt": "".join(f"{each.name}=={each.version}\n" for each in by_pip),
        "project.pth": "".join(roots),
        f"home/{repository.name}/package.json": json.dumps({"dependencies": packages}, indent=2),
    }
