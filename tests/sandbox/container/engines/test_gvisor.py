"""In gVisor, which is a kernel of its own, the same contract holds, but for what is named here."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.container.engines import connect
from sandbox.container.engines.base import Engine, SessionSpec
from sandbox.model.session import Command
from tests import ROOT, gvisor
from tests.sandbox.container.engines.conformance import Conformance
from tests.sandbox.container.engines.conftest import TAG
from tests.sandbox.container.engines.escape.probing import attempts

pytestmark = [pytest.mark.engine, pytest.mark.slow]

SHOWN = {
    "shelter from lack of memory",
    "read /proc/1/environ",
    "read /proc/1/maps",
    "read /proc/1/fd/0",
    "read the kernel's log",
}
"""What its kernel allows everybody, and what leads nowhere."""

WRITE = b"""
for fd in /proc/1/fd/*; do
    if test $fd -ef /dev/null; then continue; fi
    if printf x 2>/dev/null > $fd; then echo "wrote to $fd"; fi
    if ( : < $fd ) 2>/dev/null && test -p $fd; then echo "opened $fd"; fi
done
"""


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory, root_archive: Path) -> Iterator[Engine]:
    with gvisor.engine(tmp_path_factory.mktemp("gvisor")):
        engine = connect()
        engine.import_image(root_archive, tag=TAG, labels={"sandbox.test": "engines"})
        yield engine
        engine.close()


class TestGVisor(Conformance):
    """The whole contract in gVisor."""

    image = TAG

    @pytest.fixture
    def engine(self, started: Engine) -> Engine:
        return started

    def test_nothing_leads_out_and_what_is_shown_is_documented(self, engine: Engine) -> None:
        with engine.start(SessionSpec(TAG)) as session:
            assert {each.name for each in attempts(session) if each.done} == SHOWN
        text = (ROOT / "docs/isolation.md").read_text()
        assert [name for name in SHOWN if text.count(f"`{name}`") < 2] == []

    def test_programs_are_seen_and_nobody_speaks_in_the_supervisors_name(
        self, engine: Engine
    ) -> None:
        with engine.start(SessionSpec(TAG)) as session:
            assert session.greeting.coverage("hold") == "ptrace"
            assert "root" not in session.greeting.features  # who could write to the host
            tried = session.run(Command(("/bin/sh",), stdin=WRITE, timeout=60))
            assert (tried.exit_code, tried.stdout) == (0, b"")
            assert session.run(Command(("/bin/sh", "-c", "kill -9 1"))).exit_code == 1
            assert session.run(Command(("/bin/sh", "-c", "exit 5"))).exit_code == 5
