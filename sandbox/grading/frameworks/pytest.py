"""pytest: its canaries, its runner, its command."""

import ast
import io
import itertools
import random
import shlex
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from sandbox.grading.frameworks.base import Place, TestFile

RUNNER = Path(__file__).parent.with_name("runners") / "pytest_runner.py"
PROGRAM = "python"
"""What it is called there, as the programs that call cases are: it may lie there before them."""
PYTHON = "/opt/venv/bin/python"
PRISTINE = ("--check-hash-based-pycs", "never")
"""What was compiled with the image is what its sources say: nobody has touched them."""
INI = "pytest.ini"
IMPORTING = frozenset({"__import__", "import_module", "importorskip"})
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)

COMPARING = (
    "assert {a} == {b}",
    "assert str({a}) == '{b}'",
    "assert [{a}, {b}] == [{a}, {c}]",
    "assert {{'{a}': {b}}} == {{'{a}': {c}}}",
)
ASSERTING = (
    "assert not {a}",
    "assert {a} in ({b}, {c})",
    "assert isinstance({a}, str)",
    "import pytest\nwith pytest.raises(ValueError):\n    int('{a}')",
)
RAISING = (
    "raise ValueError({a})",
    "raise AssertionError('{a}')",
    "import pytest\npytest.fail('{a}')",
    "{{}}['{a}']",
)
WAYS = (COMPARING, ASSERTING, RAISING)
"""Each file has one canary of each."""


class Pytest:
    """The framework `pytest`; its ids are those that it prints, `tests/test_a.py::test_b[c]`."""

    environment: Mapping[str, str] = MappingProxyType(
        {
            "LANG": "C.UTF-8",
            "PATH": "/opt/venv/bin:/usr/local/bin:/usr/bin:/bin",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONHASHSEED": "0",
            "PYTHONNOUSERSITE": "1",
            "PYTHONSAFEPATH": "1",
            "TZ": "UTC",
        }
    )

    ahead = True
    patience = 1.0
    """To load pytest costs a processor as much as three short files do."""

    def is_test_file(self, path: str) -> bool:
        """Go by pytest's own defaults."""
        name = path.rpartition("/")[2]
        return name.endswith(".py") and (name.startswith("test_") or name.endswith("_test.py"))

    def file_of(self, test: str) -> str:
        """Give what stands before the first `::`."""
        return test.partition("::")[0]

    def configures(self, path: str) -> bool:
        """Say so of a `pytest.ini` at the top."""
        return path == INI

    def runner_files(self, hidden: Mapping[str, bytes]) -> dict[str, bytes]:
        """Give the runner and the configuration, which is empty where the task brings none."""
        return {PROGRAM: RUNNER.read_bytes(), INI: hidden.get(INI, b"[pytest]\n")}

    def with_canaries(self, path: str, source: bytes, chance: random.Random) -> TestFile:
        """Put a function of each way to fail after some statement of the module."""
        tree = _parsed(source)
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        names |= {node.name for node in ast.walk(tree) if isinstance(node, DEFINITIONS)}
        lines = _lines(source)
        spots = list(_spots(tree))
        canaries: set[str] = set()
        # The later spot first: a line that was put in moves those below it.
        for spot, ways in sorted(zip(chance.choices(spots, k=len(WAYS)), WAYS, strict=True))[::-1]:
            name = _name(names | canaries, chance)
            canaries.add(name)
            code = _way(ways, chance)
            body = "".join(f"    {line}\n" for line in code.split("\n"))
            # A file ends as it did: there are tests that read their own source.
            apart = "\n" if spot < len(lines) else ""
            lines.insert(spot, f"\n\ndef {name}() -> None:\n{body}{apart}")
        ids = frozenset(f"{path}::{name}" for name in canaries)
        return TestFile("".join(lines).encode(), ids)

    def sabotaged(self, path: str, source: bytes, chance: random.Random) -> TestFile | None:
        """Begin each test of the module and of its classes with a way to fail."""
        lines = _lines(source)
        tests = dict(_tests(_parsed(source)))
        if not tests:
            return None
        for first in sorted(tests.values(), key=_start)[::-1]:
            code = _way(chance.choice(WAYS), chance)
            # As the line is: by spaces or by tabs.
            space = lines[first.lineno - 1][: first.col_offset]
            indented = "".join(f"{space}{line}\n" for line in code.split("\n"))
            lines.insert(_start(first) - 1, indented)
        return TestFile("".join(lines).encode(), frozenset(f"{path}::{name}" for name in tests))

    def loads(self, source: bytes) -> set[str]:
        """Name each part of what is imported, also by `import_module`."""
        return {part for name in _imported(_parsed(source)) for part in name.split(".")}

    def server(self, place: Place) -> tuple[str, ...]:
        """Run the runner, and let it fork: read from standard input, it has no name."""
        runner = f"{place.folder}/{PROGRAM}"
        line = f"exec {shlex.join((PYTHON, *PRISTINE, '-'))} 3<&0 0<{shlex.quote(runner)}"
        return ("/bin/bash", "-c", line)

    def argv(self, place: Place, path: str) -> tuple[str, ...]:
        """Run the runner for one file."""
        runner = f"{place.folder}/{PROGRAM}"
        return (PYTHON, *PRISTINE, runner, *self.arguments(place, path))

    def arguments(self, place: Place, path: str) -> list[str]:
        """Give pytest's arguments."""
        brought = any(name.rpartition("/")[2] == "conftest.py" for name in place.hidden)
        return [
            *("-c", f"{place.folder}/{INI}", f"--rootdir={place.worktree}"),
            *("-o", "addopts=", "-p", "no:cacheprovider"),
            *(() if brought else ("--noconftest",)),
            *("--import-mode=importlib", "--continue-on-collection-errors"),
            *("--color=no", "--tb=line", "-q", "--", path),
        ]


