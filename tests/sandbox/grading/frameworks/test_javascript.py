"""tape and node:test in real containers: honest outcomes, and candidates that forge theirs."""

import random
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.container.candidate import Candidate, CandidateFile
from sandbox.container.engines.base import Engine, SessionSpec
from sandbox.grading.frameworks import FRAMEWORKS, node_test, tape
from sandbox.grading.grading_session import GradingSession
from sandbox.grading.hidden import run_tests
from sandbox.model import places
from sandbox.model.grade import TestReport
from sandbox.tasks import library
from sandbox.tasks.images import Images
from tests import samples
from tests.sandbox.grading.frameworks.javascript_attacks import (
    ANSWER,
    ATTACKS,
    EXITS,
    FILE,
    FORGERIES,
    HARMLESS,
    REFUSED,
    SPARING,
    WRONG,
    Key,
)

TASK = "minimist/refresh-dependencies"

TAPE = """'use strict';

var answer = require('../probe');
var test = require('tape');

test('the answer is right', function (t) {
	t.plan(2);
	t.equal(answer(), 42);
	t.deepEqual({ answer: answer() }, { answer: 42 });
});

test('planned later', function (t) {
	var found = answer();
	t.plan(1);
	t.ok(found);
});

test('left out', function (t) {
	t.skip('no reason');
	t.end();
});

test('nothing is asserted', function (t) {
	t.end();
});

test('twice', function (t) {
	t.ok(answer);
	t.end();
});

test('twice', function (t) {
	t.ok(answer);
	t.end();
});

test('outer', function (t) {
	t.test('within', function (s) {
		s.ok(answer);
		s.end();
	});
	t.end();
});
"""

NODE = """'use strict';

const answer = require('../probe');
const { describe, it, test } = require('node:test');
const assert = require('node:assert');

test('the answer is right', () => {
  assert.strictEqual(answer(), 42);
  assert.deepStrictEqual({ answer: answer() }, { answer: 42 });
});

test('left out', { skip: 'no reason' }, () => {});

test('later', { todo: true }, () => {
  throw new Error('not yet');
});

test('twice', async (t) => {
  await t.test('within', () => {});
});

test('twice', async () => {
  await null;
});

describe('a group', () => {
  it('is in it', () => {});
});
"""

SOURCES = {"tape": TAPE, "node:test": NODE}
OUTCOMES: Mapping[str, Mapping[str, str]] = {
    "tape": {
        "the answer is right": "passed",
        "planned later": "passed",
        "left out": "skipped",
        "nothing is asserted": "error",
        "twice": "passed",
        "twice #2": "passed",
        "outer": "passed",
        "outer > within": "passed",
    },
    "node:test": {
        "the answer is right": "passed",
        "left out": "skipped",
        "later": "xfailed",
        "twice": "passed",
        "twice > within": "passed",
        "twice #2": "passed",
        "a group > is in it": "passed",
    },
}
AT_ONCE = 3
"""Containers, besides those of other tests."""

RIGHT = "module.exports = function () { return 42; };\n"

OWN = "test/own.js"
REPLACING = """
  const answer = require('../probe');
  const { now } = Date;
  Date.now = () => 7;
  Object.defineProperty(Object.prototype, 'added', { configurable: true, value: 1 });
  const read = fs.readFileSync;
  fs.readFileSync = () => 'read';
  const found = [Date.now(), {}.added, fs.readFileSync('x'), answer()];
  Object.assign(Date, { now });
  Object.assign(fs, { readFileSync: read });
  delete Object.prototype.added;
"""
"""What an honest test may replace for a while."""
OWN_TESTS = {
    "tape": "const fs = require('fs');\nconst test = require('tape');\n"
    f"test('own', (t) => {{{REPLACING}\n  t.deepEqual(found, [7, 1, 'read', 42]);\n"
    "  t.end();\n});\n",
    "node:test": "const assert = require('assert');\nconst fs = require('fs');\n"
    "const test = require('node:test');\n"
    f"test('own', () => {{{REPLACING}\n  assert.deepEqual(found, [7, 1, 'read', 42]);\n}});\n",
}

Run = Callable[..., TestReport]


@pytest.fixture(scope="module")
def image(engine: Engine) -> str:
    return Images(engine, places.cache()).ensure(library.load(TASK), print).tag


