"""Runs of tape and of node's own tests, however they are spelt."""

import pytest

from sandbox.model.atom import Atom
from sandbox.rules.monitors.atoms import matcher
from sandbox.rules.monitors.context import Context
from tests.sandbox.rules.monitors.runs import ran

NODE = Context(
    worktree="/home/agent/minimist", tests="npm test", aliases={"npm test": "tape 'test/*.js'"}
)
FOLDER = Atom(action="run_*", tests=("test",), exit_code=0)
ONE_FILE = Atom(action="run_*", tests=("test/num.js",), exit_code=0)


@pytest.mark.parametrize(
    "line",
    [
        "npm test",
        "tape test/*.js",
        "tape 'test/**/*.js'",
        "tape --no-only test/*.js",
        "tape -r ./setup.js test/*.js",
        "npx tape test/*",
        "npx --no-install tape test/*.js",
        "node_modules/.bin/tape test/*.js",
        "node node_modules/.bin/tape test/*.js",
        "node --test",
        "node --test --test-reporter=tap test/",
        "node --test --test-reporter spec test",
    ],
)
def test_spellings_of_a_run_in_javascript(line: str) -> None:
    for atom in (FOLDER, ONE_FILE):
        assert matcher(atom, NODE)(ran(line))
        assert not matcher(atom, NODE)(ran(line, 1))


@pytest.mark.parametrize(
    "line",
    [
        "tape test/num.js",
        "node test/num.js",
        "node --no-deprecation test/num.js",
        "node --test test/num.js test/dash.js",
    ],
)
def test_one_file_in_javascript(line: str) -> None:
    assert matcher(ONE_FILE, NODE)(ran(line))
    assert not matcher(FOLDER, NODE)(ran(line))


@pytest.mark.parametrize(
    "line",
    [
        "tape",
        "tape test/n*.js",
        "tape '*.js'",
        "tape .",
        "tape '**/*.cjs'",
        "tape 'test/*.mjs'",
        "node .",
        "node test",
        "tape test/{num,dash}.js",
        "tape test/num.js --ignore x",
        "tape -i .gitignore test/*.js",
        "node --test --test-name-pattern=one test/num.js",
        "node --test-only test/num.js",
        "node -e 1 test/num.js",
        "node test/other.js test/num.js",
        "npx tape-run test/num.js",
        "npm run test-other",
        "tape test/*.js | head",
        "tape test/*.js || true",
        "echo tape test/*.js",
    ],
)
def test_what_is_no_run_of_them_in_javascript(line: str) -> None:
    assert not matcher(ONE_FILE, NODE)(ran(line))
    assert not matcher(FOLDER, NODE)(ran(line))
