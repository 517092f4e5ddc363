"""The native engine: ready, an action, a whole trial, each beside Docker's in the same rounds."""

import os
import tempfile

from sandbox.container.engines.base import Engine
from sandbox.container.engines.native.engine import NativeEngine
from sandbox.model.session import Command
from tests.bench.actions import spawn
from tests.bench.clock import Measure, interleaved
from tests.bench.fixture import TASK, open_session, prepared
from tests.bench.trials import TEN_ACTIONS, command

TRUE = Command(("/bin/true",))
READY_MS, TRIAL_MS = 25, 500


def measure() -> list[Measure]:
    if os.geteuid():
        return []
    native = NativeEngine.connect()
    with prepared() as (engine, _, image), tempfile.TemporaryDirectory() as runs:

        def ready(by: Engine) -> None:
            with open_session(by, image.tag) as session:
                session.run(TRUE)

        ours, dockers = interleaved(15, lambda: ready(native), lambda: ready(engine))
        with open_session(native, image.tag) as session:
            action, floor = interleaved(200, lambda: session.run(TRUE), spawn)

        def trial(by: str) -> None:
            whole = ("run", TASK, "--agent", str(TEN_ACTIONS), "--runs", runs, "--engine", by)
            assert command(*whole) == 1, "ten idle actions solve nothing: the verdict is `failed`"

        whole, with_docker = interleaved(8, lambda: trial("native"), lambda: trial("docker"))
        sessions = []

        def begin() -> None:
            sessions.append(open_session(native, image.tag))
            sessions[-1].run(TRUE)

        try:
            (begun,) = interleaved(15, begin)
        finally:
            for each in sessions:
                each.close()
    native.close()
    return [
        ("native: ready, first command done", "the bound, ms", begun, READY_MS, 1, False),
        ("native: ready, one command, removed", "Docker's", ours, dockers, 4, True),
        ("native: an action (`true`)", "posix_spawn", action, floor, 1.5, False),
        ("native: a trial of 10 actions, graded", "the bound, ms", whole, TRIAL_MS, 1, False),
        ("native: the same", "Docker's", whole, with_docker, 1, True),
    ]
