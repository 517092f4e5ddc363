"""A task of another format as its author wrote it, and what its readers share."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from sandbox.model.errors import DocumentError
from sandbox.tasks.imports import dockerfiles, fetched
from sandbox.tasks.imports.folders import Files

Kind = Literal["harbor", "terminal-bench"]
MEBIBYTE = 1 << 20
SECONDS, MEBIBYTES, CPUS, DISK = 3600.0, 2048.0, 2.0, 4096.0
"""Limits where a task sets none; the disk in mebibytes."""
MOST_SECONDS, MOST_MEBIBYTES, MOST_CPUS = 86_400.0, 1e6, 1024.0
"""What a task may ask for at most."""
_VARIABLE = re.compile(r"\$\{[A-Za-z_]\w*(?::-(?P<otherwise>[^}]*))?\}")


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
    limits: "Limits"
    test_variables: dict[str, str] = field(default_factory=dict)
    solution_variables: dict[str, str] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    """For all that runs in its container."""
    notes: tuple[str, ...] = ()
    digest: str = ""
    """Of all its files."""
    fetches: fetched.Fetched = field(default_factory=fetched.Fetched)


@dataclass(frozen=True, slots=True)
class Limits:
    """What a task may take."""

    agent_seconds: float
    test_seconds: float
    memory_bytes: int = int(MEBIBYTES) * MEBIBYTE
    cpus: float = CPUS
    disk_bytes: int = int(DISK) * MEBIBYTE
    notes: tuple[str, ...] = ()
    """Which of them are not its author's."""


@dataclass(frozen=True, slots=True)
class Bound:
    """A number that a file may set."""

    field: str
    """What it is called there."""
    value: object
    """What the file says; None where it says nothing."""
    otherwise: float
    most: float
    unit: str
    default: bool = False
    """Whether `otherwise` is the format's own, so that nothing has to be told."""

    def number(self) -> float:
        """Give the number that counts."""
        value = self.value
        plain = isinstance(value, int | float) and not isinstance(value, bool)
        found = float(value) if plain and 0 < value < float("inf") else self.otherwise  # type: ignore[arg-type,operator]
        return min(found, self.most)

    @property
    def named(self) -> str:
        """Say what counts here."""
        return f"{self.field} {self.number():g} {self.unit}"


def notes_of(bounds: Sequence[Bound]) -> tuple[str, ...]:
    """Say which bounds are not those of the file."""
    unset = [bound for bound in bounds if bound.value is None and not bound.default]
    other = [bound for bound in bounds if bound.value not in (None, bound.number())]
    told = [
        ("Limits that it does not set are here", unset),
        ("Limits that cannot be as it sets them are here", other),
    ]
    return tuple(
        f"{what}: {', '.join(each.named for each in found)}." for what, found in told if found
    )


def without_canaries(text: str) -> str:
    """Leave out leading lines that only mark the data set."""
    lines = text.strip().splitlines()
    while lines and "canary" in lines[0].lower() and "guid" in lines[0].lower():
        lines.pop(0)
    return "\n".join(lines).strip()


def scripts(tests: Files) -> list[str]:
    """Give the shell scripts among files."""
    return [
        file.content.decode(errors="replace")
        for path, file in sorted(tests.items())
        if path.endswith(".sh")
    ]


def workdir(folder: Path, context: Files, given: str) -> str:
    """Give the working directory of a task's image; DocumentError where it can be no checkout."""
    named, problem = dockerfiles.workdir(text(folder, context, "Dockerfile"), given)
    refuse(folder, [problem] if problem else [])
    return named


def text(folder: Path, files: Files, name: str) -> str:
    """Read a file of a folder; DocumentError where it is no text."""
    try:
        return files[name].content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise DocumentError(f"{folder / name}: is not UTF-8 text.", "Leave it out.") from error


def need(folder: Path, files: Files, *names: str) -> None:
    """Raise DocumentError where files are missing."""
    missing = [name for name in names if name not in files]
    if missing:
        refuse(folder, [f"it has no {', '.join(missing)}"])


def refuse(folder: Path, problems: Sequence[str]) -> None:
    """Raise DocumentError where there are problems."""
    if problems:
        raise DocumentError(
            f"{folder} cannot be imported: {'; '.join(problems)}.", "Nothing of it was imported."
        )


def table(config: dict[str, Any], name: str) -> dict[str, Any]:
    """Give a table of a file, or an empty one."""
    found = config.get(name)
    return found if isinstance(found, dict) else {}


def variables(value: object) -> tuple[dict[str, str], list[str]]:
    """Give variables with their values, and the names of those that only a host could set.

    Nothing is taken from this machine's environment: `${NAME:-default}` is its default.
    """
    if isinstance(value, list):
        pairs = [str(each).partition("=") for each in value]
        value = {name: given if equals else f"${{{name}}}" for name, equals, given in pairs}
    found: dict[str, str] = {}
    unset = []
    for name, given in (value if isinstance(value, dict) else {}).items():
        said = _VARIABLE.sub(_otherwise, "" if given is None else str(given))
        if "${" in said:
            unset.append(str(name))
        else:
            found[str(name)] = said
    return found, unset


def _otherwise(variable: re.Match[str]) -> str:
    return variable[0] if variable["otherwise"] is None else variable["otherwise"]