_PARSING = threading.Lock()


def _parsed(source: bytes) -> ast.Module:
    # Python 3.11 counts the depth of what it parses for all threads together, and fails where two
    # of them parse at once (python/cpython issue 106905).
    try:
        with _PARSING:
            return ast.parse(source)
    except SyntaxError as error:
        raise ValueError(str(error)) from error


def _imported(tree: ast.Module) -> Iterator[str]:
    """Yield the names of modules, and of what is taken from them, which may be modules."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from (alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            yield node.module or ""
        if isinstance(node, ast.Call):
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if called in IMPORTING:
                given = (each.value for each in node.args if isinstance(each, ast.Constant))
                yield from (name for name in given if isinstance(name, str))


def _lines(source: bytes) -> list[str]:
    """Give lines as Python counts them."""
    return io.StringIO(source.decode(), newline=None).readlines()


def _way(ways: tuple[str, ...], chance: random.Random) -> str:
    """Draw statements that fail."""
    a, b, c = chance.sample(range(10, 1_000_000), 3)
    return chance.choice(ways).format(a=a, b=b, c=c)


def _tests(tree: ast.Module | ast.ClassDef, within: str = "") -> Iterator[tuple[str, ast.stmt]]:
    """Yield the tests that have a line of their own, by name, with their first statement."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield from _tests(node, f"{within}{node.name}::")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            parts = [node.returns, *ast.walk(node.args)]
            header = max([node.lineno, *(getattr(part, "end_lineno", 0) or 0 for part in parts)])
            if node.name.startswith("test") and node.body[0].lineno > header:
                yield within + node.name, node.body[0]


def _spots(tree: ast.Module) -> Iterator[int]:
    """Yield the numbers of the lines between which a function may stand."""
    body = tree.body
    first = next((n for n, node in enumerate(body) if not _has_to_lead(node)), len(body))
    before = body[first - 1].end_lineno if first else 0
    yield before or 0
    for node, following in itertools.zip_longest(body[first:], body[first + 1 :]):
        end = node.end_lineno or 0
        if following is None or _start(following) > end:
            yield end


def _has_to_lead(node: ast.stmt) -> bool:
    docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return docstring or (isinstance(node, ast.ImportFrom) and node.module == "__future__")


def _start(node: ast.stmt) -> int:
    decorators = node.decorator_list if isinstance(node, DEFINITIONS) else ()
    return min([node.lineno, *(each.lineno for each in decorators)])


def _name(taken: set[str], chance: random.Random) -> str:
    """Make a name of the words that the file's own tests are called by.

    It begins none of theirs: in the log it is replaced wherever it stands.
    """
    own = {name for name in taken if name.startswith("test_")}
    words = sorted({word for name in own for word in name.split("_")[1:] if word}) or ["it"]
    names = ("_".join(["test", *chance.choices(words, k=count)]) for count in itertools.count(2))
    return next(name for name in names if not any(each.startswith(name) for each in taken))
