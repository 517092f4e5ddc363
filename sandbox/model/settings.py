"""Settings: what environment variables say, else the nearest `sandbox.toml`.

docs/settings.md has the table. The file is the environment in another spelling: what it says is
put there where the variable is not set, before anything looks.
"""

import json
import os
import tomllib
from pathlib import Path
from typing import Any

from pydantic import ByteSize, ValidationError

from sandbox.model.base import Record
from sandbox.model.engine_kinds import ENGINE_KINDS, ENGINE_VARIABLE
from sandbox.model.errors import DocumentError

VARIABLES = {
    "runs": "SANDBOX_RUNS",
    "cache": "SANDBOX_CACHE",
    "tasks": "SANDBOX_TASKS",
    "project": "SANDBOX_PROJECT",
    "engine": "DOCKER_HOST",
    "runtime": "SANDBOX_RUNTIME",
    "interception": "SANDBOX_INTERCEPTION",
    "transport": "SANDBOX_TRANSPORT",
    "disk_reserve": "SANDBOX_DISK_RESERVE",
}


class Settings(Record):
    """What the file may hold besides `options`; paths are relative to its folder."""

    runs: Path | None = None
    cache: Path | None = None
    tasks: tuple[Path, ...] = ()
    project: Path | None = None
    engine: str | None = None
    runtime: str | None = None
    interception: str | None = None
    transport: str | None = None
    disk_reserve: ByteSize | None = None

    def variables(self, folder: Path) -> dict[str, str]:
        """Spell the settings as environment variables."""
        found = {}
        for name, variable in VARIABLES.items():
            match getattr(self, name):
                case None | ():
                    continue
                case Path() as path:
                    found[variable] = str(folder / path)
                case tuple() as paths:
                    found[variable] = os.pathsep.join(str(folder / path) for path in paths)
                case int() as number:
                    found[variable] = str(int(number))
                case kind if name == "engine" and kind in ENGINE_KINDS:
                    found[ENGINE_VARIABLE] = str(kind)
                case text:
                    found[variable] = str(text)
        return found


def applied(path: Path) -> dict[str, dict[str, Any]]:
    """Put what a file says into the environment; give the defaults of verbs' options, by verb.

    DocumentError where it cannot be read or holds what it may not.
    """
    try:
        data = tomllib.loads(path.read_bytes().decode())
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise DocumentError(f"{path}: {error}", "Correct it, or name another file.") from error
    verbs = data.pop("options", {})
    try:
        settings = Settings.model_validate_json(json.dumps(data, default=str))
    except ValidationError as error:
        told = (
            f"{path}: {'.'.join(map(str, each['loc'])) or 'it'}: {each['msg'].lower()}"
            for each in error.errors(include_url=False)
        )
        known = ", ".join(VARIABLES)
        raise DocumentError("\n".join(told), f"It may hold {known}, and `options`.") from None
    if not isinstance(verbs, dict):
        raise DocumentError(f"{path}: options: it has to hold tables, such as [options.run].")
    for variable, value in settings.variables(path.absolute().parent).items():
        os.environ[variable] = os.environ.get(variable) or value
    return verbs
