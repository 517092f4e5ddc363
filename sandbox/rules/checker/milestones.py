"""Whether graph and task mean the same by a milestone."""

from collections.abc import Iterator, Sequence

from sandbox.model.atom import Milestone
from sandbox.rules.checker.findings import Finding
from sandbox.rules.checker.world import World
from sandbox.rules.monitors.atoms import matcher
from sandbox.rules.monitors.context import Context


def disagreements(
    world: World, milestones: Sequence[Milestone], context: Context
) -> Iterator[Finding]:
    """Yield each edge that reaches something else than it says; traps may claim what they like.

    Nothing is to be compared where the task declares no milestones.
    """
    if not milestones:
        return
    declared = {milestone.id for milestone in milestones}
    for name in world.graph.milestones:
        if name not in declared:
            yield _finding(
                f"The graph has the milestone {name}, and the task has no milestone of that name."
            )
    for milestone in milestones:
        if milestone.id not in world.graph.milestones:
            yield _finding(f"No edge of the graph reaches the milestone {milestone.id}.")
        reached = matcher(milestone.reached, context)
        for move in world.moves:
            says = move.edge.milestone == milestone.id
            does = any(reached(step) for step in move.steps)
            if move.edge.kind != "trap" and says and not does:
                yield _finding(
                    f"The edge {move.edge.id} does not reach {milestone.id}, as it says."
                )


def _finding(message: str) -> Finding:
    return Finding(kind="milestone", message=message)
