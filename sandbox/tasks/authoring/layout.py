"""Where a project keeps its code and its tests, told from the names of its files."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sandbox.model import documents
from sandbox.model.artifact import ArtifactKind
from sandbox.model.authoring import Languages
from sandbox.model.glob import Globs
from sandbox.tasks.repos import archive

_LOADED = re.compile(r"(?:\bfrom|require\()\s*['\"]((?:@[^/'\"]+/)?[^./'\"][^/'\"]*)['\"]")

FILE = Path(__file__).with_name("languages.yaml")


@dataclass(frozen=True, slots=True)
class Layout:
    """What the repo file and the mining file say of a project's files."""

    image: str
    paths: tuple[str, ...]
    strip: tuple[str, ...]
    sources: tuple[str, ...]
    tests: tuple[str, ...]
    framework: str | None
    command: str | None
    leaves: tuple[str, ...]
    requires: tuple[str, ...]
    """Packages that the tests need, as the registry's client takes them."""


def told(release: Path, kind: ArtifactKind) -> Layout:
    """Look at a release's files. What cannot be told is empty, and its author fills it in."""
    files = {file.path: file.data for file in archive.read(release)}
    languages = documents.load(FILE, Languages).root
    name = max(languages, key=lambda each: _count(files, languages[each].code))
    language = languages[name]
    tests = _first(files, language.tests)
    beside = Globs((*tests, *language.without))
    sources = [glob for glob in language.sources if _others(files, glob, beside)]
    if not sources:
        worth = (path for path in files if "/" in path and not beside.match(path))
        inside = {path.partition("/")[0] for path in worth}
        globs = (f"{folder}/{glob}" for folder in sorted(inside) for glob in language.code)
        sources = [glob for glob in globs if _others(files, glob, beside)]
    frameworks = _needed(files, tests) if language.manifest else set()
    framework = next(
        (each for each in language.frameworks if not each.package or each.package in frameworks),
        None,
    )
    return Layout(
        image=language.image,
        paths=tuple(path for path in language.paths if path == "." or _below(files, path))[:1],
        strip=tuple(glob for glob in language.strip.get(kind, ()) if _count(files, (glob,))),
        sources=tuple(sources),
        tests=tests,
        framework=framework.name if framework else None,
        command=framework.command.format(tests=" ".join(f"'{glob}'" for glob in tests))
        if framework
        else None,
        leaves=language.leaves,
        requires=framework.requires if framework else (),
    )


def _first(files: Iterable[str], wanted: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Of several habits of naming tests, the first that this project has."""
    for globs in wanted:
        found = tuple(glob for glob in globs if _count(files, (glob,)))
        if found:
            return found
    return ()


def _count(files: Iterable[str], globs: Sequence[str]) -> int:
    matched = Globs(globs)
    return sum(matched.match(path) for path in files)


def _others(files: Iterable[str], glob: str, beside: Globs) -> bool:
    matched = Globs((glob,))
    return any(matched.match(path) and not beside.match(path) for path in files)


def _below(files: Iterable[str], folder: str) -> bool:
    return any(path.startswith(f"{folder}/") for path in files)


def _needed(files: dict[str, bytes], tests: Sequence[str]) -> set[str]:
    """Give the packages that a `package.json` names for development, or that tests load.

    Not every project publishes what it names there.
    """
    matched = Globs(tests)
    texts = [data.decode("utf-8", "replace") for path, data in files.items() if matched.match(path)]
    loaded = {name for text in texts for name in _LOADED.findall(text)}
    try:
        return loaded | set(json.loads(files.get("package.json", b"{}")).get("devDependencies", {}))
    except (ValueError, AttributeError):
        return loaded
