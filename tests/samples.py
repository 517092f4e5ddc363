"""Samples: of a test with many slow cases some run in `make test`, all in `make test-all`."""

from collections import Counter
from collections.abc import Sequence

import pytest

MARK = "sampled"
"""`@pytest.mark.sampled(every=5)`: each fifth case, from the first on, is the sample."""


def put_off(items: Sequence[pytest.Item]) -> None:
    """Mark as thorough what is not in the sample of its test."""
    places: Counter[str] = Counter()
    for item in items:
        mark = item.get_closest_marker(MARK)
        if mark is None:
            continue
        test = item.nodeid.partition("[")[0]
        if places[test] % mark.kwargs["every"]:
            item.add_marker(pytest.mark.thorough)
        places[test] += 1


def chosen(request: pytest.FixtureRequest, *tests: str) -> list[dict[str, object]]:
    """Return the parameters of the cases that are run, of some tests of a fixture's module."""
    module = request.node.getparent(pytest.Module)
    return [
        item.callspec.params
        for item in request.session.items
        if isinstance(item, pytest.Function)
        and item.getparent(pytest.Module) is module
        and item.originalname in tests
        and hasattr(item, "callspec")
    ]
