"""The words of operators: files of templates, one for each operator that has much to say."""

from functools import cache
from pathlib import Path
from string import Template

from pydantic import RootModel

from sandbox.model import documents


class Words(RootModel[dict[str, str]]):
    """Templates by name; `$word` stands for a value."""


def say(operator: str, name: str, /, **values: object) -> str:
    """Fill in a template of an operator; KeyError where it wants a value that is not given."""
    return Template(_words(operator).root[name]).substitute(values).strip()


@cache
def _words(operator: str) -> Words:
    return documents.load(Path(__file__).with_name(f"{operator}.yaml"), Words)
