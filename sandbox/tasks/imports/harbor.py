"""A task of Harbor, read from its folder.

`task.toml` to schema 1.4, `instruction.md`, `environment/`, `tests/test.sh`, `solution/solve.sh`.
"""

import re
import tomllib
from pathlib import Path
from typing import Any

from sandbox.model.errors import DocumentError
from sandbox.model.listing import some
from sandbox.tasks.imports import fetched, fields, folders
from sandbox.tasks.imports.folders import Files
from sandbox.tasks.imports.foreign_task import (
    CPUS,
    DISK,
    MEBIBYTE,
    MEBIBYTES,
    MOST_CPUS,
    MOST_MEBIBYTES,
    MOST_SECONDS,
    SECONDS,
    Bound,
    Foreign,
    Limits,
    need,
    notes_of,
    refuse,
    scripts,
    table,
    text,
    variables,
    without_canaries,
    workdir,
)

SHOWN = 3
"""Names that a note holds."""
TEST_SECONDS = 600.0
"""Of the format, where a task says nothing."""
_UNITS = {"k": 1 / 1024, "m": 1, "g": 1024, "t": 1024 * 1024}
"""Of sizes in mebibytes."""


def read(folder: Path, files: Files) -> Foreign:
    """Read a task's files; DocumentError names what it lacks, or what cannot be kept at all."""
    config = _toml(folder, files)
    environment = table(config, "environment")
    notes, problems = fields.unkept(config, "harbor")
    refuse(folder, [*_shapes(config, files), *problems])
    context = folders.below(files, "environment")
    tests, solution = folders.below(files, "tests"), folders.below(files, "solution")
    need(folder, files, "instruction.md", "environment/Dockerfile", "tests/test.sh")
    need(folder, files, "solution/solve.sh")
    named = str(table(config, "task").get("name") or folder.resolve().name)
    limits = _limits(config)
    given = [
        variables(part.get("env"))
        for part in (table(config, "verifier"), table(config, "solution"), environment)
    ]
    unset = sorted({name for _, names in given for name in names})
    told = [f"Only a host could set these variables: {some(unset, SHOWN)}."] if unset else []
    return Foreign(
        name=named.rpartition("/")[2],
        instruction=without_canaries(text(folder, files, "instruction.md")),
        context=context,
        workdir=workdir(folder, context, str(environment.get("workdir") or "")),
        tests=tests,
        entry="test.sh",
        result="reward",
        solution=solution,
        solve="solve.sh",
        limits=limits,
        test_variables=given[0][0],
        solution_variables=given[1][0],
        variables=given[2][0],
        notes=(*_network(config), *notes, *told, *limits.notes),
        fetches=fetched.told(scripts(tests)),
    )


def _shapes(config: dict[str, Any], files: Files) -> list[str]:
    """Say which other kinds of tasks it is."""
    found = []
    if config.get("steps") or any(path.startswith("steps/") for path in files):
        found.append("it has several steps")
    if "environment/docker-compose.yaml" in files:
        found.append("it needs several containers")
    named = table(config, "environment").get("docker_image")
    if named and "environment/Dockerfile" not in files:
        found.append("its image is a finished one, without a Dockerfile")
    return found


def _limits(config: dict[str, Any]) -> Limits:
    environment = table(config, "environment")
    seconds = table(config, "agent").get("timeout_sec")
    tests = table(config, "verifier").get("timeout_sec")
    memory = environment.get("memory_mb") or _mebibytes(environment.get("memory"))
    disk = environment.get("storage_mb") or _mebibytes(environment.get("storage"))
    cpus = environment.get("cpus")
    bounds = (
        Bound("agent.timeout_sec", seconds, SECONDS, MOST_SECONDS, "s"),
        Bound("verifier.timeout_sec", tests, TEST_SECONDS, MOST_SECONDS, "s", default=True),
        Bound("environment.memory_mb", memory, MEBIBYTES, MOST_MEBIBYTES, "MiB"),
        Bound("environment.storage_mb", disk, DISK, MOST_MEBIBYTES, "MiB"),
        Bound("environment.cpus", cpus, CPUS, MOST_CPUS, "processors"),
    )
    agent, test, mebibytes, storage, processors = (bound.number() for bound in bounds)
    return Limits(
        agent,
        test,
        int(mebibytes * MEBIBYTE),
        processors,
        int(storage * MEBIBYTE),
        notes_of(bounds),
    )


def _network(config: dict[str, Any]) -> list[str]:
    environment, agent = table(config, "environment"), table(config, "agent")
    mode = agent.get("network_mode") or environment.get("network_mode")
    closed = mode == "no-network" or environment.get("allow_internet") is False
    return [] if closed else ["Its agent may use the network; here there is none."]


def _toml(folder: Path, files: Files) -> dict[str, Any]:
    need(folder, files, "task.toml")
    try:
        return tomllib.loads(text(folder, files, "task.toml"))
    except (ValueError, RecursionError) as error:
        raise DocumentError(
            f"{folder / 'task.toml'}: {error}", "Correct it; nothing of it was imported."
        ) from error


def _mebibytes(value: object) -> float | None:
    """Read an old size such as `2G`."""
    found = re.fullmatch(r"([0-9]{1,9})([kmgt])b?", str(value).strip().lower())
    return int(found[1]) * _UNITS[found[2]] if found else None
