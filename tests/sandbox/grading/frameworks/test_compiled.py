"""Tests of Go, Rust and C in real containers: honest outcomes, and candidates that forge theirs."""

import random
import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.container.candidate import Candidate, CandidateFile
from sandbox.container.engines.base import Engine, SessionSpec
from sandbox.grading.frameworks import FRAMEWORKS
from sandbox.grading.grading_session import GradingSession
from sandbox.grading.hidden import run_tests
from sandbox.model import places
from sandbox.model.grade import TestReport
from sandbox.tasks.images import Images, package_clients
from sandbox.tasks.seeds import mined_repository
from sandbox.tasks.sources import Sources
from tests.sandbox.grading.frameworks.compiled_attacks import ANSWER, ATTACKS, RIGHT, WRONG

REPOSITORIES = {"go test": "go-version", "cargo test": "strsim", "unity": "cjson"}
FILES = {
    "go test": ("answer_test.go", "answer.go"),
    "cargo test": ("tests/answer.rs", "src/lib.rs"),
    "unity": ("tests/answer.c", "answer.c"),
}

SOURCES = {
    "go test": """package version

import (
	"testing"
)

var cases = []struct {
	got, want string
}{
	{"}", `
}`},
}

func TestAnswer(t *testing.T) {
	if got := answer(); got != 42 {
		t.Fatalf("got %d", got)
	}
}

func TestOthers(u *testing.T) {
	for _, each := range cases {
		if each.got == each.want {
			u.Error('}', each)
		}
	}
}

func TestSkipped(t *testing.T) {
	t.Skip("no reason")
}

func TestPanics(t *testing.T) {
	var known map[string]int
	known["a"] = answer()
}

func TestNothing(_ *testing.T) {
}

func helper(t *testing.T) {
	t.Fatal("it is no test")
}
""",
    "cargo test": r"""extern crate strsim;

use strsim::answer;

const BRACES: &[&str] = &["}", r#"
}"#];

#[test]
fn the_answer() {
    assert_eq!(answer(), 42);
}

#[test]
fn others() {
    assert_ne!(BRACES[0], BRACES[1]);
    assert_eq!('}', BRACES[0].chars().next().unwrap());
}

#[test]
#[ignore]
fn skipped() {
    panic!("it is left out");
}

#[test]
#[should_panic(expected = "none")]
fn panics() {
    None::<&'static str>.expect("none");
}

mod deep {
    #[test]
    fn within() {}
}
""",
    "unity": r"""#include <stdlib.h>
#include "unity/examples/unity_config.h"
#include "unity/src/unity.h"

int answer(void);

#ifdef NEVER
static void never(void)
{
}
#endif

static void the_answer(void)
{
    TEST_ASSERT_EQUAL_INT(42, answer());
}

static void others(void) {
    TEST_ASSERT_TRUE('}' == "}{"[0]); /* } */
}

static void skipped(void)
{
    TEST_IGNORE();
}

static void crashes(void)
{
    *(volatile char *)0 = 1;
}

static void exits(void)
{
    exit(0);
}

void helper(void)
{
    TEST_FAIL();
}

int main(void)
{
    UNITY_BEGIN();
#ifdef NEVER
    RUN_TEST(never);
#endif
    RUN_TEST(the_answer);
    RUN_TEST(others);
    RUN_TEST(skipped);
    RUN_TEST(crashes);
    RUN_TEST(exits);
#ifdef NEVER
    RUN_TEST(never);
#endif
    return UNITY_END();
}
""",
}
OUTCOMES = {
    "go test": {
        "TestAnswer": "passed",
        "TestOthers": "passed",
        "TestSkipped": "skipped",
        "TestPanics": "failed",
        "TestNothing": "passed",
    },
    "cargo test": {
        "the_answer": "passed",
        "others": "passed",
        "skipped": "skipped",
        "panics": "passed",
        "deep::within": "passed",
    },
    "unity": {
        "the_answer": "passed",
        "others": "passed",
        "skipped": "skipped",
        "crashes": "failed",
        "exits": "failed",
        "never": "error",
    },
}

Run = Callable[[str, str], TestReport]


