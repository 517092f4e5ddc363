"""What a compose file says of the one container that a task may have."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from sandbox.model.listing import some
from sandbox.tasks.imports import fields
from sandbox.tasks.imports.foreign_task import variables

SHOWN = 3
"""Names that a note holds."""
HARNESS = "${T_BENCH_"
"""What the values begin with that the author's own harness gives."""
PLAIN = ("services", "version", "name")
"""Keys of the file that say nothing of the container."""


@dataclass(frozen=True, slots=True)
class Service:
    """What it says."""

    variables: dict[str, str] = field(default_factory=dict)
    closed: bool = False
    """Whether it takes the network away."""
    notes: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    """Why a task with it cannot be imported."""


def read(data: Mapping[str, object]) -> Service:
    """Read the file's data; an empty one says nothing."""
    services = data.get("services") or {}
    if not isinstance(services, dict):
        return Service(problems=("its compose file has no services",))
    if len(services) > 1:
        return Service(problems=("it needs several containers",))
    beside = [key for key in data if key not in PLAIN]
    notes = [f"Not kept of its compose file: {some(beside, SHOWN)}."] if beside else []
    value: object = next(iter(services.values()), {})
    if not isinstance(value, dict):
        return Service(problems=("its compose file's service has no fields",))
    return _service(value, notes)


def _service(value: dict[str, object], notes: list[str]) -> Service:
    own = {name: each for name, each in value.items() if name != "volumes"}
    volumes = value.get("volumes")
    listed = volumes if isinstance(volumes, list) else []
    # The author's own harness mounts folders for logs, which a run here has no use for.
    own["volumes"] = [each for each in listed if not str(each).startswith(HARNESS)]
    build = value.get("build")
    own["build"] = build if isinstance(build, dict) else {}
    told, problems = fields.unkept(own, "service")
    found, unset = variables(_without_harness(value.get("environment")))
    if unset:
        notes.append(f"Only a host could set these variables: {some(unset, SHOWN)}.")
    elsewhere = [f"its image is built of {each}" for each in _built_elsewhere(build)]
    closed = value.get("network_mode") == "none"
    return Service(found, closed, (*notes, *told), (*problems, *elsewhere))


def _built_elsewhere(build: object) -> list[str]:
    """Give what is not the folder's own Dockerfile."""
    said = build if isinstance(build, dict) else {"context": build or "."}
    found = [said.get("context", "."), said.get("dockerfile", "Dockerfile")]
    plain = [str(each).removeprefix("./").rstrip("/") for each in found]
    return [each[:80] for each in plain if each not in ("", ".", "Dockerfile")]


def _without_harness(given: object) -> object:
    if isinstance(given, dict):
        return {name: each for name, each in given.items() if not str(each).startswith(HARNESS)}
    if isinstance(given, list):
        return [each for each in given if f"={HARNESS}" not in str(each)]
    return given
