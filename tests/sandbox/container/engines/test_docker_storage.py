"""What an engine is asked about its disk; only its answers are made up here."""

from pathlib import Path
from typing import Any, cast

import docker
import pytest

from sandbox.container import engines
from sandbox.container.engines.base import SessionSpec
from sandbox.container.engines.docker import APIClient
from sandbox.container.engines.docker_storage import DockerStorage
from sandbox.model import places
from sandbox.model.errors import EngineError
from sandbox.model.session import DiskUse
from sandbox.tasks.images import Images
from sandbox.tasks.library import load

ON_XFS = {"Driver": "overlay2", "DriverStatus": [["Backing Filesystem", "xfs"]]}
ON_EXT4 = {"Driver": "overlay2", "DriverStatus": [["Backing Filesystem", "extfs"]]}
NO_QUOTA = "--storage-opt is supported only for overlay over xfs with 'pquota' mount option"
"""What Docker 20.10 to 28 answers."""


class Answers:
    """An engine that has counted what each container has written."""

    def containers(self, **_: object) -> list[dict[str, Any]]:
        return [{"Id": "1", "SizeRw": 12345}]


def storage(facts: dict[str, Any], root: Path | None = None) -> DockerStorage:
    return DockerStorage(cast(APIClient, Answers()), facts, root, lambda: True)


def test_an_engine_that_can_holds_a_container_to_its_limit() -> None:
    asked: list[int | None] = []
    storage(ON_XFS).create(100, asked.append)
    storage(ON_XFS).create(None, asked.append)
    storage(ON_EXT4).create(100, asked.append)
    assert asked == [100, None, None]


def test_an_engine_that_could_and_may_not_is_asked_once() -> None:
    asked: list[int | None] = []

    def create(quota: int | None) -> None:
        asked.append(quota)
        if quota is not None:
            raise EngineError(NO_QUOTA)

    there = storage(ON_XFS)
    there.create(100, create)
    there.create(100, create)
    assert asked == [100, None, None]


def test_another_refusal_is_passed_on() -> None:
    def create(_: int | None) -> None:
        raise EngineError("no such image")

    with pytest.raises(EngineError, match="no such image"):
        storage(ON_XFS).create(100, create)


def test_the_engines_own_count_serves_where_its_files_are_out_of_sight() -> None:
    assert storage(ON_EXT4).meter("one").measure(10) == DiskUse(12345, None, None)
    assert storage(ON_EXT4).free_bytes() is None


@pytest.mark.engine
def test_a_real_engine_counts_what_a_container_has_written() -> None:
    engine = engines.connect()
    image = Images(engine, places.cache()).ensure(load("humanize/file-sizes"), lambda _: None)
    client = docker.APIClient(engine.info().endpoint)
    try:
        with engine.start(SessionSpec(image.id)) as session:
            out_of_sight = DockerStorage(client, ON_EXT4, None, lambda: False)
            meter = out_of_sight.meter(session.container)
            before = meter.measure(10).bytes
            session.write("/tmp/big", bytes(5 << 20))
            after = meter.measure(10).bytes
    finally:
        client.close()
        engine.close()
    assert before is not None
    assert after is not None
    assert 5 << 20 <= after - before < 6 << 20


def test_what_is_free_is_told_without_looking_at_files(tmp_path: Path) -> None:
    used = storage(ON_EXT4, tmp_path).meter("one").measure(0)
    assert (used.bytes, used.files) == (None, None)
    assert used.free_bytes
