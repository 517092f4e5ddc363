"""Harm to processes and containers, at random moments of a run."""

import random
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from docker import APIClient
from docker.errors import DockerException

from sandbox.container.engines.base import Engine
from sandbox.model.errors import EngineError
from tests.chaos.fault import Kind, Strike
from tests.chaos.runs import Harmed, containers, problems

MOMENT = 7.0
"""Seconds of a run on a busy machine, in which harm is done."""


def kinds(engine: Engine, client: APIClient, environment: Mapping[str, str]) -> dict[str, Kind]:
    """Give all kinds, by name."""

    def begun(chance: random.Random, place: Path, *options: str) -> Harmed:
        agent = chance.choice(("null", "null", "oracle"))
        return Harmed(place, environment, agent, options).begin()

    def killed(*options: str) -> Strike:
        def strike(chance: random.Random, place: Path) -> tuple[str, Sequence[str]]:
            harmed, moment = begun(chance, place, *options), chance.uniform(0.1, MOMENT)
            time.sleep(moment)
            harmed.signal(signal.SIGKILL)
            ended = harmed.end()
            return f"after {moment:.1f} s", _all(ended, engine, harmed, killed=True)

        return strike

    def interrupted(*options: str) -> Strike:
        def strike(chance: random.Random, place: Path) -> tuple[str, Sequence[str]]:
            harmed, moment = begun(chance, place, *options), chance.uniform(0.5, MOMENT)
            time.sleep(moment)
            number = chance.choice((signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
            harmed.signal(number)
            ended = harmed.end()
            return f"{number.name} after {moment:.1f} s", _all(ended, engine, harmed)

        return strike

    def contained(harm: Callable[[str], None], *, interrupt: bool = False) -> Strike:
        def strike(chance: random.Random, place: Path) -> tuple[str, Sequence[str]]:
            harmed = begun(chance, place)
            found = containers(engine, harmed, MOMENT)
            moment = chance.uniform(0, MOMENT / 2)
            time.sleep(moment)
            for container in found:
                with suppress(DockerException, EngineError):
                    harm(container)
            if interrupt:
                time.sleep(0.2)
                harmed.signal(signal.SIGINT)
            ended = harmed.end()
            return f"{len(found)} after {moment:.1f} s", _all(ended, engine, harmed)

        return strike

    def frozen(container: str) -> None:
        client.pause(container)

    strikes = {
        "kill -9 of a run": killed(),
        "kill -9 of a batch": killed("--trials", "3", "--jobs", "3"),
        "a signal to a run": interrupted(),
        "a signal to a batch": interrupted("--trials", "3", "--jobs", "3"),
        "container killed": contained(client.kill),
        "container removed": contained(lambda name: client.remove_container(name, force=True)),
        "container frozen": contained(frozen),
        "container frozen, one Ctrl-C": contained(frozen, interrupt=True),
    }
    return {name: Kind(name, strike) for name, strike in strikes.items()}


def _all(ended: bool, engine: Engine, harmed: Harmed, *, killed: bool = False) -> list[str]:
    def every() -> Iterator[str]:
        if not ended:
            yield "it hangs"
        yield from problems(engine, harmed, killed=killed)

    return list(every())