@pytest.fixture(scope="module")
def run(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Grade a candidate by one file of tests, in a real repository."""
    sources = Sources(places.cache(), package_clients.provide)
    images = Images(engine, places.cache())
    made = {}
    for framework, name in REPOSITORIES.items():
        loaded = mined_repository.load(name, sources, print).task()
        folder = tmp_path_factory.mktemp("task")
        hidden = folder / "hidden" / FILES[framework][0]
        hidden.parent.mkdir(parents=True)
        hidden.write_text(SOURCES[framework])
        update = {"hidden": "hidden", "fail_to_pass": (ANSWER[framework],), "timeout_seconds": 60.0}
        tests = loaded.task.tests.model_copy(update=update)
        task = loaded.task.model_copy(update={"tests": tests})
        made[framework] = (
            images.ensure(loaded, print).tag,
            replace(loaded, task=task, folder=folder),
        )

    def run(framework: str, source: str) -> TestReport:
        image, task = made[framework]
        file = CandidateFile(source.encode(), executable=False)
        with engine.start(SessionSpec(image)) as session:
            return run_tests(
                GradingSession.prepare(task, session),
                Candidate({FILES[framework][1]: file}, (), {}),
            )

    return run


MARKS = {framework: () if framework == "unity" else pytest.mark.slow for framework in SOURCES}
"""Go and Rust compile for seconds."""
BY_SPEED = [pytest.param(framework, marks=MARKS[framework]) for framework in SOURCES]


@pytest.mark.engine
@pytest.mark.parametrize("framework", BY_SPEED)
def test_outcomes_are_those_of_the_tests_by_exact_id(run: Run, framework: str) -> None:
    report = run(framework, RIGHT[framework])
    file = FILES[framework][0]
    assert report.outcomes == {
        f"{file}::{name}": outcome for name, outcome in OUTCOMES[framework].items()
    }
    assert (report.problem, report.tampering) == ("", False)


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.parametrize("text", [".", "ok", "FAILED\\n", "\\ntest result: it goes on"])
@pytest.mark.parametrize(("answer", "outcome"), [("42", "passed"), ("41", "failed")])
def test_what_code_in_rust_prints_beside_does_not_hide_how_a_test_ended(
    run: Run, text: str, answer: str, outcome: str
) -> None:
    says = f'write!(std::io::stderr(), "{text}").unwrap();'
    source = f"use std::io::Write;\npub fn answer() -> i32 {{ {says} {answer} }}\n"
    report = run("cargo test", source)
    assert report.outcomes[ANSWER["cargo test"]] == outcome
    assert not report.tampering


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.parametrize("framework", SOURCES)
def test_a_wrong_answer_fails_and_says_why(run: Run, framework: str) -> None:
    report = run(framework, WRONG[framework])
    assert report.outcomes[ANSWER[framework]] == "failed"
    assert not report.tampering
    assert "41" in report.log


@pytest.mark.engine
@pytest.mark.parametrize("framework", BY_SPEED)
def test_what_does_not_compile_passes_nothing_and_the_log_has_the_error(
    run: Run, framework: str
) -> None:
    report = run(framework, RIGHT[framework].replace("42", "forty-two"))
    assert report.outcomes == {}
    assert not report.tampering
    assert "forty" in report.log


@pytest.mark.engine
@pytest.mark.sampled(every=4)
@pytest.mark.parametrize(
    ("framework", "name"),
    [
        pytest.param(framework, name, marks=MARKS[framework])
        for framework in ATTACKS
        for name in ATTACKS[framework]
    ],
)
def test_a_forged_pass_is_none(run: Run, framework: str, name: str) -> None:
    report = run(framework, ATTACKS[framework][name])
    assert report.outcomes.get(ANSWER[framework]) != "passed"
    assert report.outcomes or report.problem


@given(st.sampled_from(sorted(SOURCES)), st.integers())
def test_canaries_leave_the_rest_of_a_file_as_it_is(framework: str, seed: int) -> None:
    source, path = SOURCES[framework], FILES[framework][0]
    file = FRAMEWORKS[framework].with_canaries(path, source.encode(), random.Random(seed))
    assert len(file.canaries) == 3
    left = source.splitlines()
    for line in file.source.decode().splitlines():
        if left and line == left[0]:
            left.pop(0)
    assert left == []
    names = {canary.removeprefix(f"{path}::") for canary in file.canaries}
    begins = r"^(?:func|#\[test\]\nfn|static void) (\w+)\("
    begun = re.findall(begins, file.source.decode(), re.MULTILINE)
    assert names <= set(begun)


@pytest.mark.parametrize(
    ("framework", "names"),
    [
        ("go test", {"TestAnswer", "TestOthers", "TestSkipped", "TestPanics"}),
        ("cargo test", {"the_answer", "others"}),
        ("unity", {"the_answer", "others", "skipped", "crashes", "exits", "never"}),
    ],
)
def test_a_sabotaged_file_fails_at_the_beginning_of_its_tests(
    framework: str, names: set[str]
) -> None:
    source, path = SOURCES[framework], FILES[framework][0]
    file = FRAMEWORKS[framework].sabotaged(path, source.encode(), random.Random(1))
    assert file is not None
    assert file.canaries == {f"{path}::{name}" for name in names}
    assert "u.F" in file.source.decode() or "u.E" in file.source.decode() or framework != "go test"


@pytest.mark.parametrize(
    ("framework", "source"),
    [
        ("go test", b"package a\n\nfunc f() {\n"),
        ("cargo test", b"fn f() {"),
        ("go test", b"\xff"),
        ("unity", b"void f(void) {\n}\n"),
        ("unity", b"void f(void) {\n\nint main(void)\n{\n    RUN_TEST(f);\n}\n"),
        ("unity", b"int main(void)\n{\n    return 0;\n}\n"),
    ],
)
def test_a_file_that_cannot_be_read_is_told(framework: str, source: bytes) -> None:
    with pytest.raises(ValueError):
        FRAMEWORKS[framework].with_canaries("a", source, random.Random(0))


def test_a_file_of_examples_alone_gets_what_its_canaries_need() -> None:
    source = b"// About it.\npackage a_test\n\nfunc Example() {\n}\n"
    file = FRAMEWORKS["go test"].with_canaries("a_test.go", source, random.Random(0))
    assert file.source.startswith(b'// About it.\npackage a_test\n\nimport "testing"\n')
    assert FRAMEWORKS["go test"].sabotaged("a_test.go", source, random.Random(0)) is None


@pytest.mark.parametrize(
    ("framework", "path", "known"),
    [
        ("go test", "a/b_test.go", True),
        ("go test", "a/test_b.go", False),
        ("cargo test", "tests/a.rs", True),
        ("cargo test", "tests/a/main.rs", True),
        ("cargo test", "tests/a/util.rs", False),
        ("cargo test", "src/tests.rs", False),
        ("unity", "tests/a.c", True),
        ("unity", "tests/common.h", False),
    ],
)
def test_files_of_tests_are_those_that_the_tool_looks_for(
    framework: str, path: str, known: bool
) -> None:
    assert FRAMEWORKS[framework].is_test_file(path) is known
