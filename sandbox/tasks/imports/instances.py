"""Instances of the SWE-bench family: a line of JSON each, as the data sets have them.

SWE-bench, Verified, Lite and SWE-Gym write the lists of tests as JSON or as JSON in a string, Pro
as Python in a string and in lower case; Pro has requirements and an interface beside the issue;
SWE-smith gives the patch that plants the defect. Fields: docs/import.md names the sources.
"""

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Self

from pydantic import (
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from sandbox.model.errors import DocumentError

MOST_BYTES = 1 << 30
"""Of a file of instances."""
PROBLEMS = 10

_SMITH = re.compile(r"swesmith/(?P<owner>.+?)__(?P<name>.+)\.(?P<commit>[0-9a-f]{7,40})")


def _listed(value: object) -> object:
    """Read a list that stands in a string."""
    if not isinstance(value, str):
        return value
    for read in (json.loads, ast.literal_eval):
        try:
            found = read(value)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        if isinstance(found, list):
            return found
    raise ValueError("is neither a list nor a list in a string")


def _as_text(value: object) -> object:
    return str(value) if isinstance(value, int | float) else value


Ids = Annotated[tuple[str, ...], BeforeValidator(_listed)]


class Instance(BaseModel):
    """One of them. Fields that are not named here tell nothing that is needed."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    instance_id: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,119}$")
    repo: str = Field(pattern=r"^[A-Za-z0-9_-][A-Za-z0-9_.-]*/[A-Za-z0-9_-][A-Za-z0-9_.-]*$")
    base_commit: str = Field(default="", pattern=r"^([0-9a-f]{7,40})?$")
    patch: str = Field(min_length=1)
    test_patch: str = ""
    problem_statement: str = ""
    requirements: str = ""
    interface: str = ""
    version: Annotated[str, BeforeValidator(_as_text)] = ""
    fail_to_pass: Ids = Field(validation_alias=AliasChoices("FAIL_TO_PASS", "fail_to_pass"))
    pass_to_pass: Ids = Field(
        default=(), validation_alias=AliasChoices("PASS_TO_PASS", "pass_to_pass")
    )

    @model_validator(mode="before")
    @classmethod
    def _leave_out_what_is_null(cls, data: object) -> object:
        if not isinstance(data, dict):
            return data
        return {name: value for name, value in data.items() if value is not None}

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if not self.fail_to_pass:
            raise ValueError("FAIL_TO_PASS is empty: nothing tells that it is solved")
        if not self.problem_statement.strip():
            raise ValueError("problem_statement is empty: an agent would be told nothing")
        if not self.commit:
            raise ValueError("base_commit is missing")
        return self

    @property
    def upstream(self) -> str:
        """The project, as `owner/name`."""
        smith = _SMITH.fullmatch(self.repo)
        return f"{smith['owner']}/{smith['name']}" if smith else self.repo

    @property
    def commit(self) -> str:
        """The commit that the work starts from, before a defect is planted."""
        smith = _SMITH.fullmatch(self.repo)
        return self.base_commit or (smith["commit"] if smith else "")

    @property
    def plants(self) -> bool:
        """Whether `patch` is the defect; elsewhere it is the fix."""
        return _SMITH.fullmatch(self.repo) is not None

    @property
    def told(self) -> str:
        """All that an agent is told."""
        parts = [self.problem_statement]
        parts += [f"Requirements:\n{self.requirements}"] if self.requirements.strip() else []
        parts += [f"Interface:\n{self.interface}"] if self.interface.strip() else []
        return "\n\n".join(part.replace("\r\n", "\n").strip() for part in parts)

    @property
    def name(self) -> str:
        """Our name of it, for a folder of `task_repos`."""
        plain = re.sub(r"[^a-z0-9.]+", "-", self.instance_id.lower())
        return plain.strip("-.")


@dataclass(frozen=True, slots=True)
class Broken:
    """A row that is no instance, with what is wrong with it."""

    name: str
    """Its id, or where it stands."""
    problems: tuple[str, ...]


def read(path: Path) -> tuple[list[Instance], list[Broken]]:
    """Read a file: a list in JSON, or an instance a line.

    What is wrong with a row is told by line and field, and ends nothing else. DocumentError where
    the file cannot be read, or holds no row.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise _refusal(path, f"has more than {MOST_BYTES} bytes")
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DocumentError(
            f"{path}: cannot be read: {error.strerror}.", "Check the path and its permissions."
        ) from error
    except UnicodeDecodeError as error:
        told = "is not UTF-8 text; a data set in Parquet has to be written as JSON lines first"
        raise _refusal(path, told) from error
    broken: list[Broken] = []
    found: dict[str, Instance] = {}
    for place, data in _rows(path, text):
        try:
            instance = Instance.model_validate(data)
        except ValidationError as error:
            known = data.get("instance_id") if isinstance(data, dict) else None
            name = known if isinstance(known, str) and known.isprintable() else place
            problems = tuple(f"{path}: {place}: {each}" for each in _told(error))
            broken.append(Broken(name, problems[:PROBLEMS]))
            continue
        if instance.instance_id in found:
            twice = f"{path}: {place}: instance_id: {instance.instance_id} is there twice"
            broken.append(Broken(instance.instance_id, (twice,)))
            continue
        found[instance.instance_id] = instance
    if not found and not broken:
        raise _refusal(path, "holds no instance")
    return list(found.values()), broken


def _rows(path: Path, text: str) -> Iterator[tuple[str, object]]:
    """Yield each instance's data, with its place."""
    if text.lstrip().startswith("["):
        try:
            rows = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise _refusal(path, f"is not JSON: {error}") from error
        yield from ((f"instance {number}", row) for number, row in enumerate(rows, 1))
        return
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield f"line {number}", json.loads(line)
            except (ValueError, RecursionError) as error:
                raise _refusal(path, f"line {number}: is not JSON: {error}") from error


def _told(error: ValidationError) -> Iterator[str]:
    for each in error.errors(include_url=False, include_input=False):
        field = ".".join(map(str, each["loc"]))
        said = each["msg"].removeprefix("Value error, ")
        yield f"{field}: {said}" if field else said


def _refusal(path: Path, problem: str) -> DocumentError:
    return DocumentError(f"{path}: {problem}", "Correct the file and repeat; nothing was imported.")
