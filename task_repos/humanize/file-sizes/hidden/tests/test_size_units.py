"""The unit of a size depends on its exact magnitude, not on its sign and not on rounding."""

from __future__ import annotations

import inspect

import pytest

import humanize
import humanize.filesize

BELOW = {
    "decimal-kB": ((999_600,), "999.6 kB"),
    "decimal-MB": ((999_960_000,), "1000.0 MB"),
    "decimal-TB": ((999_700_000_000_000,), "999.7 TB"),
    "decimal-last": ((10**33 - 10**29 * 4,), "999.6 QB"),
    "decimal-three-digits": ((999_999, False, False, "%.3f"), "999.999 kB"),
    "decimal-no-digits": ((999_999, False, False, "%.0f"), "1000 kB"),
    "binary-KiB": ((1_048_100, True), "1023.5 KiB"),
    "binary-GiB": ((1024**4 - 1024**2 * 300, True), "1023.7 GiB"),
    "gnu-K": ((1_048_100, False, True), "1023.5K"),
    "gnu-M": ((1024**3 - 1024 * 200, False, True), "1023.8M"),
    "text": (("999600",), "999.6 kB"),
    "fraction": ((999_999.5,), "1000.0 kB"),
}
EXACT = {
    "decimal-kB": ((1000,), "1.0 kB"),
    "decimal-MB": ((10**6,), "1.0 MB"),
    "decimal-QB": ((10**30,), "1.0 QB"),
    "binary-KiB": ((1024, True), "1.0 KiB"),
    "binary-MiB": ((1024**2, True), "1.0 MiB"),
    "binary-QiB": ((1024**10, True), "1.0 QiB"),
    "gnu-K": ((1024, False, True), "1.0K"),
    "gnu-G": ((1024**3, False, True), "1.0G"),
    "beyond-the-last": ((3 * 10**34,), "30000.0 QB"),
}
SMALL = {
    "nothing": ((0,), "0 Bytes"),
    "one": ((1,), "1 Byte"),
    "decimal": ((999,), "999 Bytes"),
    "binary": ((1023, True), "1023 Bytes"),
    "gnu": ((1023, False, True), "1023B"),
}


def negated(arguments: tuple) -> tuple:
    size, *others = arguments
    return (f"-{size}" if isinstance(size, str) else -size, *others)


@pytest.mark.parametrize(("arguments", "text"), BELOW.values(), ids=BELOW)
def test_just_below_a_unit(arguments: tuple, text: str) -> None:
    assert humanize.naturalsize(*arguments) == text


@pytest.mark.parametrize(("arguments", "text"), BELOW.values(), ids=BELOW)
def test_just_below_a_unit_negative(arguments: tuple, text: str) -> None:
    assert humanize.naturalsize(*negated(arguments)) == f"-{text}"


@pytest.mark.parametrize(("arguments", "text"), EXACT.values(), ids=EXACT)
def test_exactly_a_unit(arguments: tuple, text: str) -> None:
    assert humanize.naturalsize(*arguments) == text


@pytest.mark.parametrize(("arguments", "text"), EXACT.values(), ids=EXACT)
def test_exactly_a_unit_negative(arguments: tuple, text: str) -> None:
    assert humanize.naturalsize(*negated(arguments)) == f"-{text}"


@pytest.mark.parametrize(("arguments", "text"), SMALL.values(), ids=SMALL)
def test_below_all_units(arguments: tuple, text: str) -> None:
    assert humanize.naturalsize(*arguments) == text


def test_module_holds_what_it_held() -> None:
    names = {name for name in vars(humanize.filesize) if not name.startswith("__")}
    assert names == {"annotations", "naturalsize", "suffixes"}


def test_signature_is_what_it_was() -> None:
    parameters = inspect.signature(humanize.naturalsize).parameters
    assert list(parameters) == ["value", "binary", "gnu", "format"]
    assert [parameter.default for parameter in parameters.values()][1:] == [False, False, "%.1f"]
