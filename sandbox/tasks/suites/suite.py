"""A suite: a file of variants, each pinned by its digest."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from pydantic import RootModel

from sandbox.model import documents, places, yaml_tree
from sandbox.model.base import Record
from sandbox.model.errors import SandboxError
from sandbox.rules.checker.check import check
from sandbox.tasks import library
from sandbox.tasks.plans.variant import Variant
from sandbox.tasks.suites.generator import Generated


class Pin(Record):
    """A variant of a suite."""

    variant: str
    facet: str
    level: str
    digest: str
    """Of the task's files and of what the variant comes to."""
    pattern: str
    """Of its graph but for names and order."""


class Suite(Record):
    """The file of a suite."""

    variants: tuple[Pin, ...]


class Choice(RootModel[dict[str, tuple[str, ...]]]):
    """By level, the tasks of which a suite has one variant each."""


def pinned(found: list[Generated]) -> Suite:
    """Return the suite of variants that were drawn."""
    fields = set(Pin.model_fields)
    return Suite(
        variants=tuple(Pin.model_validate(each.model_dump(include=fields)) for each in found)
    )


def of(variants: Iterable[str], level: str) -> Suite:
    """Return the suite of variants by name, all of which go by one level."""

    def pin(variant: str) -> Pin:
        loaded = library.load(variant)
        return Pin(
            variant=loaded.task.id,
            facet=loaded.task.facet,
            level=level,
            digest=loaded.digest,
            pattern=check(loaded.task).pattern.digest,
        )

    return Suite(variants=tuple(map(pin, variants)))


def text(suite: Suite) -> str:
    """Return a suite as it is written down."""
    return yaml_tree.text(suite.model_dump(mode="json"))


def read(path: Path) -> Suite:
    """Read a suite, of the project where there is no such file; DocumentError where it is wrong."""
    own = places.project() / path
    return documents.load(own if own.is_file() and not path.exists() else path, Suite)


def named(path: Path) -> dict[str, tuple[str, ...]]:
    """Read, by level, of which tasks a suite is drawn; DocumentError where the file is wrong."""
    return documents.load(path, Choice).root


def own_tasks() -> list[str]:
    """Return the tasks that the project's suites have variants of, in order; it may have none."""
    there = (path for path in places.SUITES.values() if (places.project() / path).is_file())
    pins = (pin for path in there for pin in read(path).variants)
    return sorted({Variant.parse(pin.variant).task for pin in pins})


def differing(suite: Suite) -> Iterator[str]:
    """Say of each variant that is not what was pinned what is wrong with it."""
    for pin in suite.variants:
        try:
            digest = library.load(pin.variant).digest
        except SandboxError as error:
            yield f"{pin.variant}: {error.message}"
            continue
        if digest != pin.digest:
            yield f"{pin.variant}: it is {digest[:16]}, not {pin.digest[:16]}"
