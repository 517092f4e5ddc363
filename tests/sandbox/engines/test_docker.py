import pytest

from sandbox.engines.base import Engine
from tests.sandbox.engines.conformance import Conformance
from tests.sandbox.engines.conftest import TAG

pytestmark = pytest.mark.engine


class TestDocker(Conformance):
    image = TAG

    @pytest.fixture(params=["attach", "socket"])
    def engine(
        self, docker: Engine, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
    ) -> Engine:
        monkeypatch.setenv("SANDBOX_TRANSPORT", request.param)
        return docker
