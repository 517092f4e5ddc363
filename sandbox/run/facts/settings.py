"""Files outside of a worktree from which a test runner takes settings."""

import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Literal

from sandbox.model import documents
from sandbox.model.base import Record
from sandbox.model.session import HOME
from sandbox.run.facts import variables

Reading = Literal["whole", "variables", "tables"]
"""Whether any content counts, or what its lines `NAME=value`, or its tables in TOML, say."""


class Settings(Record):
    """The files, by framework, and how they are read."""

    files: dict[str, dict[str, Reading]]
    harmless: tuple[str, ...]
    """Tables that leave a run of tests what it is."""


def files_of(framework: str) -> tuple[str, ...]:
    """Give the absolute paths from which a framework's runner takes settings."""
    return tuple(f"{HOME}/{name}" for name in _known().files.get(framework, {}))


def sets_nothing(framework: str, path: str, data: bytes) -> bool:
    """Whether a file, by its absolute path and all that it holds, leaves the runner as it is."""
    reading = _known().files.get(framework, {}).get(path.removeprefix(f"{HOME}/"), "whole")
    if reading == "variables":
        return _has_only_harmless_lines(data, framework)
    return reading == "tables" and _has_only_harmless_tables(data)


def _has_only_harmless_lines(data: bytes, framework: str) -> bool:
    lines = [line for line in data.splitlines() if line.strip() and not line.startswith(b"#")]
    return not variables.misleading(variables.pairs(lines), HOME, HOME, framework)


def _has_only_harmless_tables(data: bytes) -> bool:
    try:
        return tomllib.loads(data.decode()).keys() <= {*_known().harmless}
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError):
        return False


@lru_cache(maxsize=1)
def _known() -> Settings:
    return documents.load(Path(__file__).with_name("settings.yaml"), Settings)
