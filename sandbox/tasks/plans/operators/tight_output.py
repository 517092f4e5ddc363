"""Tight output: hardly more may be shown than the shortest known way is shown."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from pydantic import RootModel

from sandbox.model import documents
from sandbox.model.desk import Desk
from sandbox.model.layer import LaidFile
from sandbox.model.plan import PlannedDeed
from sandbox.model.task import TaskFile
from sandbox.tasks.plans.operators import flood
from sandbox.tasks.plans.operators.base import Operator, Setting, UnfitError
from sandbox.tasks.plans.operators.desk_server import DATA
from sandbox.tasks.plans.operators.edits import bound_output, plan_of, tell, with_parts
from sandbox.tasks.plans.operators.wording import say

MULTIPLES = {1: 4.0, 2: 3.0, 3: 2.0, 4: 1.5, 5: 1.1}
"""By strength: how often what the oracle is shown would fit into the budget."""
ROUNDED = 1000

FIXED = 260
"""Bytes of an observation without what it tells."""
REPLY, FOUND, COMMAND, TOOL = 120, 700, 5000, 360
"""About how many a desk's answer has, a search, a command, and what is told of a tool."""
LINE = 60
"""Bytes of a line, where a part of a file is read."""
ESCAPED = 1.05
"""How much longer a text is as JSON."""


class Shown(RootModel[dict[str, int]]):
    """Bytes that the oracle of a task is shown in all, by task."""


@cache
def recorded() -> dict[str, int]:
    """Return what was recorded of the oracles' runs."""
    return documents.load(Path(__file__).with_name("shown.yaml"), Shown).root


def apply(file: TaskFile, setting: Setting) -> TaskFile:
    """Bound what is shown by a multiple of what the oracle is shown, and tell the bound."""
    least = estimated(file)
    most = -(-int(MULTIPLES[setting.strength] * least) // ROUNDED) * ROUNDED
    most = min(most, file.limits.output_bytes)
    sentence = (
        f"All that you are shown in this run may come to {most:,} bytes; then it is over, without"
        " an answer. The reply to each action says how many are left."
    )
    return bound_output(tell(_without_wider(file), sentence), most)


def _without_wider(file: TaskFile) -> TaskFile:
    """Take the wider bound out of the prompt that a flood has told."""
    told = say(flood.NAME, "bounded", most=f"{file.limits.output_bytes:,}")
    kept = (each for each in file.prompt.rstrip().split("\n\n") if each != told)
    return with_parts(file, prompt="\n\n".join(kept) + "\n")


def estimated(file: TaskFile) -> int:
    """Say about how many bytes the oracle is shown, operators included."""
    known = recorded().get(file.id)
    if known is None:
        raise UnfitError("nobody has recorded what its oracle is shown")
    return known + sum(_added(file))


def _added(file: TaskFile) -> Iterator[int]:
    """Give the bytes of what operators have added: what lies in the world's layer, or asks it."""
    laid = {each.path: each for each in file.world.layer.every_file}
    folders = {path.partition("/")[0] for path in laid} - {"docs"}
    servers = {server.name: server for server in file.world.layer.servers}
    tools = sum(len(Desk.model_validate_json(each.files[DATA]).tools) for each in servers.values())
    for deed in plan_of(file).deeds:
        given, command = deed.arguments, str(deed.arguments.get("command", ""))
        if deed.action == "discover_tools":
            yield TOOL * tools
        elif given.get("server") in servers:
            yield FIXED + REPLY
        elif given.get("path") in laid:
            laid_file = laid[str(given["path"])]
            yield FIXED + (_length(deed, laid_file) if deed.action == "read_file" else FOUND)
        elif any(f"{folder}/" in command or f"cd {folder}" in command for folder in folders):
            yield FIXED + COMMAND


def _length(deed: PlannedDeed, laid: LaidFile) -> int:
    lines = deed.arguments.get("line_limit")
    whole = int(ESCAPED * len(laid.text.encode()))
    return min(whole, LINE * lines) if isinstance(lines, int) else whole


OPERATOR = Operator(
    name="tight-output",
    reason="Who can look at little has to know where to look.",
    apply=apply,
)
