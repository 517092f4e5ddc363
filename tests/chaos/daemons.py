"""Harm to the engine itself; one after the other, since every run there is has to bear it."""

import os
import random
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from sandbox.container.engines.base import Engine
from tests.chaos.fault import Kind, Strike
from tests.chaos.own_engine import OwnEngine
from tests.chaos.processes import MOMENT
from tests.chaos.runs import Harmed, problems


def kinds(own: OwnEngine, engine: Engine) -> dict[str, Kind]:
    """Give all kinds, by name."""

    def during(harm: Callable[[OwnEngine], Iterator[None]]) -> Strike:
        def strike(chance: random.Random, place: Path) -> tuple[str, Sequence[str]]:
            harmed = Harmed(place, {}, chance.choice(("null", "oracle"))).begin()
            moment = chance.uniform(0.1, MOMENT)
            time.sleep(moment)
            with contextmanager(harm)(own):
                ended = harmed.end()
            found = [] if ended else ["it hangs"]
            found += problems(engine, harmed, killed=True)
            return f"after {moment:.1f} s, exit {harmed.code}", found

        return strike

    strikes = {
        "engine killed": during(killed),
        "engine stopped": during(stopped),
        "engine frozen": during(frozen),
        "engine's disk is full": during(full),
    }
    return {name: Kind(name, strike) for name, strike in strikes.items()}


def killed(own: OwnEngine) -> Iterator[None]:
    """Kill it, and start it again."""
    own.end(signal.SIGKILL)
    yield
    own.begin()


def stopped(own: OwnEngine) -> Iterator[None]:
    """Stop it, and start it again."""
    own.end()
    yield
    own.begin()


def frozen(own: OwnEngine) -> Iterator[None]:
    """Freeze it, and let it go on."""
    own.send(signal.SIGSTOP)
    yield
    own.send(signal.SIGCONT)


def full(own: OwnEngine) -> Iterator[None]:
    """Fill its disk, and empty it again."""
    filler = own.data / "filler"
    with filler.open("wb") as file, suppress(OSError):
        while True:
            found = os.statvfs(own.data)
            length = found.f_bavail * found.f_frsize
            os.posix_fallocate(file.fileno(), os.fstat(file.fileno()).st_size, max(length // 2, 1))
    try:
        yield
    finally:
        filler.unlink()
