from pathlib import Path

import pytest

from sandbox.model import documents
from sandbox.model.case import CaseFile
from sandbox.model.errors import DocumentError

FILE = """
subjects:
  size: {kind: function, name: "humanize:naturalsize"}
  tool: {kind: command, argv: [tool]}
cases:
  - id: drawn
    subject: size
    times: 3
    input: {arguments: [{draw: integer, minimum: 1, maximum: 2}]}
    expect: {reference: naturalsize}
    table:
      - {input: {arguments: [1]}, expect: {value: 1 Byte}}
  - {id: listed, subject: tool, table: [{expect: {value: {exit_code: 0}}}]}
"""


def read(text: str) -> CaseFile:
    return documents.parse(text, Path("cases.yaml"), CaseFile)


def test_a_case_makes_the_calls_of_its_table_and_the_drawn_ones() -> None:
    drawn, listed = read(FILE).cases
    assert (len(drawn.rows), len(listed.rows)) == (4, 1)
    assert drawn.rows[0].expect.value == "1 Byte"


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("subject: tool", "subject: tol", "listed: tol is not one of the subjects"),
        ("id: listed", "id: drawn", "two cases have the same id"),
        ("{arguments: [1]}", "{args: [1]}", "a function takes arguments, keywords, not args"),
        ("{value: {exit_code: 0}}", "{raises: {type: OSError}}", "only a function raises"),
        ("expect: {reference: naturalsize}", "", "`input` and `times` go with `expect`"),
        ("{value: 1 Byte}", "{}", "exactly one of value, reference, raises and undamaged"),
        ("{value: 1 Byte}", "{value: 1, reference: a}", "exactly one of"),
        ("{value: 1 Byte}", "{undamaged: true}", "`undamaged` is for scripts"),
        ("integer, minimum: 1, maximum: 2", "script, of: [['a:f(']]", "'a:f\\(' is not an expr"),
        (
            "{value: 1 Byte}",
            "{raises: {type: A, message: '('}}",
            "is not a valid regular expression",
        ),
        ("minimum: 1,", "minimun: 1,", "did you mean minimum"),
        ("humanize:naturalsize", "humanize.naturalsize", "pattern"),
        ("kind: command", "kind: shell", "kind"),
        ("times: 3", "times: 0", "greater than or equal to 1"),
    ],
)
def test_what_makes_no_sense_is_refused(old: str, new: str, problem: str) -> None:
    with pytest.raises(DocumentError, match=problem):
        read(FILE.replace(old, new))
