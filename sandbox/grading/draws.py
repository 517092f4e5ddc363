"""Inputs of cases, drawn."""

import random
from collections.abc import Callable
from math import prod
from typing import Any

from sandbox.grading import script_values
from sandbox.model.draw import (
    Draw,
    DrawBoolean,
    DrawChoice,
    DrawConstant,
    DrawDictionary,
    DrawFloat,
    DrawInteger,
    DrawJoined,
    DrawList,
    DrawScript,
    DrawString,
    DrawText,
    DrawTuple,
    Input,
)

AS_RECORDED = 0.25
"""Of the scripts that are drawn, how many keep the values that they were written with."""

CONSTANTS = {"nan": float("nan"), "infinity": float("inf"), "-infinity": float("-inf")}


class Chance(random.Random):
    """Chance that deals what can be chosen in rounds, so that few draws leave nothing untried."""

    def __init__(self, seed: str) -> None:
        super().__init__(seed)
        self._left: dict[int, tuple[DrawChoice | DrawScript, list[Input]]] = {}

    def dealt(self, draw: DrawChoice | DrawScript) -> Input:
        """Give one of a draw's values: each comes once, in a drawn order, before one comes again.

        Two draws of the same values are two: their orders have nothing to do with each other.
        """
        _, left = self._left.setdefault(id(draw), (draw, []))
        if not left:
            left += self.sample(draw.of, len(draw.of))
        return left.pop()


def drawn(value: Input, chance: Chance) -> Any:  # noqa: ANN401 - any Python value
    """Give the Python value that an input stands for; the same for the same state of `chance`."""
    if isinstance(value, dict):
        return {key: drawn(each, chance) for key, each in value.items()}
    if isinstance(value, tuple):
        return [drawn(each, chance) for each in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return _drawn(value, chance)


def _drawn(draw: Draw, chance: Chance) -> Any:  # noqa: ANN401 - one for each kind
    match draw:
        case DrawInteger():
            return _integer(draw, chance)
        case DrawFloat():
            return chance.uniform(draw.minimum, draw.maximum)
        case DrawBoolean():
            return chance.random() < 0.5
        case DrawString():
            length = chance.randint(draw.minimum, draw.maximum)
            return "".join(chance.choices(draw.alphabet, k=length))
        case DrawChoice():
            return drawn(chance.dealt(draw), chance)
        case DrawList():
            return _repeated(draw, chance, lambda: drawn(draw.of, chance))
        case DrawDictionary():
            pairs = _repeated(
                draw, chance, lambda: (drawn(draw.keys, chance), drawn(draw.values, chance))
            )
            return dict(pairs)
        case DrawTuple():
            return tuple(drawn(each, chance) for each in draw.of)
        case DrawText():
            return str(drawn(draw.of, chance))
        case DrawJoined():
            return "".join(str(drawn(each, chance)) for each in draw.of)
        case DrawScript():
            lines = [str(line) for line in drawn(chance.dealt(draw), chance)]
            return lines if chance.random() < AS_RECORDED else script_values.varied(lines, chance)
        case DrawConstant():
            return CONSTANTS[draw.of] if isinstance(draw.of, str) else draw.of


def _integer(draw: DrawInteger, chance: Chance) -> int:
    if draw.spread == "even":
        return chance.randint(draw.minimum, draw.maximum)
    if draw.minimum < 0 < draw.maximum:
        sign = chance.choice((1, -1))
        least, most = 0, draw.maximum if sign > 0 else -draw.minimum
    else:
        sign = 1 if draw.maximum > 0 else -1
        least, most = sorted((abs(draw.minimum), abs(draw.maximum)))
    digits = chance.randint(len(str(least)), len(str(most)))
    low, high = max(least, 10 ** (digits - 1) if digits > 1 else 0), min(most, 10**digits - 1)
    return sign * chance.randint(low, high)


def _repeated(draw: DrawList | DrawDictionary, chance: Chance, one: Callable[[], Any]) -> list[Any]:
    return [one() for _ in range(chance.randint(draw.minimum, draw.maximum))]


def possible(value: Input) -> int:
    """Say how many values an input can become, at most: two ways to one value count twice."""
    match value:
        case dict():
            return prod(possible(each) for each in value.values())
        case tuple():
            return prod(possible(each) for each in value)
        case DrawInteger():
            return value.maximum - value.minimum + 1
        case DrawFloat():
            return 1 if value.minimum == value.maximum else 1 << 52
        case DrawBoolean():
            return 2
        case DrawString():
            return _lengths(len(set(value.alphabet)), value.minimum, value.maximum)
        case DrawChoice():
            return sum(possible(each) for each in value.of)
        case DrawList():
            return _lengths(possible(value.of), value.minimum, value.maximum)
        case DrawDictionary():
            each = possible(value.keys) * possible(value.values)
            return _lengths(each, value.minimum, value.maximum)
        case DrawTuple() | DrawJoined():
            return prod(possible(each) for each in value.of)
        case DrawText():
            return possible(value.of)
        case DrawScript():
            return sum(script_values.possible(lines) for lines in value.of)
    return 1


def _lengths(each: int, least: int, most: int) -> int:
    """Add up the values of all lengths, up to more than anybody asks for."""
    total = 0
    for length in range(least, most + 1):
        total += each**length
        if total > script_values.MANY or each <= 1:
            break
    return total
