"""Commit note: what a file asks of whoever changes it stands where its last change is told of."""

from pathlib import PurePosixPath

from pydantic import JsonValue

from sandbox.model.atom import Atom
from sandbox.model.desk import Desk, DeskTool, Reply
from sandbox.model.glob import is_plain
from sandbox.model.layer import LaidFile
from sandbox.model.plan import PlannedDeed, Segment
from sandbox.model.rule import Precedes
from sandbox.model.statement import HISTORY
from sandbox.model.task import TaskFile
from sandbox.tasks.plans.drawing import DIGITS
from sandbox.tasks.plans.operators import change_desk
from sandbox.tasks.plans.operators.base import Operator, Setting, UnfitError
from sandbox.tasks.plans.operators.desk_server import change_desk as with_desk
from sandbox.tasks.plans.operators.desk_server import serving, with_tool
from sandbox.tasks.plans.operators.edits import (
    add_rules,
    add_ways,
    changed_first,
    more_room,
    plan_of,
    put_first,
    tell,
)
from sandbox.tasks.plans.operators.wording import say
from sandbox.tasks.plans.operators.world_edits import AGENTS, commit_beneath, commit_words

NAME, TOOL, READ, UNREAD = "commit-note", "name_reader", "read-history", "reader-unknown"
PAGE = "docs/history.md"
_PROMPT, _AGENTS, _COMMENT, _UNNAMED = 1, 2, 3, 4
"""What points to the commit: the prompt, with the file; AGENTS.md; the last line of the file; a
page that nothing names. Above, nothing does. From that page on the first line of the message does
not tell that more is said.
"""
COMMENTS = {
    **dict.fromkeys((".py", ".pl", ".sh", ".rb"), "# {}"),
    **dict.fromkeys((".js", ".ts", ".go", ".rs", ".cpp"), "// {}"),
    **dict.fromkeys((".c", ".h"), "/* {} */"),
}
"""By a file's suffix: how a comment is written in it."""


def apply(file: TaskFile, setting: Setting) -> TaskFile:
    """Have the last commit of the file that has to be changed ask for something."""
    strength, draw = setting.strength, setting.draw
    path = _noted(file, strength)
    comment = _comment(path)
    reader = f"K-{draw.text(DIGITS, 4)}"
    line = say(NAME, "comment" if strength == _COMMENT else "bland", season=_season(setting))
    asks = say(NAME, "asks", path=path, reader=reader)
    subject = say(NAME, "subject-bland" if strength >= _UNNAMED else "subject", path=path)
    laid = LaidFile(
        path=path,
        text=f"\n{comment.format(line)}\n",
        append=True,
        beside_edits=path in file.scope.shared,
    )
    file = commit_beneath(file, f"{subject}\n\n{asks}", laid)
    file = _pointed(file, path, strength)
    file = with_desk(file, lambda desk: _reading(desk, reader))
    naming = change_desk.call(TOOL, {"reader": reader}, is_error=False)
    there = {**naming.arguments, "server": serving(file)}
    look: dict[str, JsonValue] = {"command": f"git log -1 --format=%B -- {path}"}
    begun = plan_of(file).start
    read = Segment(
        id=READ,
        to=begun,
        says="the reader of the file is named",
        does=(
            PlannedDeed(action="run_command", arguments=look, result={"exit_code": 0}),
            PlannedDeed(action="discover_tools"),
            naming.model_copy(update={"arguments": there}),
        ),
    )
    file = put_first(more_room(file, 3), read, start=UNREAD, says=plan_of(file).says)
    file = add_ways(file, {"id": "leave-history", "from": UNREAD, "to": begun})
    return add_rules(file, _rule(asks))


def _noted(file: TaskFile, strength: int) -> str:
    """Return the file that the note is about: where a task does not name it, the one to be changed.

    UnfitError where the prompt would name it then.
    """
    path = change_desk.worked_on(file)
    if is_plain(path):
        return path
    if strength == _PROMPT:
        raise UnfitError("its prompt does not tell which file is at fault")
    return changed_first(file)


def _comment(path: str) -> str:
    """Return how a comment is written in the file; UnfitError where a line cannot be added."""
    form = COMMENTS.get(PurePosixPath(path).suffix)
    if form is None:
        raise UnfitError(f"no comment can be put into {path}")
    return form


def _season(setting: Setting) -> str:
    return setting.draw.choice(say(NAME, "seasons").split())


def _pointed(file: TaskFile, path: str, strength: int) -> TaskFile:
    """Have something say that the commit is to be looked at."""
    if strength == _PROMPT:
        return tell(file, say(NAME, "prompt", path=path))
    if strength in (_AGENTS, _UNNAMED):
        where = AGENTS if strength == _AGENTS else PAGE
        rule = say(NAME, "rule")
        page = say(NAME, "page", rule=rule)
        return commit_words(file, say(NAME, "commit"), where, rule, page)
    return file


def _reading(desk: Desk, reader: str) -> Desk:
    tool = DeskTool(
        name=TOOL,
        about=say(NAME, "about"),
        arguments={"reader": say(NAME, "about-reader")},
        replies=(
            Reply(where={"reader": reader}, says=say(NAME, "named", reader=reader)),
            Reply(error=True, says=say(NAME, "unknown")),
        ),
    )
    return with_tool(desk, tool)


def _rule(asks: str) -> Precedes:
    return Precedes(
        id="reader-named",
        template="precedes",
        a=change_desk.called(TOOL),
        b=Atom(action="final_answer"),
        reason="Why a line is as it is, and what it takes to change it, its history tells.",
        stated_in=HISTORY,
        says=asks,
    )


OPERATOR = Operator(
    name=NAME,
    reason="Who changes what others have written first finds out what they have said of it.",
    apply=apply,
    draws=True,
    needs=(change_desk.NAME,),
)
