"""What is said before any cluster is reached; clusters themselves are made in end_to_end."""

import sys

import pytest

from sandbox.model.errors import UsageError
from sandbox.run.cluster.ray_cluster import RayCluster


@pytest.mark.parametrize("place", ["", "here", "local-cluster:0", "ray://", "a b:1", "http://a:1"])
def test_a_place_that_is_none_is_told(place: str) -> None:
    with pytest.raises(UsageError, match="not where a cluster can be"):
        RayCluster.connect(place)


def test_where_ray_is_not_installed_it_is_said_how(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UsageError) as told:
        RayCluster.connect("127.0.0.1:1")
    assert told.value.next_step == "Install it: pip install 'sandbox[ray]'."
