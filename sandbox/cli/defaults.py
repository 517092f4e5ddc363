"""What `sandbox.toml` says of verbs: defaults of their options."""

import difflib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from sandbox.model.errors import DocumentError


def defaults(root: Any, told: Mapping[str, Any], path: Path) -> dict[str, Any]:  # noqa: ANN401
    """Give the defaults as `root`, a click command of typer's, takes them.

    DocumentError for an unknown verb or option.
    """
    found: dict[str, Any] = {}
    for name, table in told.items():
        command = root.commands.get(name)
        if command is None or not isinstance(table, dict):
            raise _unknown(path, f"options.{name}", "the table of a verb", name, root.commands)
        if hasattr(command, "commands"):
            found[name] = defaults(command, table, path)
            continue
        options = _options(command)
        for key in table:
            if key not in options:
                raise _unknown(path, f"options.{name}.{key}", f"an option of {name}", key, options)
        found[name] = {options[key]: value for key, value in table.items()}
    return found


def _options(command: Any) -> dict[str, str]:  # noqa: ANN401
    """Name the options of a command as a line spells them, with what click calls each."""
    return {
        spelling.lstrip("-"): each.name
        for each in command.params
        if each.param_type_name == "option"
        for spelling in each.opts
    }


def _unknown(path: Path, place: str, what: str, name: str, known: Iterable[str]) -> DocumentError:
    near = difflib.get_close_matches(name, known, 1)
    hint = f"Did you mean {near[0]}?" if near else "docs/settings.md lists what there is."
    return DocumentError(f"{path}: {place} is not {what}.", hint)
