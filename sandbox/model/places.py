"""Where things lie on this machine. Nothing here makes a folder."""

import os
from pathlib import Path

from sandbox.model.errors import UsageError

TASKS, SETTINGS = "task_repos", "sandbox.toml"
TASK, REPOSITORY = "task.yaml", "repo.yaml"
"""Of a task's folder, and of the folder above it."""
MINING, SEEDS, PASSING = "mining.yaml", "seeds.yaml", "passing.yaml"
"""Beside a repository's file: how it is mined, what was found, and which tests pass without."""
ESTRANGED, SHIPPED = "estranged", "project"
"""Beside it as well, folders: of files that are each called as the repository is by whose names it
goes; and of what is committed over the release in each task of a seed."""


SUITES = {name: Path(f"suites/{name}.yaml") for name in ("gold", "standard")}
"""The suites of the project, by the names that they go by, below its folder."""


def project() -> Path:
    """The folder that holds `images/`, `suites/` and `task_repos/`.

    SANDBOX_PROJECT, else what an installed package has brought, else this checkout. UsageError
    where SANDBOX_PROJECT names no folder.
    """
    if chosen := os.environ.get("SANDBOX_PROJECT"):
        if not Path(chosen).is_dir():
            raise UsageError(
                f"SANDBOX_PROJECT names what is not a folder: {chosen}.",
                "It is the folder that holds images/, suites/ and task_repos/.",
            )
        return Path(chosen)
    package = Path(__file__).resolve().parents[1]
    carried = package / "project"
    return carried if carried.is_dir() else package.parent


def task_folders() -> list[Path]:
    """Where tasks lie, as `<repo>/<task>/` below each; of tasks of one name the first counts.

    The folders of SANDBOX_TASKS, the nearest `task_repos` at or above the working directory, and
    those of the project; with SANDBOX_PROJECT the nearest one is not looked for. UsageError where
    SANDBOX_TASKS names none.
    """
    named = [Path(each) for each in os.environ.get("SANDBOX_TASKS", "").split(os.pathsep) if each]
    if missing := [str(place) for place in named if not place.is_dir()]:
        raise UsageError(
            f"SANDBOX_TASKS names what is not a folder: {', '.join(missing)}.",
            "It holds folders of tasks, with `:` between them.",
        )
    if not os.environ.get("SANDBOX_PROJECT"):
        nearest = (place / TASKS for place in _here_and_above())
        named += [place for place in nearest if place.is_dir()][:1]
    return list({place.resolve(): place for place in (*named, project() / TASKS)}.values())


def new_tasks() -> Path:
    """Where a new repository goes: SANDBOX_TASKS, the nearest `task_repos`, else a new one here."""
    given = os.environ.get("SANDBOX_TASKS") or os.environ.get("SANDBOX_PROJECT")
    near = any((place / TASKS).is_dir() for place in _here_and_above())
    return task_folders()[0] if given or near else Path(TASKS)


def cache() -> Path:
    """Where what can be made again is kept: SANDBOX_CACHE, else the user's cache folder."""
    if chosen := os.environ.get("SANDBOX_CACHE"):
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sandbox"


def runs() -> Path:
    """Where runs are kept: SANDBOX_RUNS, else `./runs`."""
    return Path(os.environ.get("SANDBOX_RUNS") or "runs")


def settings_file() -> Path | None:
    """Find the file of settings: SANDBOX_CONFIG, else the nearest at or above where one works."""
    if chosen := os.environ.get("SANDBOX_CONFIG"):
        return Path(chosen)
    above = (place / SETTINGS for place in _here_and_above())
    return next((file for file in above if file.is_file()), None)


def _here_and_above() -> tuple[Path, ...]:
    """Give the working directory and all above it; nothing where it has been removed."""
    try:
        here = Path.cwd()
    except OSError:
        return ()
    return (here, *here.parents)
