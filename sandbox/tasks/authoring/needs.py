"""What a Python project says that it needs, read from its files; none of its code is run."""

import ast
import configparser
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

GROUPS = ("test", "tests", "testing")
"""What projects call the packages that only their tests need."""

FILES = (
    *("requirements/tests.txt", "requirements/test.txt", "requirements/testing.txt"),
    *("test-requirements.txt", "test_requirements.txt", "requirements-test.txt"),
    *("requirements_test.txt", "requirements-tests.txt", "tests/requirements.txt"),
    *("requirements-dev.txt", "requirements_dev.txt", "dev-requirements.txt"),
)
"""Where projects list them, of which the first that is there counts."""


@dataclass(frozen=True, slots=True)
class Needs:
    """Packages as a client of PyPI takes them."""

    own: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    name: str = ""
    """What the project is called."""


def told(files: Mapping[str, bytes]) -> Needs:
    """Read pyproject.toml, setup.cfg, setup.py and the usual files of requirements.

    What cannot be read without running it is left out, and so is the project itself.
    """
    readers = (_pyproject, _configuration, _script)
    found = [need for read in readers for need in read(files)]
    itself = next((name for kind, name in found if kind == "name"), "")
    listed = next((path for path in FILES if path in files), None)
    if listed is not None:
        tests = list(_listed(files, listed))
    else:
        tests = [text for kind, text in found if kind in GROUPS]
    own = _valid((text for kind, text in found if kind == "own"), itself)
    return Needs(own, _valid(tests, itself), itself)


Found = Iterator[tuple[str, str]]
"""Pairs of `own`, `name` or a group, and what is said under it."""


def _pyproject(files: Mapping[str, bytes]) -> Found:
    try:
        data = tomllib.loads(files.get("pyproject.toml", b"").decode())
    except (ValueError, RecursionError):
        return
    project = _table(data.get("project"))
    yield from (("name", name) for name in [project.get("name")] if isinstance(name, str))
    yield from (("own", each) for each in _strings(project.get("dependencies")))
    for groups in (project.get("optional-dependencies"), data.get("dependency-groups")):
        for group in GROUPS:
            yield from ((group, each) for each in _strings(_table(groups).get(group)))


def _configuration(files: Mapping[str, bytes]) -> Found:
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(files.get("setup.cfg", b"").decode())
    except (configparser.Error, UnicodeDecodeError):
        return
    if name := parser.get("metadata", "name", fallback=""):
        yield "name", name
    places = [("own", "options", "install_requires"), ("tests", "options", "tests_require")]
    places += [(group, "options.extras_require", group) for group in GROUPS]
    for kind, section, key in places:
        for line in parser.get(section, key, fallback="").splitlines():
            yield kind, _without_comment(line)


def _script(files: Mapping[str, bytes]) -> Found:
    """Read what a `setup.py` says by literals, or by names of literals."""
    try:
        tree = ast.parse(files.get("setup.py", b""))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    known: dict[str, ast.expr] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            known[node.targets[0].id] = node.value
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _called(node.func) == "setup":
            said = {each.arg: _literal(each.value, known) for each in node.keywords}
            if isinstance(name := said.get("name"), str):
                yield "name", name
            for kind, key in (("own", "install_requires"), ("tests", "tests_require")):
                yield from ((kind, each) for each in _strings(said.get(key)))
            for group in GROUPS:
                listed = _table(said.get("extras_require")).get(group)
                yield from ((group, each) for each in _strings(listed))


def _called(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _literal(node: ast.expr, known: Mapping[str, ast.expr]) -> object:
    if isinstance(node, ast.Name):
        node = known.get(node.id, node)
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


def _listed(files: Mapping[str, bytes], first: str) -> Iterator[str]:
    """Yield the lines of a file of requirements, and of those that it includes, each once."""
    seen, waiting = {first}, [first]
    while waiting:
        path = waiting.pop(0)
        text = files.get(path, b"").decode(errors="replace")
        for line in text.replace("\\\n", " ").splitlines():
            words = _without_comment(line).split(" --hash")[0].strip()
            found = re.fullmatch(r"(?:-r|--requirement)[ =]*(\S+)", words)
            if found is None:
                yield words
                continue
            there = str(PurePosixPath(path).parent / found[1])
            if there in files and there not in seen:
                seen.add(there)
                waiting.append(there)


def _without_comment(line: str) -> str:
    return re.sub(r"(^|\s)#.*", "", line)


def _valid(texts: Iterable[str], itself: str) -> tuple[str, ...]:
    found = dict[str, None]()
    for text in texts:
        try:
            need = Requirement(text.strip())
        except InvalidRequirement:
            continue
        if need.url is None and canonicalize_name(need.name) != canonicalize_name(itself):
            found[str(need)] = None
    return tuple(found)


def _table(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _strings(value: object) -> list[str]:
    if isinstance(value, str):
        return value.splitlines()
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []
