"""Tasks of Harbor and of Terminal-Bench, read from their folders.

Harbor: `task.toml`, `instruction.md`, `environment/`, `tests/test.sh`, `solution/solve.sh`.
Terminal-Bench 1: `task.yaml`, `Dockerfile`, `run-tests.sh`, `tests/`, `solution.sh`.
"""

import re
import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import sandbox.model.yaml_tree as trees
from sandbox.model.errors import DocumentError
from sandbox.model.listing import some
from sandbox.tasks.imports import dockerfiles, fetched, folders
from sandbox.tasks.imports.folders import File, Files

Kind = Literal["harbor", "terminal-bench"]
MEBIBYTE = 1 << 20
LONGEST = 100
"""Characters of a name."""
SHOWN = 3
"""Paths that a note names."""
LARGEST = 1e9
"""Of a number that means seconds, mebibytes or processors."""
_UNITS = {"k": 1 / 1024, "m": 1, "g": 1024, "t": 1024 * 1024}
"""Of sizes in mebibytes."""


@dataclass(frozen=True, slots=True)
class Foreign:
    """A task as its author wrote it."""

    name: str
    instruction: str
    context: Files
    """What its image is built of."""
    workdir: str
    tests: Files
    """Laid into `/tests`; the script is among them."""
    entry: str
    result: Literal["reward", "summary"]
    solution: Files
    solve: str
    """The script among the solution's files."""
    variables: dict[str, str] = field(default_factory=dict)
    """For its tests."""
    agent_seconds: float = 1800
    test_seconds: float = 600
    memory_bytes: int = 2 << 30
    cpus: float = 2.0
    notes: tuple[str, ...] = ()
    digest: str = ""
    """Of all its files."""
    fetches: fetched.Fetched = field(default_factory=fetched.Fetched)


def read(kind: Kind, folder: Path) -> Foreign:
    """Read a task's folder; DocumentError names what it lacks, or what cannot be kept at all."""
    files, odd = folders.read(folder)
    found = _harbor(folder, files) if kind == "harbor" else _terminal_bench(folder, files)
    if not found.name.isprintable() or len(found.name) > LONGEST:
        _refuse(folder, ["its name is not a plain one"])
    if not found.instruction:
        _refuse(folder, ["it tells the agent nothing"])
    notes = (*found.notes, f"Links were left out: {some(odd, SHOWN)}.") if odd else found.notes
    return replace(found, notes=notes, digest=folders.digest(files))


def _harbor(folder: Path, files: Files) -> Foreign:
    config = _toml(folder, files)
    environment = _table(config, "environment")
    _refuse(folder, _unkept(config, files))
    context = folders.below(files, "environment")
    tests, solution = folders.below(files, "tests"), folders.below(files, "solution")
    _need(folder, files, "instruction.md", "environment/Dockerfile", "tests/test.sh")
    _need(folder, files, "solution/solve.sh")
    memory = environment.get("memory_mb") or _mebibytes(environment.get("memory"))
    named = str(_table(config, "task").get("name") or folder.resolve().name)
    return Foreign(
        name=named.rpartition("/")[2],
        instruction=_without_canaries(_text(folder, files, "instruction.md")),
        context=context,
        workdir=_workdir(folder, context, str(environment.get("workdir") or "")),
        tests=tests,
        entry="test.sh",
        result="reward",
        solution=solution,
        solve="solve.sh",
        variables=_variables(_table(config, "verifier").get("env")),
        agent_seconds=_number(_table(config, "agent").get("timeout_sec"), 1800),
        test_seconds=_number(_table(config, "verifier").get("timeout_sec"), 600),
        memory_bytes=int(_number(memory, 2048) * MEBIBYTE),
        cpus=_number(environment.get("cpus"), 2),
        notes=_notes(config),
        fetches=fetched.told(_scripts(tests)),
    )


def _terminal_bench(folder: Path, files: Files) -> Foreign:
    _need(folder, files, "task.yaml", "Dockerfile", "run-tests.sh", "solution.sh")
    config = _yaml(folder, files)
    compose = files.get("docker-compose.yaml", File(b"", executable=False)).content
    problems = []
    if dockerfiles.services(compose.decode(errors="replace")) > 1:
        problems.append("it needs several containers")
    if config.get("parser_name", "pytest") != "pytest":
        problems.append(f"its results are read by {config['parser_name']}, not by pytest's summary")
    _refuse(folder, problems)
    secret = ("tests/", "run-tests.sh", "solution.sh", "solution.yaml", "task.yaml")
    named = dockerfiles.copied(_text(folder, files, "Dockerfile"))
    context = {
        path: file
        for path, file in files.items()
        if not path.startswith(secret) or any(dockerfiles.covers(each, path) for each in named)
    }
    tests = folders.below(files, "tests")
    tests["run-tests.sh"] = files["run-tests.sh"]
    leaks = sorted(path for path in context if path.startswith(secret))
    told = f"Its image holds what grades it: {some(leaks, SHOWN)}."
    return Foreign(
        name=folder.resolve().name,
        instruction=_instruction(config),
        context=context,
        workdir=_workdir(folder, context, ""),
        tests=tests,
        entry="run-tests.sh",
        result="summary",
        solution={"solution.sh": files["solution.sh"]},
        solve="solution.sh",
        agent_seconds=_number(config.get("max_agent_timeout_sec"), 900),
        test_seconds=_number(config.get("max_test_timeout_sec"), 180),
        notes=(told,) if leaks else (),
        fetches=fetched.told(_scripts(tests)),
    )


