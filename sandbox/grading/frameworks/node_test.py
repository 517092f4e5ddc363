"""node's own test runner: its canaries, its reporter, its command.

https://nodejs.org/docs/latest-v18.x/api/test.html
"""

import random
from collections.abc import Mapping

from sandbox.grading.frameworks import javascript
from sandbox.grading.frameworks.base import Place, TestFile

RUNNER, REPORTER = "node_test_runner.js", "node_test_reporter.mjs"

_TEST = "{{test}}('{{name}}', () => {{{{\n  {body}\n}}}});"
_ASYNC = "{{test}}('{{name}}', async () => {{{{\n  {body}\n}}}});"

COMPARING = tuple(
    _TEST.format(body=body)
    for body in (
        "{check}.strictEqual({a}, {b});",
        "{check}.deepStrictEqual([{a}, {b}], [{a}, {c}]);",
        "{check}.deepStrictEqual({{ x: {a} }}, {{ x: {b} }});",
        "{check}.ok({a} === {b});",
    )
)
RAISING = tuple(
    form.format(body=body)
    for form in (_TEST, _ASYNC)
    for body in ("throw new Error('{a}');", "throw new TypeError('{b}');")
)
LATER = (
    _ASYNC.format(body="await Promise.reject(new Error('{a}'));"),
    _ASYNC.format(body="await null;\n  null.x{a};"),
)

SABOTAGE = ("throw new Error('{a}');", "null.x{a};")


class NodeTest:
    """The framework `node:test`; an id is `test/a.js::name`, or `test/a.js::outer > name`.

    Suites have no outcome of their own unless they fail.
    """

    environment: Mapping[str, str] = javascript.ENVIRONMENT

    def is_test_file(self, path: str) -> bool:
        """Go by node's own defaults."""
        folders, _, name = path.rpartition("/")
        stem, _, suffix = name.rpartition(".")
        named = stem == "test" or stem.startswith("test-") or stem.endswith((".test", "-test"))
        named = named or stem.endswith("_test")
        return suffix in ("js", "cjs", "mjs") and (named or "test" in folders.split("/"))

    def file_of(self, test: str) -> str:
        """Give what stands before the first `::`."""
        return test.partition("::")[0]

    def configures(self, path: str) -> bool:  # noqa: ARG002 - as the protocol has it
        """Its configuration is its command."""
        return False

    def runner_files(self, hidden: Mapping[str, bytes]) -> dict[str, bytes]:  # noqa: ARG002 - as above
        """Give what is loaded first, and the reporter."""
        return javascript.runner_files(RUNNER, REPORTER)

    def with_canaries(self, path: str, source: bytes, chance: random.Random) -> TestFile:
        """Put in a test of each way to fail. ValueError where the file loads no `node:test`."""
        text = source.decode()
        found = javascript.imported(text, "node:test")
        names = [name for name in ("test", "it") if name in found]
        if not names:
            raise ValueError("it has neither `test` nor `it` of node:test")
        asserting = javascript.imported(text, "(?:node:)?assert(?:/strict)?")
        called = {"test": names[0], "check": asserting[0] if asserting else ""}
        ways = (COMPARING, RAISING, LATER) if asserting else (RAISING, LATER)
        return javascript.put_in(path, source, called, ways, chance)

    def sabotaged(self, path: str, source: bytes, chance: random.Random) -> TestFile | None:
        """Begin tests with an exception."""
        found = javascript.imported(source.decode(), "node:test")
        names = [name for name in ("test", "it") if name in found]
        if not names:
            return None
        return javascript.sabotaged(path, source, names[0], SABOTAGE, chance)

    def loads(self, source: bytes) -> set[str]:
        """Name the files of relative paths."""
        return javascript.loads(source)

    def argv(self, place: Place, path: str) -> tuple[str, ...]:
        """Run the file itself, with the grader's reporter in its process."""
        reporter = (
            "--test-reporter=file://{folder}/" + REPORTER,
            "--test-reporter-destination=stdout",
        )
        first = ("--require={folder}/" + RUNNER,) if place.locked else ()
        runner = (*first, *reporter)
        return javascript.argv(place, runner, path)
