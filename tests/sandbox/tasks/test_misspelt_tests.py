"""Ids of tests in JavaScript, of which a text has the names in quotes."""

import pytest

from sandbox.tasks import misspelt_tests

TEXT = """
test('alias', t => {});
test("isBuffer()", t => {});
for (const n of [1, 2]) { test('number ' + n, t => {}); test(`part ${n}: ` + n, t => {}); }
describe('outer', () => { it('is kept as it was', () => {}); });
"""


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("alis", "alias"),
        ("isBufer()", "isBuffer()"),
        ("isBuffer()x", "isBuffer()"),
        ("outer > is kept as it wass", "is kept as it was"),
        ("alias", None),
        ("alias #2", None),
        ("number 1", None),
        ("number 12", None),
        ("something else", None),
    ],
)
def test_a_slip_is_told_and_what_is_put_together_is_not(name: str, near: str | None) -> None:
    found = list(misspelt_tests.problems([f"test/a.js::{name}"], {"test/a.js": TEXT}))
    assert found == [] if near is None else f"did you mean {near!r}?" in found[0]
