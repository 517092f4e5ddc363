"""Runs of vitest, however they are spelt."""

import pytest

from sandbox.model.atom import Atom
from sandbox.rules.monitors.atoms import matcher
from sandbox.rules.monitors.context import Context
from tests.sandbox.rules.monitors.runs import ran

VITEST = Context(
    worktree="/home/agent/wonka",
    tests="node_modules/.bin/vitest run",
    aliases={"npm test": "vitest run"},
)
SPEC = Atom(action="run_*", tests=("src/a.test.ts",), exit_code=0)
ALL = Atom(action="run_*", tests=(".",), exit_code=0)


@pytest.mark.parametrize(
    "line",
    [
        "npm test",
        "vitest",
        "npx vitest run",
        "node_modules/.bin/vitest run",
        "node node_modules/vitest/vitest.mjs run --reporter=verbose",
        "npx vitest --run --reporter dot --no-color --pool=forks --maxWorkers 1",
        "vitest run --bail 1 --testTimeout=9000 --poolOptions.forks.singleFork --coverage=false",
        "CI=1 npx vitest run .",
        "vitest run --root . --dir=./",
        "vitest run -r .",
    ],
)
def test_spellings_of_a_run_of_vitest(line: str) -> None:
    for atom in (SPEC, ALL):
        assert matcher(atom, VITEST)(ran(line))
        assert not matcher(atom, VITEST)(ran(line, 1))


@pytest.mark.parametrize(
    "line",
    [
        "vitest run src/a.test.ts",
        "npx vitest src",
        "cd src && npx vitest run a.test.ts",
        "vitest run ./src/a.test.ts",
        "vitest run a.test",
        "vitest run src/A.",
    ],
)
def test_a_filter_of_vitest_covers_the_paths_that_have_it(line: str) -> None:
    assert matcher(SPEC, VITEST)(ran(line))
    assert not matcher(ALL, VITEST)(ran(line))


@pytest.mark.parametrize(
    "line",
    [
        "vitest list",
        "vitest watch",
        "vitest related src/a.ts",
        "vitest bench",
        "vitest run -t adds",
        "vitest run --testNamePattern=adds",
        "vitest run src/a.test.ts:12",
        "vitest run src/b.test.ts",
        "vitest run ../src/a.test.ts",
        "cd docs && vitest run a.test",
        "vitest run /home/agent/other/src",
        "vitest run --changed",
        "vitest run --shard=1/2",
        "vitest run --exclude 'src/a*'",
        "vitest run --passWithNoTests",
        "vitest run --dangerouslyIgnoreUnhandledErrors",
        "vitest run --config other.ts",
        "vitest run --root /tmp",
        "vitest run -r /tmp",
        "vitest run --dir docs",
        "vitest run --reporter=./mine.js",
        "vitest run --reporter ./mine.js",
        "vitest run --update",
        "vitest run | tail",
        "vitest run || true",
        "echo vitest run",
        "npx vitest-mock-extended run",
    ],
)
def test_what_is_no_run_of_vitest_of_them(line: str) -> None:
    assert not matcher(SPEC, VITEST)(ran(line))
    assert not matcher(ALL, VITEST)(ran(line))
