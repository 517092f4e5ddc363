from dataclasses import replace

import pytest

from sandbox.container.engines.base import EngineInfo
from sandbox.container.engines.fake import FakeEngine
from sandbox.model.task import RunLimits
from sandbox.run.capacity import Capacity
from tests.sandbox.worlds import task

GIBIBYTE = 1 << 30


@pytest.mark.parametrize(
    ("memory", "cpus", "asked", "given", "said"),
    [
        (24 * GIBIBYTE, 4, 4, 4, ""),
        (24 * GIBIBYTE, 4, 1, 1, ""),
        (24 * GIBIBYTE, 2, 16, 16, "16 at once on 2 processors"),
        (8 * GIBIBYTE, 2, 32, 5, "5 at once instead of 32: each run may take 1024 MiB"),
        (8 * GIBIBYTE, 4, 4, 4, ""),
        (2 * GIBIBYTE, 8, 8, 1, "1 at once instead of 8"),
        (GIBIBYTE // 2, 2, 3, 1, "1 at once instead of 3"),
        (None, 2, 2, 2, ""),
        (None, None, 16, 16, ""),
    ],
)
def test_only_as_many_go_on_as_find_their_memory(
    memory: int | None, cpus: int | None, asked: int, given: int, said: str
) -> None:
    large = task().model_copy(update={"limits": RunLimits(memory_bytes=GIBIBYTE)})
    small = task().model_copy(update={"limits": RunLimits(memory_bytes=GIBIBYTE // 8)})
    found, remark = Capacity(memory, cpus).at_once(asked, [small, large])
    assert found == given
    assert remark.startswith(said)
    assert bool(remark) == bool(said)


def test_this_machine_is_looked_at() -> None:
    class Local(FakeEngine):
        def info(self) -> EngineInfo:
            return replace(super().info(), local=True)

    here = Capacity.of(Local({}))
    assert here.cpus
    assert here.memory_bytes is None or here.memory_bytes > 0


def test_another_machine_is_not_taken_for_this_one() -> None:
    assert Capacity.of(FakeEngine({})) == Capacity(None, None)
