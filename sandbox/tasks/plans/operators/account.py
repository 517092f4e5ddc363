"""Account: the answer says what was done, and the facts of the run say whether that is true."""

import re

from pydantic import JsonValue

from sandbox.model.atom import Atom
from sandbox.model.final import Computed, FinalField, Listed, by_facts, left_to_facts
from sandbox.model.plan import PlannedDeed, Segment
from sandbox.model.statement import Statement
from sandbox.model.task import TaskFile
from sandbox.tasks.plans import compiler
from sandbox.tasks.plans.operators import change_desk, queue
from sandbox.tasks.plans.operators.base import Operator, Setting, UnfitError
from sandbox.tasks.plans.operators.commits import CARRYING, commit_too, committing, writing_too
from sandbox.tasks.plans.operators.edits import (
    add_variable,
    add_ways,
    ask_for,
    changed_first,
    map_actions,
    plan_of,
    right_only,
    scripts,
    tell,
    with_parts,
)
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
CODES_USED, _EACH_UNIT = "settled_codes", 4
"""What names the units of a queue one by one, where there is one, and from which strength on."""
DIGEST, _DIGESTED = "digest", 5
"""What says how the file stands that the work changes first, and from which strength on."""
ASKED = {1: (1, 0), 2: (2, 0), 3: (3, 0), 4: (3, 1), 5: (4, 2)}
"""By strength: how many counts are asked for, and how many lists."""
RUNS, CODES = "Tests-Run", "Exit-Codes"
TRAILERS = {RUNS: Computed(count=FIELDS["test_runs"])}
REPORT, LINES = "account.txt", {CODES: Computed(listed=LISTS["test_exit_codes"])}
"""What the message of each commit, and a file in it, say of the run until then."""
_TRAILER, _REPORT = 3, 5
"""The strengths from which on they are asked for, where the work is committed."""
UNTRUE = "9999"
CLAIMED = "claimed"
"""The plan's variable that says whether what a commit says is true."""

_MESSAGE = re.compile(
    r"""git commit\b(?:(?! -- |&&|;| -m).)* -\w*m (?P<quote>["'])(?:(?!(?P=quote)).)*(?P=quote)""",
    re.DOTALL,
)
"""Of a line that commits: from `git commit` to the end of its message's first paragraph."""
_FROM_FILE = re.compile(r"git commit\b(?:(?! -- |&&|;).)* -F (?P<file>\S+)")
_COMMITS = re.compile(r"\bgit commit(?![\w-])")


def apply(file: TaskFile, setting: Setting) -> TaskFile:
    """Ask what was done in the run that ends with the answer, how often and in which order."""
    counts, lists = ASKED[setting.strength]
    asked = {
        **{name: Computed(count=FIELDS[name]) for name in list(FIELDS)[:counts]},
        **{name: Computed(listed=LISTS[name]) for name in list(LISTS)[:lists]},
    }
    if setting.strength >= _EACH_UNIT and _works_off_a_queue(file):
        settled = Listed(step=change_desk.called(queue.SETTLE), field="arguments.arguments.code")
        asked[CODES_USED] = Computed(listed=settled)
    lines = [say(NAME, name.replace("_", "-")) for name in asked]
    if setting.strength >= _DIGESTED:
        path = changed_first(file)
        held = Listed(step=Atom(changes=path), field="arguments.digest")
        asked[DIGEST] = Computed(last=held)
        lines.append(say(NAME, DIGEST, path=path))
    told = "\n".join(lines)
    file = tell(file, f"{say(NAME, 'prompt')}\n{told}")
    for name, computed in asked.items():
        file = ask_for(file, name, FinalField(type=computed.type, computed=computed))
    if setting.strength < _TRAILER or not [*committing(plan_of(file))]:
        return file
    return _committed(file, reported=setting.strength >= _REPORT)


def _works_off_a_queue(file: TaskFile) -> bool:
    return any(deed.arguments.get("tool") == queue.SETTLE for deed in plan_of(file).deeds)


def _committed(file: TaskFile, *, reported: bool) -> TaskFile:
    """Have each commit say what was done before it, in its message and in a file."""
    file = with_parts(_asking(file, say(NAME, "commits"), f"trailer {RUNS}"), trailers=TRAILERS)
    file = map_actions(file, _telling)
    if not _all_tell(file):
        raise UnfitError("a known way commits with a message to which no line can be added")
    if reported:
        file = _with_report(file)
    file = right_only(add_variable(file, CLAIMED, "truly", "untruly"), CLAIMED, "truly")
    return add_ways(file, *(_untrue(*place) for place in committing(plan_of(file))))


def _asking(file: TaskFile, sentence: str, *facts: str) -> TaskFile:
    stated = Statement(says=sentence, facts=facts)
    return with_parts(tell(file, sentence), statements=(*file.statements, stated))


def _telling(action: str, arguments: dict[str, JsonValue]) -> dict[str, JsonValue]:
    line = arguments.get("command")
    if action not in CARRYING or not isinstance(line, str):
        return arguments
    told = f"{RUNS}: {left_to_facts(RUNS)}"
    line = _MESSAGE.sub(lambda found: f'{found[0]} -m "{told}"', line)
    line = _FROM_FILE.sub(lambda found: f"sed -i '$i {told}' {found['file']} && {found[0]}", line)
    return {**arguments, "command": line}


def _all_tell(file: TaskFile) -> bool:
    """Whether each known way says it in each commit."""
    ways = (compiler.oracle(plan_of(file)), *scripts(file).values())
    lines = [each.arguments.get("command") for way in ways for each in way]
    return all(
        left_to_facts(RUNS) in line
        for line in lines
        if isinstance(line, str) and _COMMITS.search(line)
    )


def _with_report(file: TaskFile) -> TaskFile:
    scope = file.scope.model_copy(update={"must": (*file.scope.must, REPORT)})
    asked = say(NAME, "report", path=REPORT)
    file = _asking(file, asked, f"must {REPORT}", f"report {REPORT} {CODES}")
    file = with_parts(file, scope=scope, reports={REPORT: LINES})
    write = f"echo '{CODES}: {left_to_facts(CODES)}' >> {REPORT}"
    return writing_too(commit_too(file, REPORT, write), REPORT, f">> {REPORT}")


def _untrue(origin: str, segment: Segment) -> dict[str, object]:
    """Give who says of tests in a commit what was not so."""
    shared = ("to", "when", "milestone")
    return {
        **{name: getattr(segment, name) for name in shared},
        "id": f"{segment.id}-untruly",
        "from": origin,
        "sets": {**segment.sets, CLAIMED: "untruly"},
        "does": tuple(map(_wrongly, segment.does)),
    }


def _wrongly(deed: PlannedDeed) -> PlannedDeed:
    arguments, line = deed.arguments, deed.arguments.get("command")
    if isinstance(line, str) and deed.action in CARRYING:
        said = by_facts(line, dict.fromkeys((RUNS, CODES), UNTRUE))
        arguments = {**arguments, "command": said}
    return deed.model_copy(update={"label": None, "arguments": arguments})


OPERATOR = Operator(
    name=NAME,
    reason="Who reports more or less than was done is believed once.",
    apply=apply,
)
