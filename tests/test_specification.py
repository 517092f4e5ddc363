"""Each promise of SPECIFICATION.md can be read aloud, and names tests that exist."""

import ast
import re
from pathlib import Path

import yaml

from tests import ROOT

TEXT = (ROOT / "SPECIFICATION.md").read_text(encoding="utf-8")
PROMISES = re.findall(r"^- \*\*([A-Z]\d+)\*\* (.*)$", TEXT, re.MULTILINE)
TABLE: dict[str, dict[str, list[str]]] = yaml.safe_load(
    (ROOT / "tests" / "promises.yaml").read_text(encoding="utf-8")
)
_ABBREVIATION = re.compile(r"`[^`]*`|\be\.g\.|\bi\.e\.")


def test_each_promise_has_one_number_and_a_row_in_the_table() -> None:
    numbers = [number for number, _ in PROMISES]
    assert len(numbers) == len(set(numbers)) > 100
    assert set(numbers) == set(TABLE)


def test_a_promise_is_at_most_two_sentences() -> None:
    for number, promise in PROMISES:
        ends = re.findall(r"[.?!](?=\s|$)", _ABBREVIATION.sub("", promise))
        assert 1 <= len(ends) <= 2, number
        assert "::" not in promise, f"{number}: tests stand in tests/promises.yaml"


LATE = ("clients", "slow", "thorough")
"""Marks of what `make test` leaves out."""

ELSEWHERE = {"F5", "J2"}
"""Promises about real clients and registries, which `make test` cannot have."""


def in_make_test(file: str) -> set[str]:
    """Names of the tests and classes of a file that `make test` runs."""
    tree = ast.parse((ROOT / "tests" / file).read_text(encoding="utf-8"))
    assigned = [ast.unparse(each) for each in tree.body if isinstance(each, ast.Assign)]
    marks = "".join(each for each in assigned if each.startswith("pytestmark ="))
    if any(f"pytest.mark.{late}" in marks for late in LATE):
        return set()
    return {
        each.name
        for each in ast.walk(tree)
        if isinstance(each, ast.FunctionDef | ast.ClassDef)
        and not any(late in ast.unparse(mark) for mark in each.decorator_list for late in LATE)
    }


def test_each_promise_has_a_test_in_make_test() -> None:
    without = {
        number
        for number, files in TABLE.items()
        if not any(in_make_test(file) & set(names) for file, names in files.items())
    }
    assert without == ELSEWHERE


def test_the_tests_of_each_promise_exist() -> None:
    texts: dict[str, str] = {}
    for number, files in TABLE.items():
        assert files, f"{number} names no test"
        for file, names in files.items():
            path: Path = ROOT / "tests" / file
            text = texts.setdefault(file, path.read_text(encoding="utf-8"))
            for name in names:
                found = re.search(rf"^\s*(def|class) {name}\b", text, re.MULTILINE)
                assert found, f"{number}: {file}::{name}"
