"""The change desk of a variant's world: where it lies in a task file, and edits of it."""

from collections.abc import Callable

from sandbox.model.desk import Desk, DeskTool, Reply
from sandbox.model.layer import LaidServer
from sandbox.model.task import TaskFile
from sandbox.tasks.plans.operators.edits import plan_of
from sandbox.tasks.plans.operators.programs import program
from sandbox.tasks.plans.operators.world_edits import with_layer

SERVER, DATA, PROGRAM = "change-desk", "desk.json", "desk.pl"
OPENING = "open-change"
"""The label of the call that opens the entry."""


def served(name: str, about: str, desk: Desk) -> LaidServer:
    """Return a server that answers as a desk does."""
    return LaidServer(
        name=name,
        about=about,
        command=("/usr/bin/perl", PROGRAM, DATA),
        remembers=True,
        files={
            PROGRAM: program(PROGRAM),
            DATA: desk.model_dump_json(indent=1, exclude_none=True) + "\n",
        },
    )


def add_server(file: TaskFile, server: LaidServer) -> TaskFile:
    """Add a server to the world's layer."""
    return with_layer(file, servers=(*file.world.layer.servers, server))


def serving(file: TaskFile) -> str:
    """Return the server at which entries are opened, by its name."""
    opened = (deed for deed in plan_of(file).deeds if deed.label == OPENING)
    return str(next(opened).arguments["server"])


def desk_of(file: TaskFile) -> Desk:
    """Return the desk at which entries are opened, as it is until now."""
    name = serving(file)
    (server,) = (each for each in file.world.layer.servers if each.name == name)
    return Desk.model_validate_json(server.files[DATA])


def change_desk(file: TaskFile, change: Callable[[Desk], Desk]) -> TaskFile:
    """Have that desk answer otherwise."""
    name, made = serving(file), change(desk_of(file))
    servers = (
        served(name, each.about, made) if each.name == name else each
        for each in file.world.layer.servers
    )
    return with_layer(file, servers=tuple(servers))


def with_tool(desk: Desk, tool: DeskTool) -> Desk:
    """Add a tool, or put it in the place of the one that has its name."""
    others = (each for each in desk.tools if each.name != tool.name)
    return Desk(tools=tuple(sorted((*others, tool), key=lambda each: each.name)))


def with_replies(desk: Desk, name: str, *replies: Reply) -> Desk:
    """Put replies of a tool before those that it has."""
    tool = desk.tool(name)
    return with_tool(desk, tool.model_copy(update={"replies": (*replies, *tool.replies)}))
