"""Tight output: hardly more may be shown than the shortest known way is shown."""

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from pydantic import RootModel

from sandbox.model import documents
from sandbox.model.base import Record
from sandbox.model.desk import Desk, DeskTool
from sandbox.model.glob import Globs
from sandbox.model.layer import LaidFile
from sandbox.model.plan import PlannedDeed
from sandbox.model.task import TaskFile
from sandbox.tasks.plans.operators import final_check, flood
from sandbox.tasks.plans.operators.base import Operator, Setting, UnfitError
from sandbox.tasks.plans.operators.desk_server import DATA
from sandbox.tasks.plans.operators.edits import bound_output, plan_of, tell, with_parts
from sandbox.tasks.plans.operators.wording import say

MULTIPLES = {1: 4.0, 2: 3.0, 3: 2.0, 4: 1.5, 5: 1.1}
"""By strength: how often what the oracle is shown would fit into the budget."""
ROUNDED = 1000

TOLD, FIXED = 80, 220
"""Bytes of a desk's answer without its text, and of another observation without what it tells."""
TOOL, ARGUMENT = 90, 40
"""Bytes of what is told of a tool without its own words, and of each of its arguments."""
OWN = 500
"""About how many are told of a server that the task has without operators."""
LINE, LOOKED_THROUGH, DONE = 60, 3600, 300
"""About how many a line has, a look through all files of a folder, a command that prints little."""
FOUND, DIFFERENCE = 700, 330
"""About how many a search tells, and of a changed file the difference."""
ESCAPED = 1.05
"""How much longer a text is as JSON."""


class Shown(Record):
    """What the oracle of a task is shown, in bytes."""

    whole: int
    """All its observations."""
    tests: int
    """The last run of tests."""
    tools: int = 0
    """What `discover_tools` tells of its own servers, where its oracle asks for it once."""
    others: int = 0
    """All observations of that of the task's other oracles which is shown the most."""

    @property
    def most(self) -> int:
        """What may be needed: every one of the task's oracles has to come to its end."""
        return max(self.whole, self.others)


class Recorded(RootModel[dict[str, Shown]]):
    """By task."""


@cache
def recorded() -> dict[str, Shown]:
    """Return what was recorded of the oracles' runs."""
    return documents.load(Path(__file__).with_name("shown.yaml"), Recorded).root


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
    """Say about how many bytes an oracle is shown at most, operators included."""
    known = recorded().get(file.id)
    if known is None:
        raise UnfitError("nobody has recorded what its oracle is shown")
    return known.most - known.tools + sum(_added(file, known))


def _added(file: TaskFile, known: Shown) -> Iterator[int]:
    """Give the bytes of what operators have added: what lies in the world's layer, or asks it."""
    laid = {each.path: each for each in file.world.layer.every_file}
    folders = {path.partition("/")[0] for path in laid} - {"docs"}
    desks = {
        server.name: Desk.model_validate_json(server.files[DATA])
        for server in file.world.layer.servers
    }
    changed = sum(map(Globs(file.scope.must).match, laid))
    for deed in plan_of(file).deeds:
        given, command = deed.arguments, str(deed.arguments.get("command", ""))
        desk = desks.get(str(given.get("server")))
        if deed.label == final_check.NAME:
            yield known.tests
        elif deed.action == "discover_tools":
            tools = (tool for each in desks.values() for tool in each.tools)
            own = OWN * len(file.world.servers) if desks else 0
            yield (known.tools or own) + sum(map(_described, tools))
        elif desk is not None:
            yield TOLD + _answered(desk.tool(str(given["tool"])))
        elif given.get("path") in laid:
            laid_file = laid[str(given["path"])]
            yield FIXED + (_length(deed, laid_file) if deed.action == "read_file" else FOUND)
        elif "grep -r" in command and any(f"cd {folder}" in command for folder in folders):
            yield FIXED + LOOKED_THROUGH + sum(_printed(command, laid.values()))
        elif any(f"{folder}/" in command or f"cd {folder}" in command for folder in folders):
            yield DONE + sum(_printed(command, laid.values()))
        elif deed.action == "git_diff" or "git diff" in command:
            yield DIFFERENCE * changed


def _described(tool: DeskTool) -> int:
    told = (ARGUMENT + 2 * len(name) + len(about) for name, about in tool.arguments.items())
    return TOOL + len(tool.name) + len(tool.about) + sum(told)


def _answered(tool: DeskTool) -> int:
    return max(len(each.model_dump_json(include={"says", "structured"})) for each in tool.replies)


def _printed(command: str, laid: Iterable[LaidFile]) -> Iterator[int]:
    """Give the lengths of the files that a command prints."""
    words = set(command.split()) if "cat " in command else set()
    for each in laid:
        if each.path in words or (each.path.rpartition("/")[2] in words and "cd " in command):
            yield int(ESCAPED * len(each.text.encode()))


def _length(deed: PlannedDeed, laid: LaidFile) -> int:
    lines = deed.arguments.get("line_limit")
    whole = int(ESCAPED * len(laid.text.encode()))
    return min(whole, LINE * lines) if isinstance(lines, int) else whole


OPERATOR = Operator(
    name="tight-output",
    reason="Who can look at little has to know where to look.",
    apply=apply,
)
