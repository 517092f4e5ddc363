"""vitest in real containers: honest outcomes by exact id, and candidates that forge theirs."""

import random
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.container.candidate import Candidate, CandidateFile
from sandbox.container.engines.base import Engine, SessionSpec
from sandbox.grading.frameworks import FRAMEWORKS, vitest
from sandbox.grading.frameworks.base import Place
from sandbox.grading.grading_session import GradingSession
from sandbox.grading.hidden import run_tests
from sandbox.model import places
from sandbox.model.grade import TestReport
from sandbox.tasks.images import Images, package_clients
from sandbox.tasks.seeds import mined_repository
from sandbox.tasks.sources import Sources
from tests import samples
from tests.sandbox.grading.frameworks.vitest_attacks import (
    ANSWER,
    ATTACKS,
    EQUAL,
    EQUALS_ALL,
    FILE,
    WRONG,
)

REPOSITORY = "wonka"
SOURCE = """import { afterAll, beforeAll, describe, expect, it, test, vi } from 'vitest';
import { answer } from '../answer';

describe('the answer', () => {
  it('is right', () => {
    expect(answer()).toBe(42);
  });

  it("is equal", () => {
    expect({ answer: answer() }).toEqual({ answer: 42 });
    expect({ answer: 1 }).toEqual({ answer: expect.any(Number) });
  });

  it.each([1, 2])('for %i', async (number) => {
    await null;
    expect(number).toBeGreaterThan(0);
  });

  it.skip('left out', () => {});
});

describe('a late end', () => {
  afterAll(() => {
    throw new Error('late');
  });

  describe('of what is within', () => {
    it('is reached', () => {
    });
  });
});

describe('an early end', () => {
  beforeAll(() => {
    throw new Error('early');
  });

  it('is never reached', () => {
  });
});

describe.each(['a', 'b'])('group %s', () => {
  it('has a member', () => {
    expect.assertions(1);
    expect(1).toBe(1);
  });
});

class Told extends Error {
  constructor() {
    super();
    this.name = 'Told';
    this.message = 'told';
  }
}

test('an error of its own', () => {
  const told = new Told();
  expect(Object.keys(told)).toEqual(['name', 'message']);
  expect(() => {
    throw told;
  }).toThrow('told');
});

test('a clock of its own', () => {
  vi.useFakeTimers({ now: 0 });
  const called = vi.fn();
  setTimeout(called, 1000);
  vi.advanceTimersByTime(1000);
  expect(called).toHaveBeenCalledTimes(1);
  expect(Date.now()).toBe(1000);
  vi.useRealTimers();
});

test('values that are hard to walk', () => {
  let chain: unknown = null;
  for (let length = 0; length < 20_000; length += 1) {
    chain = { chain };
  }
  expect({ chain, kept: 1 }).toHaveProperty('kept', 1);
  const strict = new Proxy({ kept: 1 }, {
    get(target, key) {
      if (key !== 'kept') throw new Error(`no ${String(key)}`);
      return target[key];
    },
  });
  expect({ strict, get broken() { throw new Error('broken'); } }).toHaveProperty('strict.kept', 1);
  const called = vi.fn(() => strict);
  called.call(null);
  expect(called).toHaveBeenCalledWith();
  expect(new Map([[{ a: 1 }, new Set([2])]])).toEqual(new Map([[{ a: 1 }, new Set([2])]]));
  expect(new Uint8Array(1_000_000)).toHaveLength(1_000_000);
});

test('twice', () => {});

test('twice', () => {});

test.todo('later');

test.fails('is known to fail', () => {
  expect(1).toBe(2);
});
"""
OUTCOMES = {
    "the answer > is right": "passed",
    "the answer > is equal": "passed",
    "the answer > for 1": "passed",
    "the answer > for 2": "passed",
    "the answer > left out": "skipped",
    "a late end > of what is within > is reached": "error",
    "an early end > is never reached": "error",
    "group a > has a member": "passed",
    "group b > has a member": "passed",
    "an error of its own": "passed",
    "a clock of its own": "passed",
    "values that are hard to walk": "passed",
    "twice": "passed",
    "twice #2": "passed",
    "later": "skipped",
    "is known to fail": "passed",
}
RIGHT = "export const answer = (): unknown => 42;\n"

