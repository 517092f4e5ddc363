"""The native engine keeps the contract of every engine, and holds an agent as Docker does."""

import pytest

from sandbox.container.engines.base import Engine
from tests.sandbox.container.engines.conformance import Conformance
from tests.sandbox.container.engines.conftest import TAG
from tests.sandbox.container.engines.containment import Containment

pytestmark = pytest.mark.engine


class TestNative(Conformance, Containment):
    image = TAG

    @pytest.fixture
    def engine(self, native: Engine, monkeypatch: pytest.MonkeyPatch) -> Engine:
        monkeypatch.setenv("SANDBOX_ENGINE", "native")  # for the processes that tests start
        return native
