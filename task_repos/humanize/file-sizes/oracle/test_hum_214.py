"""HUM-214: the unit of a size depends on its exact magnitude alone."""

from __future__ import annotations

import pytest

import humanize


@pytest.mark.parametrize(
    ("size", "expected"),
    [(3_000_000, "3.0 MB"), (999_600, "999.6 kB"), (999_999, "1000.0 kB")],
)
def test_sign_and_rounding_leave_the_unit_alone(size: int, expected: str) -> None:
    assert humanize.naturalsize(size) == expected
    assert humanize.naturalsize(-size) == f"-{expected}"
