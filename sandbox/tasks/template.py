"""Task files that the product writes: a template in YAML whose places are filled in."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sandbox.model import yaml_tree

Filling = Mapping[str, str | int | list[str]]
"""By name, what stands for `{name}`; a value that is nothing but `{name}` may become a list or a
number."""


def filled(template: Path, filling: Filling) -> dict[str, Any]:
    """Read a template of ours and fill it in."""
    tree, problems = yaml_tree.compose(template.read_text())
    assert not problems, problems  # noqa: S101 - the file is ours
    found = _filled(tree.data(), filling)
    assert isinstance(found, dict)  # noqa: S101 - likewise
    return found


def _filled(value: object, filling: Filling) -> object:
    if isinstance(value, dict):
        return {key: _filled(each, filling) for key, each in value.items()}
    if isinstance(value, list):
        return [_filled(each, filling) for each in value]
    if not isinstance(value, str):
        return value
    if (whole := re.fullmatch(r"\{([a-z]+)\}", value)) is not None:
        return filling[whole[1]]
    return re.sub(r"\{([a-z]+)\}", lambda found: str(filling[found[1]]), value)
