"""Brief: the prompt says what is wanted and where all else stands, and no more."""

from sandbox.model.layer import LaidFile
from sandbox.model.plan import PlannedDeed, Segment
from sandbox.model.task import TaskFile
from sandbox.tasks.plans.operators import flood
from sandbox.tasks.plans.operators.base import Operator, Setting, UnfitError
from sandbox.tasks.plans.operators.edits import put_first, with_parts
from sandbox.tasks.plans.operators.moved_words import restated
from sandbox.tasks.plans.operators.wording import say
from sandbox.tasks.plans.operators.world_edits import commit

NAME, PAGE = "brief", "docs/brief.md"


def apply(file: TaskFile, _: Setting) -> TaskFile:
    """Move all but the goal, the fields and a bound on what is shown into a page."""
    goal, *paragraphs = file.prompt.strip().split("\n\n")
    bound = say(flood.NAME, "bounded", most=f"{file.limits.output_bytes:,}")
    moved = [each for each in paragraphs if each != bound]
    if not moved:
        raise UnfitError("its prompt says nothing that could stand elsewhere")
    fields = ", ".join(f"`{name}` ({field.type})" for name, field in file.final.items())
    kept = [each for each in paragraphs if each == bound]
    prompt = [goal, say(NAME, "prompt", page=PAGE), say(NAME, "fields", fields=fields), *kept]
    said = "\n\n".join(moved)
    file = with_parts(file, prompt="\n\n".join(prompt) + "\n")
    file = restated(file, {said: PAGE})
    laid = LaidFile(path=PAGE, text=f"{say(NAME, 'heading')}\n\n{said}\n")
    read = PlannedDeed(action="read_file", arguments={"path": PAGE})
    first = Segment(id="read-brief", to=NAME, says="the brief is read", does=(read,))
    file = put_first(file, first, start="unread", says="the brief is not read yet")
    return commit(file, say(NAME, "commit"), laid)


OPERATOR = Operator(
    name=NAME,
    reason="What is wanted is mostly written down where the work is, and asked for in a line.",
    strengths=range(1, 2),
    usual=1,
    apply=apply,
)
