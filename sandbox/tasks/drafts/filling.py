"""What stands for the places of a draft that a repository, and a drawn number, decide."""

import shlex
from datetime import datetime, timedelta

from sandbox.tasks.drafts.seed_folder import SeedFolder
from sandbox.tasks.template import Filling

FIRST_TICKET, TICKETS, COMPONENTS = 100, 900, 10_000
AFTERWARDS = timedelta(days=1)
"""How long after the release the instructions were committed."""


def of_repository(of: SeedFolder, drawn: int) -> Filling:
    """Say what is so for each task of a repository; the ticket's number is of the drawn one."""
    repository, mining = of.repository, of.mining
    released = next(each.date for each in repository.releases if each.version == mining.release)
    letters = "".join(filter(str.isalpha, repository.name))[:3].upper()
    number = FIRST_TICKET + drawn % TICKETS
    return {
        "repository": repository.name,
        "image": mining.image,
        "release": mining.release,
        "date": (datetime.fromisoformat(released) + AFTERWARDS).isoformat(),
        "tests": list(mining.tests),
        "testing": " or ".join(f"`{glob}`" for glob in mining.tests),
        "kept": [f"never {glob}" for glob in mining.tests],
        "framework": mining.framework,
        "command": mining.command,
        "listed": " or ".join(f"`{glob}`" for glob in mining.sources),
        "pathspecs": shlex.join(f":(glob){glob}" for glob in mining.sources),
        "never": ["**/AGENTS.md", *mining.tests],
        "left": [*mining.leaves, "/tmp/**"],  # noqa: S108 - of the container
        "served": [*mining.leaves, "/tmp/**", "/opt/servers/**"],  # noqa: S108
        "failing": mining.failing_exit_code,
        "ticket": f"{letters}-{number}",
        "earlier": f"{letters}-{number - 9}",
    }
