"""Cases that show the defect have more inputs than a table of answers can hold."""

from dataclasses import replace
from pathlib import Path

from sandbox.model import documents
from sandbox.model.case import CaseFile
from sandbox.run.validate.case_inputs import inputs_row
from sandbox.tasks import library
from sandbox.tasks.library import LoadedTask

CASES = """
subjects:
  it: {kind: function, name: "module:call"}
cases:
  - id: few
    subject: it
    input: {arguments: [{draw: integer, minimum: 1, maximum: 50}]}
    expect: {value: 1}
  - id: many
    subject: it
    input: {arguments: [{draw: integer, minimum: 1, maximum: 1000000}]}
    expect: {value: 1}
  - id: finite
    subject: it
    finite: There are three.
    input: {arguments: [{draw: choice, of: [1, 2, 3]}]}
    expect: {value: 1}
"""


def loaded(*shown: str) -> LoadedTask:
    task = library.load("humanize/file-sizes")
    cases = documents.parse(CASES, Path("cases.yaml"), CaseFile)
    declared = task.task.tests.cases
    assert declared is not None
    declared = declared.model_copy(update={"fail_to_pass": shown, "pass_to_pass": ()})
    tests = task.task.tests.model_copy(update={"cases": declared})
    changed = task.task.model_copy(update={"tests": tests})
    return replace(task, task=changed, cases=cases)


def test_a_case_with_few_inputs_is_named() -> None:
    row = inputs_row(loaded("few", "many"))
    assert (row.status, row.result, row.notes) == ("bad", "1 of 2", ("few has 50 inputs",))


def test_a_case_that_says_why_it_is_finite_is_let_off() -> None:
    row = inputs_row(loaded("finite", "many"))
    assert (row.status, row.notes) == ("ok", ("finite has 3: There are three.",))