OWN = "src/__tests__/own.test.ts"
OWN_TEST = """import { expect, test } from 'vitest';
import { answer } from '../answer';

test('own', () => {
  const { random } = Math;
  Math.random = () => 7;
  Object.defineProperty(Object.prototype, 'added', { configurable: true, value: 1 });
  const found = [Math.random(), ({} as { added: number }).added, answer()];
  Object.assign(Math, { random });
  delete (Object.prototype as { added?: number }).added;
  expect(found).toEqual([7, 1, 42]);
});
"""
AT_ONCE = 2

Run = Callable[..., TestReport]


@pytest.fixture(scope="module")
def run(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Grade a candidate by one file of tests, in a real repository."""
    sources = Sources(places.cache(), package_clients.provide)
    loaded = mined_repository.load(REPOSITORY, sources, print).task()
    image = Images(engine, places.cache()).ensure(loaded, print).tag

    def run(answer: str, source: str = SOURCE, /, **more: str) -> TestReport:
        folder = tmp_path_factory.mktemp("task")
        hidden = folder / "hidden" / FILE
        hidden.parent.mkdir(parents=True)
        hidden.write_text(source)
        update = {"hidden": "hidden", "fail_to_pass": (ANSWER,), "timeout_seconds": 20.0}
        own = tuple(path for path in more if path == OWN)
        tests = loaded.task.tests.model_copy(update={**update, "own": own})
        task = loaded.task.model_copy(update={"tests": tests})
        files = {
            path: CandidateFile(text.encode(), executable=False)
            for path, text in {"src/answer.ts": answer, **more}.items()
        }
        with engine.start(SessionSpec(image)) as session:
            graded = replace(loaded, task=task, folder=folder)
            return run_tests(GradingSession.prepare(graded, session), Candidate(files, (), {}))

    return run


@pytest.mark.engine
def test_outcomes_are_those_of_the_tests_by_exact_id(run: Run) -> None:
    report = run(RIGHT)
    assert (report.problem, report.tampering) == ("", False)
    expected = {f"{FILE}::{name}": outcome for name, outcome in OUTCOMES.items()}
    assert report.outcomes == expected, report.log


@pytest.mark.engine
def test_a_test_of_ones_own_may_replace_what_it_likes_for_a_while(run: Run) -> None:
    report = run(RIGHT, SOURCE, **{OWN: OWN_TEST})
    assert report.own is not None
    own = report.own[OWN]
    assert (own.with_fix.problem, own.with_fix.passed, own.with_fix.failed) == ("", 1, 0)
    assert own.without_fix.passed == 0
    assert report.outcomes[ANSWER] == "passed"


@pytest.mark.engine
def test_a_wrong_answer_fails_and_says_why(run: Run) -> None:
    report = run(WRONG)
    assert (report.outcomes[ANSWER], report.outcomes[EQUAL]) == ("failed", "failed")
    assert report.outcomes[f"{FILE}::twice"] == "passed"
    assert not report.tampering
    assert f"{ANSWER}: expected 41 to be 42" in report.log


@pytest.fixture(scope="module")
def reports(request: pytest.FixtureRequest, run: Run) -> Mapping[str, TestReport]:
    """What came of attacks; some are tried side by side."""
    cases = samples.chosen(request, test_a_forged_pass_is_none.__name__)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        chosen = [str(case["name"]) for case in cases]
        started = {name: pool.submit(run, ATTACKS[name]) for name in chosen}
    return {name: future.result() for name, future in started.items()}


@pytest.mark.engine
@pytest.mark.sampled(every=9)
@pytest.mark.parametrize("name", ATTACKS)
def test_a_forged_pass_is_none(reports: Mapping[str, TestReport], name: str) -> None:
    report = reports[name]
    assert report.outcomes.get(ANSWER) != "passed"
    assert report.outcomes or report.problem


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.parametrize("name", EQUALS_ALL)
def test_what_a_test_gets_does_not_decide_what_it_equals(run: Run, name: str) -> None:
    report = run(EQUALS_ALL[name])
    assert (report.outcomes[ANSWER], report.outcomes[EQUAL]) == ("failed", "failed")
    assert "decides itself what it equals" in report.log


@pytest.mark.slow
@pytest.mark.engine
def test_a_file_that_is_run_again_is_not_taken_from_memory(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sabotage that does not fail is what a forger of known ids would make of it."""
    monkeypatch.setattr(vitest, "SABOTAGE", ("void {a};",))
    report = run(RIGHT)
    assert report.tampering
    assert "made to fail" in report.problem


@pytest.mark.slow
@pytest.mark.engine
def test_what_the_candidate_brings_for_tools_is_not_used(run: Run) -> None:
    config = "process.exit(0);\nexport default { test: { globals: true } };\n"
    names = ("vitest.config.ts", "vite.config.ts", "postcss.config.js", ".env")
    report = run(RIGHT, **dict.fromkeys(names, config))
    assert (report.problem, report.outcomes[ANSWER]) == ("", "passed")


@pytest.mark.slow
@pytest.mark.engine
def test_what_a_broken_module_says_is_in_the_log(run: Run) -> None:
    report = run("import { gone } from './nowhere';\nexport const answer = gone;\n")
    assert report.outcomes == {}
    assert not report.tampering
    assert "nowhere" in report.log


def test_the_images_own_configuration_counts_unless_the_candidate_has_one() -> None:
    framework = FRAMEWORKS["vitest"]
    assert isinstance(framework, vitest.Vitest)

    def configured(hidden: str, own: str) -> str:
        return framework.server(Place("/g", "/w", frozenset({hidden}), frozenset({own})))[-1]

    assert configured("a.test.ts", "src/a.ts") == "."
    assert configured("vitest.config.ts", "vitest.config.mts") == "vitest.config.ts"
    assert configured("a.test.ts", "vitest.config.mts") == ""
    assert configured("a.test.ts", "vite.config.ts") == ""


@given(st.integers())
def test_canaries_leave_the_rest_of_a_file_as_it_is(seed: int) -> None:
    file = FRAMEWORKS["vitest"].with_canaries(FILE, SOURCE.encode(), random.Random(seed))
    assert len(file.canaries) == 3
    left = SOURCE.splitlines()
    for line in file.source.decode().splitlines():
        if left and line == left[0]:
            left.pop(0)
    assert left == []
    names = {canary.removeprefix(f"{FILE}::") for canary in file.canaries}
    assert not names & OUTCOMES.keys()
    suites = {name.rpartition(" > ")[0] for name in names}
    assert suites <= {"", "the answer", "a late end", "an early end"}
    for name in names:
        indent = "  " if " > " in name else ""
        assert f"\n{indent}it('{name.rpartition(' > ')[2]}', " in file.source.decode()


@pytest.mark.parametrize("seed", range(4))
def test_a_sabotaged_file_fails_at_the_beginning_of_its_tests(seed: int) -> None:
    file = FRAMEWORKS["vitest"].sabotaged(FILE, SOURCE.encode(), random.Random(seed))
    assert file is not None
    names = {"the answer > is right", "the answer > is equal", "an error of its own"}
    names |= {"a clock of its own", "values that are hard to walk"}
    names |= {"a late end > of what is within > is reached", "an early end > is never reached"}
    assert file.canaries == {f"{FILE}::{name}" for name in names}
    left, before = SOURCE.splitlines(), ""
    for line in file.source.decode().splitlines():
        if left and line == left[0]:
            before = left.pop(0)
        else:
            assert before.endswith("() => {")
            assert any(name.rpartition(" > ")[2] in before for name in OUTCOMES)
    assert left == []


@pytest.mark.parametrize("source", [b"", b"const x = 1;\n", b"/x/.test('it');\n", b"\xff"])
def test_a_file_without_tests_is_told(source: bytes) -> None:
    with pytest.raises(ValueError):
        FRAMEWORKS["vitest"].with_canaries(FILE, source, random.Random(0))


def test_globals_are_tests_where_nothing_is_imported() -> None:
    source = (
        b"import { vi } from 'vitest';\ndescribe('a', () => {\n  test('b', () => {\n  });\n});\n"
    )
    file = FRAMEWORKS["vitest"].with_canaries(FILE, source, random.Random(0))
    assert file.source.count(b"test('") == 4


@pytest.mark.parametrize(
    ("path", "has"),
    [
        ("src/a.test.ts", True),
        ("a.spec.mjs", True),
        ("src/__tests__/a.ts", False),
        ("src/a.test-d.ts", False),
        ("node_modules/x/a.test.js", False),
    ],
)
def test_which_files_have_tests(path: str, has: bool) -> None:
    assert FRAMEWORKS["vitest"].is_test_file(path) is has
