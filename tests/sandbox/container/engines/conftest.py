import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from sandbox.container.engines import connect
from sandbox.container.engines.base import Engine
from sandbox.container.engines.native.engine import NativeEngine
from sandbox.model.errors import EngineError
from tests.sandbox.container.engines import root_file_system

TAG = f"sandbox-test-engines:{os.getpid()}"


@pytest.fixture(scope="session")
def root_archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return root_file_system.make(tmp_path_factory.mktemp("root") / "root.tar")


@pytest.fixture(scope="session")
def docker(root_archive: Path) -> Iterator[Engine]:
    """The engine of this machine, holding the image TAG."""
    engine = connect()
    engine.import_image(root_archive, tag=TAG, labels={"sandbox.test": "engines"})
    yield engine
    # Podman keeps the container of a build that failed, and with it what the build began from.
    kept: tuple[type[EngineError], ...] = (EngineError,) if engine.info().name == "podman" else ()
    with suppress(*kept):
        engine.remove_image(TAG)
    engine.close()


@pytest.fixture(scope="session")
def native(root_archive: Path) -> Iterator[Engine]:
    """The native engine, holding the image TAG."""
    if os.geteuid():
        pytest.skip("the native engine is root's")
    engine = NativeEngine.connect()
    engine.import_image(root_archive, tag=TAG, labels={"sandbox.test": "engines"})
    yield engine
    engine.remove_image(TAG)
    engine.close()
