"""Other names for what a project calls its own: in code, documents, messages, and paths."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self, TypeVar

from pydantic import Field, model_validator

from sandbox.model.base import Record

WORD = re.compile(rb"(?<![A-Za-z0-9_])[A-Za-z_][A-Za-z0-9_]*")
LEGAL = re.compile(r"(?:^|/)(?:licen[cs]e|copying|copyright|notice|authors)[^/]*$", re.IGNORECASE)
"""Files that say whose work it is, and on which terms: they stay as upstream wrote them."""


AnyRecord = TypeVar("AnyRecord", bound=Record)


class NewNames(Record):
    """A repository under other names: `task_repos/<repo>/estranged/<new name>.yaml`."""

    words: dict[str, str] = Field(min_length=1)
    """What stands for each whole word."""

    @model_validator(mode="after")
    def _lead_back(self) -> Self:
        twice = Counter(self.words.values())
        if wrong := [new for new, count in twice.items() if count > 1 or new in self.words]:
            raise ValueError(
                f"{wrong[0]!r} stands for two words, or is one that another stands for"
            )
        return self


@dataclass(frozen=True)
class Renaming:
    """Puts words in the place of others, wherever they stand as a whole."""

    words: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def _bytes(self) -> dict[bytes, bytes]:
        return {old.encode(): new.encode() for old, new in self.words.items()}

    def data(self, path: str, data: bytes) -> bytes:
        """Rename in a file of upstream's; what is not text stays, and what its licence needs."""
        if not self.words or b"\0" in data or LEGAL.search(path):
            return data
        return self._renamed(data)

    def text(self, text: str) -> str:
        """Rename in a text, or in a path."""
        return self._renamed(text.encode()).decode() if self.words else text

    def record(self, record: AnyRecord, only: tuple[str, ...] = ()) -> AnyRecord:
        """Rename in all texts of a record, or in those of some of its fields."""
        if not self.words:
            return record
        told = record.model_dump()
        for name in only or told:
            told[name] = self._mapped(told[name])
        return type(record).model_validate(told, strict=False)

    def _mapped(self, value: Any) -> Any:  # noqa: ANN401 - what a record holds
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self._mapped(key): self._mapped(each) for key, each in value.items()}
        if isinstance(value, list | tuple):
            return [self._mapped(each) for each in value]
        return value

    def _renamed(self, data: bytes) -> bytes:
        return WORD.sub(lambda found: self._bytes.get(found[0], found[0]), data)
