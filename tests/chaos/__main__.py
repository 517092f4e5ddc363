"""`make chaos`: faults at random moments against an engine of its own, and their table.

`python -m tests.chaos --times 0.1` does a tenth. The seed is printed; the same one draws the same
faults. Exits 1 where a promise did not hold.
"""

import argparse
import os
import secrets
import signal
import sys
import tempfile
from pathlib import Path

from docker import APIClient

from sandbox.container import engines
from sandbox.container.engines.docker import reach
from sandbox.model.run_folder import RunFolder
from sandbox.model.store import Store
from tests.chaos import daemons, disks, evidence, own_engine, processes
from tests.chaos.fault import Kind, Outcome, outcomes, table
from tests.chaos.runs import Harmed

TIMES = {
    "stored file damaged": 1100,
    "kill -9 of a run": 200,
    "kill -9 of a batch": 40,
    "a signal to a run": 100,
    "a signal to a batch": 40,
    "container killed": 100,
    "container removed": 80,
    "container frozen": 10,
    "container frozen, one Ctrl-C": 30,
    "runs on a disk that is full": 80,
    "runs out of reach, read-only": 40,
    "a hostile tree": 80,
    "engine killed": 30,
    "engine stopped": 20,
    "engine frozen": 10,
    "engine's disk is full": 40,
}
"""2,000 faults."""


def stored(place: Path) -> list[RunFolder]:
    """A run that has passed and one that has failed."""
    for agent in ("oracle", "null"):
        folder = place / agent
        folder.mkdir(parents=True)
        harmed = Harmed(folder, {}, agent).begin()
        assert harmed.end(), harmed.said
    return [next(iter(Store(place / agent / "runs").folders())) for agent in ("oracle", "null")]


def kinds(place: Path, verbs: int = len(evidence.VERBS)) -> dict[str, Kind]:
    """All ways to do harm, with the engine that the environment names.

    `verbs` is how many look at what is stored after each damage to it.
    """
    engine = engines.connect()
    client: APIClient = reach()[0]
    found = {"stored file damaged": evidence.kind(stored(place / "whole"), verbs)}
    found |= processes.kinds(engine, client, {})
    found |= disks.kinds(engine, {})
    if os.geteuid():
        for name in ("runs on a disk that is full", "runs out of reach, read-only"):
            found.pop(name)
    return found


def main() -> int:
    """Run it."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos")
    parser.add_argument("--times", type=float, default=1.0, help="part of the 2,000 faults")
    parser.add_argument("--seed", default=secrets.token_hex(4))
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    parser.add_argument("--only", help="kinds whose names have this part")
    parser.add_argument("--verbose", action="store_true", help="tell of each fault")
    parser.add_argument("--shared", action="store_true", help="no engine of its own")
    given = parser.parse_args()
    print(f"seed {given.seed}", flush=True)  # noqa: T201
    # What `nohup` and `&` have ignored would be ignored by all whom we interrupt, too.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    # Whoever ends us finds no engine, mount or folder of ours afterwards.
    signal.signal(signal.SIGTERM, signal.default_int_handler)

    def tell(outcome: Outcome) -> None:
        if given.verbose or outcome.problems:
            rows = [f"{outcome.kind} {outcome.seed}: {outcome.what}", *outcome.problems]
            # Verbs that are called in this process have its sys.stdout meanwhile.
            os.write(1, "\n    ".join(rows).encode() + b"\n")

    with tempfile.TemporaryDirectory(prefix="chaos-") as folder:
        place = Path(folder)
        with own_engine.started(place / "engine", shared=given.shared) as own:

            def done(there: dict[str, Kind], at_once: int, faults: Path) -> list[Outcome]:
                wanted = [
                    (kind, max(1, round(TIMES[name] * given.times)))
                    for name, kind in there.items()
                    if given.only is None or given.only in name
                ]
                return outcomes(wanted, given.seed, faults, at_once, tell)

            found = done(kinds(place), given.jobs, place / "faults")
            if own is not None:
                found += done(daemons.kinds(own, engines.connect()), 1, place / "of-the-engine")
    print("\n".join(table(found)))  # noqa: T201
    return 1 if any(each.problems for each in found) else 0


if __name__ == "__main__":
    sys.exit(main())
