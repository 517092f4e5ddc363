"""tape: its canaries, its runner, its command.

https://github.com/tape-testing/tape
"""

import random
from collections.abc import Mapping

from sandbox.grading.frameworks import javascript
from sandbox.grading.frameworks.base import Place, TestFile

RUNNER = "tape_runner.js"

_TEST = "{{test}}('{{name}}', function (t) {{{{\n\t{body}\n\tt.end();\n}}}});"
_PLANNED = "{{test}}('{{name}}', function (t) {{{{\n\tt.plan({count});\n\t{body}\n}}}});"

COMPARING = tuple(
    _TEST.format(body=body)
    for body in (
        "t.equal({a}, {b});",
        "t.deepEqual([{a}, {b}], [{a}, {c}]);",
        "t.deepEqual({{ x: {a} }}, {{ x: {b} }});",
        "t.equal('{a}', '{b}', 'is {b}');",
    )
)
ASSERTING = tuple(
    _TEST.format(body=body)
    for body in (
        "t.ok({a} === {b});",
        "t.notOk({a});",
        "t.notEqual({a}, {a});",
        "t['throws'](function () {{ return {a}; }});",
    )
)
COUNTING = (
    _PLANNED.format(count=1, body="t.deepEqual({{ a: '{a}' }}, {{ a: '{b}' }});"),
    _PLANNED.format(count=2, body="t.equal({a}, {a});\n\tt.end();"),
    _TEST.format(body="t.equal({a}, {a});\n\tt.fail('{b}');"),
)
WAYS = (COMPARING, ASSERTING, COUNTING)
"""Each file has one canary of each."""

SABOTAGE = ("{t}.equal({a}, {b});", "{t}.ok({a} === {b});", "{t}.deepEqual([{a}], [{b}]);")


class Tape:
    """The framework `tape`; an id is `test/a.js::name`, or `test/a.js::outer > name`.

    The second of one name is `name #2`. A test that neither asserts nor holds another ends as
    `error`. One that throws ends the process, as tape has it.
    """

    environment: Mapping[str, str] = javascript.ENVIRONMENT

    def is_test_file(self, path: str) -> bool:
        """Go by the folders that tape's users have: `test/` or `tests/`, and its own suffixes."""
        return path.endswith((".js", ".cjs")) and bool({"test", "tests"} & {*path.split("/")[:-1]})

    def file_of(self, test: str) -> str:
        """Give what stands before the first `::`."""
        return test.partition("::")[0]

    def configures(self, path: str) -> bool:  # noqa: ARG002 - as the protocol has it
        """Tape has no configuration."""
        return False

    def runner_files(self, hidden: Mapping[str, bytes]) -> dict[str, bytes]:  # noqa: ARG002 - as above
        """Give the runner."""
        return javascript.runner_files(RUNNER)

    def with_canaries(self, path: str, source: bytes, chance: random.Random) -> TestFile:
        """Put in a test of each way to fail. ValueError where the file does not load tape."""
        names = javascript.imported(source.decode(), "tape")
        if not names:
            raise ValueError("it gives no name to what require('tape') returns")
        return javascript.put_in(path, source, {"test": names[0]}, WAYS, chance)

    def sabotaged(self, path: str, source: bytes, chance: random.Random) -> TestFile | None:
        """Begin tests with an assertion that fails."""
        names = javascript.imported(source.decode(), "tape")
        if not names:
            return None
        return javascript.sabotaged(path, source, names[0], SABOTAGE, chance)

    def loads(self, source: bytes) -> set[str]:
        """Name the files of relative paths."""
        return javascript.loads(source)

    def argv(self, place: Place, path: str) -> tuple[str, ...]:
        """Run the runner, which takes the file."""
        words = javascript.argv(place, ("{folder}/" + RUNNER,), path)
        return words if place.locked else (*words, javascript.OPEN)
