"""Task files that the product writes: a template in YAML whose places are filled in."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sandbox.model import yaml_tree

PLACE = re.compile(r"\{([a-z]+)\}")
Filling = Mapping[str, str | int | list[str] | list[dict[str, str]]]
"""By name, what stands for `{name}`; a value that is nothing but `{name}` may become a list or a
number."""


def read(template: Path) -> dict[str, Any]:
    """Read a template of ours as it stands."""
    tree, problems = yaml_tree.compose(template.read_text())
    assert not problems, problems  # noqa: S101 - the file is ours
    found = tree.data()
    assert isinstance(found, dict)  # noqa: S101 - likewise
    return found


def filled(template: dict[str, Any], filling: Filling) -> dict[str, Any]:
    """Fill a template in."""
    return {key: _filled(each, filling) for key, each in template.items()}


def filled_text(text: str, filling: Filling) -> str:
    """Fill in what a text has places for; braces around anything else stay."""
    return PLACE.sub(lambda found: str(filling.get(found[1], found[0])), text)


def _filled(value: object, filling: Filling) -> object:
    if isinstance(value, dict):
        return {key: _filled(each, filling) for key, each in value.items()}
    if isinstance(value, list):
        return [_filled(each, filling) for each in value]
    if not isinstance(value, str):
        return value
    if (whole := PLACE.fullmatch(value)) is not None:
        return filling[whole[1]]
    return PLACE.sub(lambda found: str(filling[found[1]]), value)
