"""Options in groups: a verb takes a dataclass, the command line has an option for each field."""

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints


def grouped(verb: Callable[..., None]) -> Callable[..., None]:
    """Spread the parameters of a verb that are dataclasses into options of their own.

    The fields are annotated as typer's parameters are. One without a default is required.
    """
    hints = get_type_hints(verb, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    parameters = []
    for parameter in inspect.signature(verb).parameters.values():
        if parameter.name in groups:
            parameters += _options(groups[parameter.name])
        else:
            annotated = parameter.replace(annotation=hints[parameter.name])
            parameters.append(annotated)

    @wraps(verb)
    def spread(**options: object) -> None:
        made = {
            name: kind(**{field.name: options.pop(field.name) for field in fields(kind)})
            for name, kind in groups.items()
        }
        verb(**options, **made)

    # What typer looks at.
    spread.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    spread.__annotations__ = {each.name: each.annotation for each in parameters}
    return spread


def _options(group: Any) -> list[inspect.Parameter]:  # noqa: ANN401 - any dataclass
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(group)
    ]
