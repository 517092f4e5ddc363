"""A bound on tests is stretched by what else the machine does, and never made shorter."""

import os

import pytest

from sandbox.grading.patience import patient


@pytest.mark.parametrize(("load", "seconds"), [(0.1, 60.0), (4.0, 60.0), (10.0, 150.0)])
def test_who_shares_a_machine_has_as_much_longer(
    load: float, seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    monkeypatch.setattr(os, "getloadavg", lambda: (load, 99.0, 99.0))
    assert patient(60.0) == seconds


def test_where_nothing_tells_of_the_load_the_bound_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown() -> tuple[float, float, float]:
        raise OSError

    monkeypatch.setattr(os, "getloadavg", unknown)
    assert patient(60.0) == 60.0
