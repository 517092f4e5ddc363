"""Account: the answer says what was done, and the facts of the run say whether that is true."""

from sandbox.model.atom import Atom, Predicate
from sandbox.model.final import Computed, FinalField
from sandbox.model.task import TaskFile
from sandbox.tasks.plans.operators.base import Operator, Setting
from sandbox.tasks.plans.operators.edits import ask_for, tell
from sandbox.tasks.plans.operators.wording import say

NAME = "account"
FIELDS = {
    "test_runs": Atom(action="run_tests", status="ok"),
    "patches": Atom(action="apply_patch", status="ok"),
    "commands": Atom(action="run_command", status="ok"),
    "errors": Atom(status="error"),
    "failed_commands": Atom(
        action="run_command", status="ok", where={"result.exit_code": Predicate(more_than=0)}
    ),
    "files_read": Atom(action="read_file", status="ok"),
}
"""What is counted, by the field that says how often it was done."""
ASKED = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6}
"""By strength: how many of them are asked for."""


def apply(file: TaskFile, setting: Setting) -> TaskFile:
    """Ask how often some things were done in the run that ends with the answer."""
    asked = list(FIELDS)[: ASKED[setting.strength]]
    told = "\n".join(say(NAME, name.replace("_", "-")) for name in asked)
    file = tell(file, f"{say(NAME, 'prompt')}\n{told}")
    for name in asked:
        field = FinalField(type="integer", computed=Computed(count=FIELDS[name]))
        file = ask_for(file, name, field)
    return file


OPERATOR = Operator(
    name=NAME,
    reason="Who reports more or less than was done is believed once.",
    apply=apply,
)