def _unkept(config: dict[str, Any], files: Files) -> list[str]:
    environment = _table(config, "environment")
    found = []
    if config.get("steps") or any(path.startswith("steps/") for path in files):
        found.append("it has several steps")
    if "environment/docker-compose.yaml" in files:
        found.append("it needs several containers")
    if environment.get("docker_image") and "environment/Dockerfile" not in files:
        found.append("its image is a finished one, without a Dockerfile")
    if environment.get("mcp_servers"):
        found.append("it has tool servers of its own")
    if environment.get("gpus"):
        found.append("it needs a GPU")
    if _table(config, "verifier").get("environment_mode") == "separate":
        found.append("its tests run in an image of their own")
    return found


def _notes(config: dict[str, Any]) -> tuple[str, ...]:
    environment, agent = _table(config, "environment"), _table(config, "agent")
    mode = agent.get("network_mode") or environment.get("network_mode")
    closed = mode == "no-network" or environment.get("allow_internet") is False
    notes = [] if closed else ["Its agent may use the network; here there is none."]
    given = _table(config, "verifier").get("env")
    if _is(given) and len(_variables(given)) < len(given):  # type: ignore[arg-type]
        notes.append("Variables that its tests would take from the host are not set.")
    if environment.get("healthcheck"):
        notes.append("It waits for a health check; here the agent starts at once.")
    return tuple(notes)


def _workdir(folder: Path, context: Files, given: str) -> str:
    named, problem = dockerfiles.workdir(_text(folder, context, "Dockerfile"), given)
    _refuse(folder, [problem] if problem else [])
    return named


def _instruction(config: dict[str, Any]) -> str:
    told = config.get("instruction")
    if told is None:
        listed = config.get("descriptions") or []
        told = "\n\n".join(str(each.get("description", "")) for each in listed if _is(each))
    return _without_canaries(told if isinstance(told, str) else "")


def _is(value: object) -> bool:
    return isinstance(value, dict)


def _without_canaries(text: str) -> str:
    """Leave out leading lines that only mark the data set."""
    lines = text.strip().splitlines()
    while lines and "canary" in lines[0].lower() and "guid" in lines[0].lower():
        lines.pop(0)
    return "\n".join(lines).strip()


def _scripts(tests: Files) -> list[str]:
    return [
        file.content.decode(errors="replace")
        for path, file in sorted(tests.items())
        if path.endswith(".sh")
    ]


def _toml(folder: Path, files: Files) -> dict[str, Any]:
    _need(folder, files, "task.toml")
    try:
        return tomllib.loads(_text(folder, files, "task.toml"))
    except (ValueError, RecursionError) as error:
        raise DocumentError(
            f"{folder / 'task.toml'}: {error}", "Correct it; nothing of it was imported."
        ) from error


def _yaml(folder: Path, files: Files) -> dict[str, Any]:
    tree, problems = trees.compose(_text(folder, files, "task.yaml"))
    if problems:
        first = problems[0]
        raise DocumentError(
            f"{folder / 'task.yaml'}:{first.line}: {first.text}",
            "Correct it; nothing of it was imported.",
        )
    data = tree.data()
    return data if isinstance(data, dict) else {}


def _text(folder: Path, files: Files, name: str) -> str:
    try:
        return files[name].content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise DocumentError(f"{folder / name}: is not UTF-8 text.", "Leave it out.") from error


def _need(folder: Path, files: Files, *names: str) -> None:
    missing = [name for name in names if name not in files]
    if missing:
        _refuse(folder, [f"it has no {', '.join(missing)}"])


def _refuse(folder: Path, problems: list[str]) -> None:
    if problems:
        raise DocumentError(
            f"{folder} cannot be imported: {'; '.join(problems)}.", "Nothing of it was imported."
        )


def _table(config: dict[str, Any], name: str) -> dict[str, Any]:
    found = config.get(name)
    return found if isinstance(found, dict) else {}


def _variables(value: object) -> dict[str, str]:
    """Take what is written out; what would come from this machine's environment stays away."""
    if not isinstance(value, dict):
        return {}
    return {str(name): str(each) for name, each in value.items() if "${" not in str(each)}


def _number(value: object, otherwise: float) -> float:
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if plain and 0 < value <= LARGEST else otherwise  # type: ignore[arg-type,operator]


def _mebibytes(value: object) -> float | None:
    """Read an old size such as `2G`."""
    found = re.fullmatch(r"([0-9]{1,9})([kmgt])b?", str(value).strip().lower())
    return int(found[1]) * _UNITS[found[2]] if found else None
