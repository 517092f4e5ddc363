"""Instances of the SWE-bench family: a line of JSON each, as the data sets have them.

SWE-bench, Lite, Verified, Multimodal, SWE-Gym, Pro and SWE-smith are read alike; what differs
stands in `family.yaml`, and what becomes of each field in `fields.yaml`.
"""

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from sandbox.model import documents
from sandbox.model.base import Record
from sandbox.model.errors import DocumentError
from sandbox.tasks.imports import fields

FAMILY = Path(__file__).with_name("family.yaml")
MOST_BYTES = 1 << 30
"""Of a file of instances."""
PROBLEMS = 10


class Family(Record):
    """How the data sets differ."""

    names: dict[str, str]
    """Our name of a field, by another one that a data set has for it."""
    told: dict[str, str]
    """Fields that an agent is told beside the issue, and the line above each."""
    planted: str
    """A regular expression for `repo` where `patch` is the defect, with the groups `owner`, `name`
    and `commit`."""

    def planting(self, repo: str) -> re.Match[str] | None:
        """Match the repository of an instance whose patch plants its defect."""
        return re.fullmatch(self.planted, repo)


@cache
def family() -> Family:
    """Read `family.yaml`."""
    return documents.load(FAMILY, Family)


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
    """One of them."""

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
    fail_to_pass: Ids = Field(validation_alias="FAIL_TO_PASS")
    pass_to_pass: Ids = Field(default=(), validation_alias="PASS_TO_PASS")
    notes: tuple[str, ...] = Field(default=(), exclude=True)
    """What of its fields is not kept."""

    @model_validator(mode="before")
    @classmethod
    def _by_our_names(cls, data: object) -> object:
        if not isinstance(data, dict):
            return data
        names = family().names
        given = {name: value for name, value in data.items() if value is not None}
        named = {names[name]: value for name, value in given.items() if name in names}
        named |= {name: value for name, value in given.items() if name not in names}
        return {**named, "notes": fields.unkept(named, "instance")[0]}

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
        planted = family().planting(self.repo)
        return f"{planted['owner']}/{planted['name']}" if planted else self.repo

    @property
    def commit(self) -> str:
        """The commit that the work starts from, before a defect is planted."""
        planted = family().planting(self.repo)
        return self.base_commit or (planted["commit"] if planted else "")

    @property
    def plants(self) -> bool:
        """Whether `patch` is the defect; elsewhere it is the fix."""
        return family().planting(self.repo) is not None

    @property
    def told(self) -> str:
        """All that an agent is told."""
        beside = ((head, getattr(self, name)) for name, head in family().told.items())
        parts = [
            self.problem_statement,
            *(f"{head}\n{said}" for head, said in beside if said.strip()),
        ]
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
