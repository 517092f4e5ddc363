"""Which clauses of a specification nobody would miss."""

from collections.abc import Callable
from typing import Any

from sandbox.tasks.features.clause import Clause
from sandbox.tasks.features.source import source
from sandbox.tasks.features.specification import FUNCTION, Specification
from sandbox.tasks.plans.drawing import Drawing

SAMPLES = 30
NOTICED = 8
"""In how many samples at least something else comes of an order where the clause is left out."""

Charge = Callable[[dict[str, Any], int], object]


def unnoticed(of: Specification) -> set[int]:
    """Give the keys of clauses without which too few of the orders that show them end otherwise."""
    scope: dict[str, Any] = {}
    exec(source(of, leaving_out=True), scope)  # noqa: S102 - our own text
    charge: Charge = scope[FUNCTION]
    return {each.key for each in of.clauses if not _noticed(of, each, charge)}


def _noticed(of: Specification, clause: Clause, charge: Charge) -> bool:
    drawing, draws = Drawing("sample", clause.says(of.numbers)), of.order(clause)
    differing = 0
    for _ in range(SAMPLES):
        order = {name: _sampled(draw, drawing) for name, draw in draws.items()}
        differing += _called(charge, order, 0) != _called(charge, order, of.numbers[clause.key])
    return differing >= NOTICED


def _called(charge: Charge, order: dict[str, Any], left_out: int) -> object:
    try:
        return charge(order, left_out)
    except ValueError:
        return None


def _sampled(draw: Any, drawing: Drawing) -> Any:  # noqa: ANN401 - any value
    """Draw a value in one of the ways that fields and conditions have."""
    if not isinstance(draw, dict):
        return draw
    match draw["draw"]:
        case "integer":
            return draw["minimum"] + drawing.below(draw["maximum"] - draw["minimum"] + 1)
        case "boolean":
            return drawing.below(2) == 0
        case "string":
            return drawing.text(draw["alphabet"], draw["minimum"])
        case "choice":
            return _sampled(drawing.choice(draw["of"]), drawing)
    return "".join(str(_sampled(each, drawing)) for each in draw["of"])