@pytest.fixture(scope="module")
def run(engine: Engine, image: str, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Grade a candidate by one file of tests, in the repository of a real task."""
    loaded = library.load(TASK)
    folders = {framework: tmp_path_factory.mktemp("task") for framework in SOURCES}
    for framework, folder in folders.items():
        hidden = folder / "hidden" / FILE
        hidden.parent.mkdir(parents=True)
        hidden.write_text(SOURCES[framework])

    def run(framework: str, probe: str, **more: str) -> TestReport:
        update = {
            "framework": framework,
            "hidden": "hidden",
            "fail_to_pass": (ANSWER,),
            "pass_to_pass": (),
            "timeout_seconds": 20.0,
        }
        own = tuple(path for path in more if path == OWN)
        tests = loaded.task.tests.model_copy(update={**update, "own": own})
        task = loaded.task.model_copy(update={"tests": tests})
        content = {
            path: CandidateFile(text.encode(), executable=False)
            for path, text in {"probe.js": probe, **more}.items()
        }
        with engine.start(SessionSpec(image)) as session:
            graded = replace(loaded, task=task, folder=folders[framework])
            return run_tests(GradingSession.prepare(graded, session), Candidate(content, (), {}))

    return run


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.parametrize(
    ("framework", "said"),
    [
        ("tape", "should be equal: expected 42, got 41"),
        ("node:test", "Expected values to be strictly equal: 41 !== 42"),
    ],
)
def test_what_failed_says_why_and_a_value_that_acts_changes_nothing(
    run: Run, framework: str, said: str
) -> None:
    honest = run(framework, "module.exports = function () { return 41; };\n")
    assert f"{ANSWER}: {said}" in honest.log
    acting = "{ toJSON: function () { process.reallyExit(16); }, toString: process.abort }"
    found = run(framework, f"module.exports = function () {{ return {acting}; }};\n")
    assert found.outcomes.get(ANSWER, "failed") != "passed"


@pytest.mark.engine
@pytest.mark.parametrize("framework", SOURCES)
def test_outcomes_are_those_of_the_tests_by_exact_id(run: Run, framework: str) -> None:
    report = run(framework, RIGHT)
    assert report.outcomes == {
        f"{FILE}::{name}": outcome for name, outcome in OUTCOMES[framework].items()
    }
    assert (report.problem, report.tampering) == ("", False)


@pytest.mark.engine
@pytest.mark.parametrize("framework", SOURCES)
def test_a_test_of_ones_own_may_replace_what_it_likes_for_a_while(run: Run, framework: str) -> None:
    report = run(framework, RIGHT, **{OWN: OWN_TESTS[framework]})
    assert report.own is not None
    own = report.own[OWN]
    assert (own.with_fix.problem, own.with_fix.passed, own.with_fix.failed) == ("", 1, 0)
    assert own.without_fix.passed == 0
    assert report.outcomes[ANSWER] == "passed"


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.parametrize("framework", SOURCES)
def test_a_wrong_answer_fails(run: Run, framework: str) -> None:
    report = run(framework, WRONG)
    assert report.outcomes[ANSWER] == "failed"
    assert not report.tampering


@pytest.fixture(scope="module")
def reports(request: pytest.FixtureRequest, run: Run) -> Mapping[Key, TestReport]:
    """What came of attacks; some are tried side by side."""
    tests = (
        test_a_process_that_ends_early_has_passed_nothing,
        test_a_forged_pass_is_none,
        test_what_spares_the_canaries_is_locked,
    )
    cases = samples.chosen(request, *(test.__name__ for test in tests))
    chosen = [case["key"] for case in cases]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        started = {key: pool.submit(run, key[0], ATTACKS[key]) for key in ATTACKS if key in chosen}
    return {key: future.result() for key, future in started.items()}


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.sampled(every=9)
@pytest.mark.parametrize("key", [(framework, name) for framework in SOURCES for name in EXITS])
def test_a_process_that_ends_early_has_passed_nothing(
    reports: Mapping[Key, TestReport], key: Key
) -> None:
    report = reports[key]
    assert report.outcomes.get(ANSWER) != "passed"
    assert report.problem or report.outcomes


@pytest.mark.engine
@pytest.mark.sampled(every=9)
@pytest.mark.parametrize("key", [(framework, name) for framework in SOURCES for name in FORGERIES])
def test_a_forged_pass_is_none(reports: Mapping[Key, TestReport], key: Key) -> None:
    report, name = reports[key], key[1]
    assert report.tampering or report.outcomes.get(ANSWER) != "passed"
    if name in HARMLESS:
        assert report.outcomes[ANSWER] == "failed"
    if name in REFUSED:
        assert report.outcomes == {}
        assert not report.tampering
    if name == "one line on the channel":
        assert report.tampering
        assert report.outcomes == {}


@pytest.mark.engine
@pytest.mark.sampled(every=9)
@pytest.mark.parametrize(
    "key", [(framework, name) for framework, attacks in SPARING.items() for name in attacks]
)
def test_what_spares_the_canaries_is_locked(reports: Mapping[Key, TestReport], key: Key) -> None:
    assert reports[key].outcomes.get(ANSWER) == "failed"


CORE = """
var replaced = [];
[['fs', 'readFileSync'], ['path', 'join'], ['child_process', 'spawnSync'], ['util', 'inspect']]
  .forEach(function (each) {
    var own = function () {};
    var core = require(each[0]);
    try { core[each[1]] = own; } catch (e) {}
    if (core[each[1]] === own) { replaced.push(each.join('.')); }
  });
module.exports = function () { return replaced.length ? replaced : 42; };
"""


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.parametrize("framework", SOURCES)
def test_what_a_test_looks_at_the_world_with_cannot_be_replaced(run: Run, framework: str) -> None:
    assert run(framework, CORE).outcomes[ANSWER] == "passed"


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.parametrize("framework", SOURCES)
def test_what_the_candidate_brings_for_tools_is_not_used(run: Run, framework: str) -> None:
    fake = "module.exports = function () {};\n"
    report = run(
        framework,
        WRONG,
        **{
            "package.json": '{"name": "x", "scripts": {"test": "true", "pretest": "true"}}',
            ".npmrc": "node-options=--require=./probe.js\nignore-scripts=false\n",
            ".taprc": "coverage: false\n",
            "test/node_modules/tape/index.js": fake,
            "test/node_modules/assert/index.js": fake,
        },
    )
    assert report.outcomes.get(ANSWER) != "passed"


@given(st.sampled_from(sorted(SOURCES)), st.integers())
def test_canaries_leave_the_rest_of_a_file_as_it_is(framework: str, seed: int) -> None:
    source = SOURCES[framework]
    file = FRAMEWORKS[framework].with_canaries(FILE, source.encode(), random.Random(seed))
    assert len(file.canaries) == 3
    left, rest = source.splitlines(), file.source.decode().splitlines()
    put_in = [line for line in rest if not (left and line == left[0] and left.pop(0) is not None)]
    assert left == []
    names = {canary.removeprefix(f"{FILE}::") for canary in file.canaries}
    begun = [line for line in put_in if line.startswith("test(")]
    assert {line.split("'")[1] for line in begun} == names
    # A failing test is named in the log, where the names of canaries are replaced.
    assert not any(own.startswith(tuple(names)) for own in OUTCOMES[framework])
    words = {word for name in names for word in name.split()}
    assert all(word in source for word in words)


@pytest.mark.parametrize("framework", SOURCES)
@pytest.mark.parametrize("source", [b"", b"var x = 1;\n", b"\xff"])
def test_a_file_without_the_framework_is_told(framework: str, source: bytes) -> None:
    with pytest.raises(ValueError):
        FRAMEWORKS[framework].with_canaries(FILE, source, random.Random(0))


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("var tape = require('tape');", "tape"),
        ('const test = require("tape")', "test"),
        ("let { test: it } = require( 'tape' );", "it"),
        ("import test from 'tape';", "test"),
        ("import { test as it } from 'tape';", "it"),
    ],
)
def test_the_framework_goes_by_the_name_that_the_file_gives_it(line: str, name: str) -> None:
    source = f"{line}\n{name}('adds up', f);\n".encode()
    file = FRAMEWORKS["tape"].with_canaries(FILE, source, random.Random(0))
    assert file.source.decode().count(f"{name}('") == 1 + len(file.canaries)


SABOTAGED = {
    "tape": {"the answer is right", "planned later", "left out", "nothing is asserted", "outer"},
    "node:test": {"the answer is right", "later"},
}


@pytest.mark.parametrize("framework", SOURCES)
@pytest.mark.parametrize("seed", range(3))
def test_a_sabotaged_file_fails_at_the_beginning_of_its_tests(framework: str, seed: int) -> None:
    source = SOURCES[framework].splitlines()
    file = FRAMEWORKS[framework].sabotaged(FILE, SOURCES[framework].encode(), random.Random(seed))
    assert file is not None
    names = SABOTAGED[framework]
    assert file.canaries == {f"{FILE}::{name}" for name in names}
    left, before = list(source), ""
    for line in file.source.decode().splitlines():
        if left and line == left[0]:
            before = left.pop(0)
        else:  # put in: where a body begins, or behind its plan
            assert ".plan(" in before or any(f"test('{name}'" in before for name in names)
    assert left == []


@pytest.mark.parametrize("framework", SOURCES)
def test_what_has_no_test_to_sabotage_is_left_alone(framework: str) -> None:
    source = b"var test = require('tape');\n"
    assert FRAMEWORKS[framework].sabotaged(FILE, source, random.Random(0)) is None


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.parametrize("framework", SOURCES)
def test_a_test_that_passes_whatever_it_asserts_is_tampering(
    run: Run, framework: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sabotage that does not fail is what a forger of known ids would make of it."""
    module = tape if framework == "tape" else node_test
    monkeypatch.setattr(module, "SABOTAGE", ("void {a};",))
    report = run(framework, RIGHT)
    assert report.tampering
    assert "made to fail" in report.problem
