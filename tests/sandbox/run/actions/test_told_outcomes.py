"""What runners tell of their own runs."""

import pytest

from sandbox.run.actions.told_outcomes import ToldOutcomes, outcomes_of, told_by


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<testsuite",
        b'<testsuite tests="x" failures="0" errors="0" skipped="0"/>',
        b'<testsuite tests="1"/>',
        b'<!DOCTYPE x [<!ENTITY a "b">]><testsuite tests="1" failures="0" errors="0" skipped="0"/>',
    ],
)
def test_what_is_no_report(content: bytes) -> None:
    assert outcomes_of(content) == ToldOutcomes()


@pytest.mark.parametrize(
    ("output", "counts"),
    [
        (b"1..3\n# tests 3\n# pass  3\n\n# ok\n", ToldOutcomes(3, 0, 0, 0)),
        (b"# tests 3\n# pass  2\n# fail  1\n", ToldOutcomes(2, 1, 0, 0)),
        (
            b"# tests 9\n# suites 0\n# pass 4\n# fail 2\n# cancelled 1\n# skipped 1\n# todo 1\n",
            ToldOutcomes(4, 2, 1, 2),
        ),
        ("\u2139 tests 1\n\u2139 pass 1\n\u2139 fail 0\n".encode(), ToldOutcomes(1, 0, 0, 0)),
        (b"# tests 1\n# pass  1\n# tests 2\n# pass  1\n# fail  1\n", ToldOutcomes(2, 1, 0, 0)),
        (b"Error: Cannot find module\n", ToldOutcomes()),
        (
            b"ok 1 a\nnot ok 2 b c\nnot ok 3 d # TODO\n# tests 3\n# pass  2\n# fail  1\n",
            ToldOutcomes(2, 1, 0, 0, ("b c",)),
        ),
        (
            "\u2716 adds (1.5ms)\n\u2139 tests 1\n\u2139 pass 0\n\u2139 fail 1\n".encode(),
            ToldOutcomes(0, 1, 0, 0, ("adds",)),
        ),
        (b"# pass  3\n", ToldOutcomes()),
        (b"# tests many\n", ToldOutcomes()),
    ],
)
def test_counts_are_those_that_tape_and_node_tell_at_their_end(
    output: bytes, counts: ToldOutcomes
) -> None:
    assert told_by(output, "tape") == counts


@pytest.mark.parametrize(
    ("framework", "output", "counts"),
    [
        ("go test", b"ok  \texample.org/a\t0.1s\n", ToldOutcomes()),
        (
            "go test",
            b"--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/x (0.00s)\nFAIL\n",
            ToldOutcomes(failing=("TestA",)),
        ),
        (
            "go test",
            (
                b"=== RUN   TestA\n--- PASS: TestA (0.00s)\n--- SKIP: TestB (0.00s)\n"
                b"--- FAIL: TestC (0.01s)\n"
            ),
            ToldOutcomes(1, 1, 0, 1, ("TestC",)),
        ),
        (
            "cargo test",
            (
                b"test a ... ok\ntest b::c ... FAILED\ntest d - should panic ... FAILED\n"
                b"test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out\n"
                b"test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out\n"
            ),
            ToldOutcomes(4, 2, 0, 1, ("b::c", "d")),
        ),
        ("cargo test", b"error: could not compile `a`\n", ToldOutcomes()),
        (
            "unity",
            (
                b"91% tests passed, 2 tests failed out of 22\n\nTotal Test time =   0.11 sec\n"
                b"\nThe following tests FAILED:\n"
                b"\t  5 - parse_string (Failed)\n\t 12 - b (SEGFAULT)\n"
            ),
            ToldOutcomes(20, 2, 0, 0, ("parse_string", "b")),
        ),
        ("unity", b"100% tests passed, 0 tests failed out of 1\n", ToldOutcomes(1, 0, 0, 0)),
        ("unity", b"cc: fatal error\n", ToldOutcomes()),
        (
            "unity",
            (
                b"== a.c\n3 Tests 0 Failures 0 Ignored \n== b.c\nSegmentation fault\n"
                b"sh: line 1:  7 Aborted                 ./c\n"
            ),
            ToldOutcomes(3, 0, 2, 0, crashed=2),
        ),
        (
            "unity",
            (
                b"== a.c\na.c:9:adds:PASS\n\n-----------------------\n"
                b"1 Tests 0 Failures 0 Ignored \nOK\n== b.c\n"
                b"/home/agent/c/tests/b.c:33:prints:FAIL: Expected 1 Was 2\nb.c:40:reads:IGNORE\n"
                b"b.c:50:other:PASS\n\n-----------------------\n"
                b"3 Tests 1 Failures 1 Ignored \nFAIL\n"
            ),
            ToldOutcomes(2, 1, 0, 1, ("b.c::prints",)),
        ),
        (
            "vitest",
            (
                b" \x1b[31m\xe2\x9d\xaf\x1b[39m tests/a.test.ts (7 tests | 1 failed) 38ms\n"
                b"   \xe2\x9c\x93 adds \xc3\x97 and more 5ms\n"
                b"   \xc3\x97 outer > bad one 25ms\n   \xc3\x97 frozen clock -30817432ms\n"
                b"     \xe2\x86\x92 expected 2 to deeply equal 3\n\n Test Files  1 failed (1)\n"
                b"      Tests  2 failed | 4 passed | 1 skipped | 1 todo (8)\n   Start at  07:36\n"
            ),
            ToldOutcomes(4, 2, 0, 2, ("outer > bad one", "frozen clock")),
        ),
        (
            "vitest",
            b" Test Files  4 passed (4)\n      Tests  246 passed (246)\n",
            ToldOutcomes(246, 0, 0, 0),
        ),
        ("vitest", b"No test files found, exiting with code 1\n", ToldOutcomes()),
    ],
)
def test_counts_are_those_that_other_runners_tell(
    framework: str, output: bytes, counts: ToldOutcomes
) -> None:
    assert told_by(output, framework) == counts
