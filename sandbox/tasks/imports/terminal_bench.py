"""A task of Terminal-Bench's first format, read from its folder.

`task.yaml`, `Dockerfile`, `docker-compose.yaml`, `run-tests.sh`, `tests/`, `solution.sh`.
"""

from pathlib import Path
from typing import Any

import sandbox.model.yaml_tree as trees
from sandbox.model.errors import DocumentError
from sandbox.model.listing import some
from sandbox.tasks.imports import compose_files, dockerfiles, fetched, fields, folders
from sandbox.tasks.imports.folders import Files
from sandbox.tasks.imports.foreign_task import (
    MOST_SECONDS,
    Bound,
    Foreign,
    Limits,
    need,
    notes_of,
    refuse,
    scripts,
    text,
    without_canaries,
    workdir,
)

AGENT_SECONDS, TEST_SECONDS = 900.0, 180.0
"""Limits where a task says nothing."""
COMPOSE = "docker-compose.yaml"
SHOWN = 3
"""Paths that a note names."""


def read(folder: Path, files: Files) -> Foreign:
    """Read a task's files; DocumentError names what it lacks, or what cannot be kept at all."""
    need(folder, files, "task.yaml", "Dockerfile", "run-tests.sh", "solution.sh")
    config = _yaml(folder, files, "task.yaml")
    notes, problems = fields.unkept(config, "terminal-bench")
    service = compose_files.read(_yaml(folder, files, COMPOSE) if COMPOSE in files else {})
    if config.get("parser_name", "pytest") != "pytest":
        said = str(config["parser_name"])[:40]
        problems = (f"its results are read by {said}, not by pytest's summary", *problems)
    refuse(folder, [*service.problems, *problems])
    secret = ("tests/", "run-tests.sh", "solution.sh", "solution.yaml", "task.yaml")
    named = dockerfiles.copied(text(folder, files, "Dockerfile"))
    context = {
        path: file
        for path, file in files.items()
        if not path.startswith(secret) or any(dockerfiles.covers(each, path) for each in named)
    }
    tests = folders.below(files, "tests")
    tests["run-tests.sh"] = files["run-tests.sh"]
    leaks = sorted(path for path in context if path.startswith(secret))
    told = [f"Its image holds what grades it: {some(leaks, SHOWN)}."] if leaks else []
    network = () if service.closed else ("Its agent may use the network; here there is none.",)
    limits = _limits(config)
    return Foreign(
        name=folder.resolve().name,
        instruction=_instruction(config),
        context=context,
        workdir=workdir(folder, context, ""),
        tests=tests,
        entry="run-tests.sh",
        result="summary",
        solution={"solution.sh": files["solution.sh"]},
        solve="solution.sh",
        limits=limits,
        variables=service.variables,
        notes=(*network, *notes, *service.notes, *told, *limits.notes),
        fetches=fetched.told(scripts(tests)),
    )


def _limits(config: dict[str, Any]) -> Limits:
    seconds, tests = config.get("max_agent_timeout_sec"), config.get("max_test_timeout_sec")
    bounds = (
        Bound("max_agent_timeout_sec", seconds, AGENT_SECONDS, MOST_SECONDS, "s"),
        Bound("max_test_timeout_sec", tests, TEST_SECONDS, MOST_SECONDS, "s"),
    )
    agent, test = (bound.number() for bound in bounds)
    return Limits(agent, test, notes=notes_of(bounds))


def _instruction(config: dict[str, Any]) -> str:
    told = config.get("instruction")
    if told is None:
        listed = config.get("descriptions")
        parts = listed if isinstance(listed, list) else []
        told = "\n\n".join(
            str(each.get("description", "")) for each in parts if isinstance(each, dict)
        )
    return without_canaries(told if isinstance(told, str) else "")


def _yaml(folder: Path, files: Files, name: str) -> dict[str, Any]:
    tree, problems = trees.compose(text(folder, files, name))
    if problems:
        first = problems[0]
        raise DocumentError(
            f"{folder / name}:{first.line}: {first.text}", "Correct it; nothing of it was imported."
        )
    data = tree.data()
    return data if isinstance(data, dict) else {}
