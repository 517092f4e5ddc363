"""Clients of registries that this machine may lack. pip comes with Python, apt-get with Debian."""

import shutil

from sandbox.container.engines.install import packages
from sandbox.tasks.images.recipe import OnLine

INSTALLED = ("npm",)
"""Those that are installed where they are needed; each is a package of its own name."""


def provide(client: str, on_line: OnLine) -> None:
    """See to it that a client is there. EngineError: not root, not Debian, or apt failed."""
    if client in INSTALLED and shutil.which(client) is None:
        packages([client], on_line)
