"""The page of the operators: a row and a section for each, with its reason, in their order."""

import re

from sandbox.tasks.plans.operators import OPERATORS
from tests import ROOT

PAGE = (ROOT / "docs/operators.md").read_text()


def test_every_operator_has_a_section_with_its_reason_and_what_was_before() -> None:
    sections = re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]
    assert [text.split("\n", 1)[0] for text in sections] == [each.name for each in OPERATORS]
    for operator, text in zip(OPERATORS, sections, strict=True):
        assert f"**Reason.** {operator.reason}\n" in text
        assert "\nBefore: " in text
        assert "\nAfter: " in text


def test_the_table_says_what_each_needs_and_excludes() -> None:
    row = r"^\| `([a-z-]+)` \|([^|]*)\|[^|]*\|([^|]*)\|([^|]*)\|$"
    rows = re.findall(row, PAGE, re.MULTILINE)
    assert [name for name, *_ in rows] == [each.name for each in OPERATORS]
    for operator, (_, strengths, needs, excludes) in zip(OPERATORS, rows, strict=True):
        first, last = operator.strengths[0], operator.strengths[-1]
        assert strengths.strip() == (f"{first} to {last}" if last > first else "")
        # What is needed may need something itself, which the row need not repeat.
        assert set(re.findall(r"`([a-z-]+)`", needs)) <= set(operator.needs)
        assert bool(needs.strip()) == bool(operator.needs)
        assert re.findall(r"`([a-z-]+)`", excludes) == list(operator.excludes)
