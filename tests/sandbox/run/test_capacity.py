import pytest

from sandbox.model.task import RunLimits
from sandbox.run.capacity import Capacity
from tests.sandbox.worlds import task

GIBIBYTE = 1 << 30


@pytest.mark.parametrize(
    ("memory", "cpus", "asked", "given", "said"),
    [
        (24 * GIBIBYTE, 4, 4, 4, ""),
        (24 * GIBIBYTE, 4, 1, 1, ""),
        (24 * GIBIBYTE, 2, 16, 16, "16 runs at once on 2 processors"),
        (8 * GIBIBYTE, 2, 32, 7, "7 runs at once instead of 32: each may take 1024 MiB"),
        (GIBIBYTE // 2, 2, 3, 1, "1 runs at once instead of 3"),
        (None, 2, 2, 2, ""),
    ],
)
def test_only_as_many_go_on_as_find_their_memory(
    memory: int | None, cpus: int, asked: int, given: int, said: str
) -> None:
    large = task().model_copy(update={"limits": RunLimits(memory_bytes=GIBIBYTE)})
    small = task().model_copy(update={"limits": RunLimits(memory_bytes=GIBIBYTE // 8)})
    found, remark = Capacity(memory, cpus).at_once(asked, [small, large])
    assert found == given
    assert remark.startswith(said)
    assert bool(remark) == bool(said)


def test_this_machine_is_looked_at() -> None:
    here = Capacity.here()
    assert here.cpus >= 1
    assert here.memory_bytes is None or here.memory_bytes > 0
