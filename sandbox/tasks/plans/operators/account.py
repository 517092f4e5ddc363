"""Account: the answer says what was done, and the facts of the run say whether that is true."""

from sandbox.model.atom import Atom
from sandbox.model.final import Computed, FinalField, Listed
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
}
"""What is counted, by the field that says how often it was done."""
LISTS = {
    "test_exit_codes": Listed(step=Atom(action="run_tests", status="ok"), field="result.exit_code"),
    "read_in_order": Listed(step=Atom(action="read_file", status="ok"), field="arguments.path"),
}
"""What is named one by one, in the order in which it was done."""
ASKED = {1: (1, 0), 2: (2, 0), 3: (3, 0), 4: (3, 1), 5: (4, 2)}
"""By strength: how many counts are asked for, and how many lists."""


def apply(file: TaskFile, setting: Setting) -> TaskFile:
    """Ask what was done in the run that ends with the answer, how often and in which order."""
    counts, lists = ASKED[setting.strength]
    asked = {
        **{name: Computed(count=FIELDS[name]) for name in list(FIELDS)[:counts]},
        **{name: Computed(listed=LISTS[name]) for name in list(LISTS)[:lists]},
    }
    told = "\n".join(say(NAME, name.replace("_", "-")) for name in asked)
    file = tell(file, f"{say(NAME, 'prompt')}\n{told}")
    for name, computed in asked.items():
        file = ask_for(file, name, FinalField(type=computed.type, computed=computed))
    return file


OPERATOR = Operator(
    name=NAME,
    reason="Who reports more or less than was done is believed once.",
    apply=apply,
)
