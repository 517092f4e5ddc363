"""HUM-187: a list of one item is that item, without a conjunction."""

from __future__ import annotations

import humanize


def test_single_item() -> None:
    assert humanize.natural_list(["one"]) == "one"


def test_two_items() -> None:
    assert humanize.natural_list(["one", "two"]) == "one and two"
