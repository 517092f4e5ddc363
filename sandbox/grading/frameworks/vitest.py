"""vitest, for TypeScript and JavaScript: its canaries, its runner, its command.

https://vitest.dev/config
"""

import random
import re
from collections.abc import Mapping
from types import MappingProxyType

from sandbox.grading.frameworks import javascript
from sandbox.grading.frameworks.base import Place, TestFile

RUNNER, GUARD = "vitest_runner.mjs", "vitest_guard.mjs"
SEALED = "/usr/local/sbin/sealed-node"
"""The image's node, which nobody may read: its processes are closed to all but root."""

CONFIGURATION = re.compile(r"vite(st)?\.config\.[cm]?[jt]s")
_NAMED = re.compile(r"(.*/)?[^/]+\.(test|spec)\.[cm]?[jt]sx?")

_TEST = "{{test}}('{{name}}', () => {{{{\n  {body}\n}}}});"
_ASYNC = "{{test}}('{{name}}', async () => {{{{\n  {body}\n}}}});"

COMPARING = tuple(
    _TEST.format(body=body)
    for body in (
        "{check}({a}).toBe({b});",
        "{check}([{a}, {b}]).toEqual([{a}, {c}]);",
        "{check}({{ x: {a} }}).toStrictEqual({{ x: {b} }});",
        "{check}('{a}').toMatch('{b}');",
    )
)
ASSERTING = tuple(
    _TEST.format(body=body)
    for body in (
        "{check}({a} === {b}).toBeTruthy();",
        "{check}({a}).not.toBe({a});",
        "{check}(() => {a}).toThrow();",
        "{check}([{a}]).toContain({b});",
    )
)
RAISING = (
    _TEST.format(body="throw new Error('{a}');"),
    _ASYNC.format(body="await Promise.reject(new TypeError('{a}'));"),
    _ASYNC.format(body="await null;\n  null.x{a};"),
    _ASYNC.format(body="await {check}(Promise.resolve({a})).resolves.toBe({b});"),
)
WAYS = (COMPARING, ASSERTING, RAISING)
"""Each file has one canary of each."""

SABOTAGE = ("throw new Error('{a}');", "{check}({a}).toBe({b});", "null.x{a};")


class Vitest:
    """The framework `vitest`; an id is `src/a.test.ts::name`, or `src/a.test.ts::outer > name`.

    The second of one name is `name #2`.
    """

    environment: Mapping[str, str] = MappingProxyType(
        {**javascript.ENVIRONMENT, "CI": "1", "NO_COLOR": "1"}
    )

    ahead = False
    patience = 1.0
    """To load vitest costs a processor as much as a short file does."""

    def is_test_file(self, path: str) -> bool:
        """Go by vitest's own defaults."""
        return _NAMED.fullmatch(path) is not None and "node_modules" not in path.split("/")

    def file_of(self, test: str) -> str:
        """Give what stands before the first `::`."""
        return test.partition("::")[0]

    def configures(self, path: str) -> bool:  # noqa: ARG002 - as the protocol has it
        """Its configuration is read where it stands, since it names modules of the project's."""
        return False

    def runner_files(self, hidden: Mapping[str, bytes]) -> dict[str, bytes]:  # noqa: ARG002 - as above
        """Give the runner, and what stands by in the process of each test file."""
        return javascript.runner_files(RUNNER, GUARD)

    def with_canaries(self, path: str, source: bytes, chance: random.Random) -> TestFile:
        """Put in a test of each way to fail. ValueError where the file has no test."""
        called = _called(source.decode())
        if called is None:
            raise ValueError("it has neither `test` nor `it` of vitest")
        return javascript.put_in(path, source, called, WAYS, chance)

    def sabotaged(self, path: str, source: bytes, chance: random.Random) -> TestFile | None:
        """Begin tests with an exception or an assertion that fails."""
        text = source.decode()
        called = _called(text)
        if called is None:
            return None
        names = _tests(text)
        ways = [way.replace("{check}", called["check"]) for way in SABOTAGE]
        return javascript.sabotaged_nested(path, source, names, ways, chance)

    def loads(self, source: bytes) -> set[str]:
        """Name the files of relative paths."""
        return javascript.loads(source)

    def server(self, place: Place) -> tuple[str, ...]:
        """Run the runner. It loads a configuration of the task's, or else one of the image's."""
        brought = sorted(filter(CONFIGURATION.fullmatch, place.hidden))
        theirs = any(map(CONFIGURATION.fullmatch, place.own))
        config = next(iter(brought), "" if theirs else ".")
        runner = f"{place.folder}/{RUNNER}"
        words = (place.folder, config, *(() if place.locked else (javascript.OPEN,)))
        return (*javascript.PARTED, SEALED, "--no-warnings", runner, *words)

    def arguments(self, place: Place, path: str) -> list[str]:  # noqa: ARG002 - as above
        """Give the file."""
        return [path]


def _called(text: str) -> dict[str, str] | None:
    """Say what a file calls a test, a suite and `expect`; None where it has no test."""
    tests = _tests(text)
    if not tests:
        return None
    called = {"test": tests[0], "check": "expect"}
    suites = "describe" in javascript.imported(text, "vitest") or _calls(text, "describe")
    return {**called, "suite": "describe"} if suites else called


def _tests(text: str) -> list[str]:
    """Give what a file calls tests: what it imports, or else globals that it calls."""
    imported = javascript.imported(text, "vitest")
    names = ("it", "test")
    return [name for name in names if name in imported] or [
        name for name in names if _calls(text, name)
    ]


def _calls(text: str, name: str) -> bool:
    return re.search(rf"(?<![\w$.]){name}\s*\(", text) is not None
