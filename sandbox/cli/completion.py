"""What a shell offers when Tab is pressed: names that are there; nothing where they cannot be read.

Runs and experiments are those of the default store, for the rest of the line is not known yet.
"""

from collections.abc import Callable, Iterable

from sandbox.model.errors import SandboxError

NEWEST = 50
"""Runs that are offered."""
ACTING = ("oracle", "null", "llm", "human", "mcp")

Offered = Callable[[str], list[str]]


def _offering(names: Callable[[], Iterable[str]]) -> Offered:
    """Make a completion of what gives all names."""

    def offered(incomplete: str) -> list[str]:
        try:
            return [name for name in names() if name.startswith(incomplete)]
        except (SandboxError, OSError):
            return []

    return offered


def _tasks() -> Iterable[str]:
    from sandbox.tasks import library

    return library.names()


def _runs() -> Iterable[str]:
    from sandbox.model import places
    from sandbox.model.store import Store

    folders = Store(places.runs()).folders()
    return ("last", *(folder.id for folder, _ in zip(folders, range(NEWEST), strict=False)))


def _experiments() -> Iterable[str]:
    from sandbox.model import places
    from sandbox.run import experiment

    folder = places.runs() / experiment.FOLDER
    return sorted(each.name for each in folder.iterdir()) if folder.is_dir() else ()


def _baselines() -> Iterable[str]:
    from sandbox.grading import baselines
    from sandbox.model import places
    from sandbox.model.store import Store

    return baselines.names(Store(places.runs()))


def _agents() -> Iterable[str]:
    from sandbox.agents.clients import preset_files

    return (*ACTING, *preset_files.names())


def _presets() -> Iterable[str]:
    from sandbox.agents.clients import preset_files

    return preset_files.names()


def _actions() -> Iterable[str]:
    from sandbox.model.action import ACTIONS

    return ACTIONS


def _repositories() -> Iterable[str]:
    from sandbox.tasks.drafts import seed_folder

    return sorted(seed_folder.folders())


tasks = _offering(_tasks)
runs = _offering(_runs)
experiments = _offering(_experiments)
baselines = _offering(_baselines)
agents = _offering(_agents)
presets = _offering(_presets)
actions = _offering(_actions)
repositories = _offering(_repositories)
runs_and_tasks = _offering(lambda: (*_runs(), *_tasks()))
runs_and_experiments = _offering(lambda: (*_runs(), *_experiments()))
