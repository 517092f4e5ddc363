"""A chore: something that the user wants beside the ticket, in a folder of its own."""

import dataclasses
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from sandbox.model.final import FinalField
from sandbox.model.glob import Globs
from sandbox.model.layer import LaidFile
from sandbox.model.plan import PlannedDeed, Segment
from sandbox.model.rule import Precedes
from sandbox.model.statement import Statement
from sandbox.model.task import Held, TaskFile
from sandbox.tasks.plans.operators.answers import NOT_KNOWN, answering, not_known
from sandbox.tasks.plans.operators.commits import commit_too
from sandbox.tasks.plans.operators.edits import (
    add_variable,
    add_ways,
    add_wrong_end,
    ask_for,
    before_answer,
    more_room,
    plan_of,
    put_first,
    put_last,
    right_only,
    tell,
    with_parts,
)
from sandbox.tasks.plans.operators.wording import say
from sandbox.tasks.plans.operators.world_edits import commit

_WORDING = "chore"


@dataclass(frozen=True, slots=True)
class Chore:
    """What is wanted, how it is done, and how it may be done wrongly."""

    name: str
    """Of its segment; traps begin with it."""
    folder: str
    """In which all its files are."""
    says: str
    """What holds when it is done, in a few words."""
    asked: str
    """The paragraph of the prompt."""
    message: str
    """Of the commit that lays its files."""
    files: tuple[LaidFile, ...]
    does: tuple[PlannedDeed, ...]
    traps: Mapping[str, tuple[PlannedDeed, ...]]
    """By a word for it: what may be done in place of it."""
    field: str
    seal: str
    """What the answer's field is where all is right."""
    holds: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """What the files that are to be changed hold then, by path."""
    stated: str = ""
    """The words of the prompt by which they are."""
    follows: str = ""
    """How they follow from these."""
    taken: str = ""
    """What commits take: the folder, or some paths of it, where anything is changed."""
    last: bool = False
    """Whether it is done at the end, wherever it could be done first."""


def command(line: str, *changes: str) -> PlannedDeed:
    """Return a shell line that succeeds, with the paths that it changes."""
    return PlannedDeed(
        action="run_command",
        arguments={"command": line},
        result={"exit_code": 0},
        changes=changes,
    )


def add_chore(file: TaskFile, chore: Chore) -> TaskFile:
    """Have it be done before all else, or at the end where something has to come before it.

    Its files go into the commits of the task, where there are any.
    """
    asked = chore.asked
    if chore.holds and file.scope.git.commits == "required":
        asked = f"{asked} {say(_WORDING, 'committed')}"
    file = commit(tell(file, asked), chore.message, *chore.files)
    if chore.holds:
        file = commit_too(_changing(file, chore), chore.taken)
    file = more_room(file, len(chore.does))
    file = ask_for(file, chore.field, FinalField(type="string", expect=chore.seal))
    done = f"{chore.name}-done"
    segment = Segment(id=chore.name, to=done, says=chore.says, does=chore.does)
    if not chore.last and _may_come_first(file, chore.folder):
        start = f"{chore.name}-undone"
        file = put_first(file, segment, start=start, says=plan_of(file).says)
    else:
        # Who answers from elsewhere has not come by it.
        mark = chore.name.replace("-", "_")
        file = right_only(add_variable(file, mark, "no", "yes"), mark, "yes")
        start = before_answer(file)
        file = put_last(file, segment.model_copy(update={"sets": {mark: "yes"}}))
        file = not_known(file, chore.field, but=done)
    return _with_traps(file, chore, start)


def _changing(file: TaskFile, chore: Chore) -> TaskFile:
    """Have its files be among those that have to be changed."""
    held = tuple(
        Held(path=path, digest=hashlib.sha256(text.encode()).hexdigest())
        for path, text in chore.holds.items()
    )
    more = {"must": (*file.scope.must, *chore.holds), "holds": (*file.scope.holds, *held)}
    scope = file.scope.model_copy(update=more)
    stated = Statement(
        says=chore.stated,
        facts=tuple(f"must {path}" for path in chore.holds),
        follows=chore.follows,
    )
    return with_parts(file, scope=scope, statements=(*file.statements, stated))


def _with_traps(file: TaskFile, chore: Chore, start: str) -> TaskFile:
    """Add who does it wrongly, or not at all, and answers.

    They answer at once: what else they may do decides nothing any more, and would make the graph as
    large again for each chore.
    """
    wrong = f"{chore.name}-wrong"
    known = plan_of(file).segments[-1].does
    answer = tuple(deed.model_copy(update={"label": None}) for deed in known)
    way = {"from": start, "to": wrong, "ends": "answer"}
    file = add_wrong_end(file, wrong, "answered, with a chore left or done wrongly")
    left = answering(known, chore.field, NOT_KNOWN)
    return add_ways(
        file,
        {**way, "id": f"{chore.name}-left", "does": left},
        *(
            {**way, "id": f"{chore.name}-{trap}", "does": (*does, *answer)}
            for trap, does in chore.traps.items()
        ),
    )


def _may_come_first(file: TaskFile, folder: str) -> bool:
    """Whether no rule wants something to be done before a file of the folder is changed."""
    wanted = (rule.b.changed for rule in file.rules if isinstance(rule, Precedes))
    return not any(Globs(each).match(f"{folder}/any") for each in wanted)
