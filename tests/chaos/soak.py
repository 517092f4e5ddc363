"""One experiment of many short trials, with a fault every so often: what is lost, doubled or left.

`python -m tests.chaos.soak --trials 300 --every 50` starts an engine of its own. Exits 1 where a
promise did not hold.
"""

import argparse
import itertools
import os
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median_low

from docker import APIClient
from docker.errors import DockerException

from sandbox.container import engines
from sandbox.container.engines.base import ContainerInfo, Engine
from sandbox.container.engines.docker import reach
from sandbox.model.errors import EngineError, StoreError
from sandbox.model.experiment import Line
from sandbox.model.store import Store
from sandbox.model.verdict import Verdict
from sandbox.run.run_containers import RUN
from tests.chaos import daemons, own_engine
from tests.chaos.own_engine import OwnEngine
from tests.chaos.runs import EXPECTED, SECONDS, TASK, Harmed

NAME = "soak"
SETTLED = 20
"""Trials after which a process has loaded all that it needs."""
BYTES_MORE, DESCRIPTORS_MORE = 1.2, 16
"""How much memory a process may have at its end, as a multiple, and how many descriptors more."""
STALLED = 600.0
"""Seconds without a trial that is over, after which nothing goes on any more."""


@dataclass(slots=True)
class Use:
    """What one process of the harness used, sampled twice a second."""

    begun_at: int
    """Trials that were over when it began."""
    samples: list[tuple[int, int, int]] = field(default_factory=list)
    """Trials over, bytes resident, open descriptors."""

    def grown(self) -> Iterator[str]:
        """Say what has grown from when it was settled to its end."""
        settled = [each for each in self.samples if each[0] >= self.begun_at + SETTLED]
        if len(settled) < 2 * SETTLED:
            return
        quarter = len(settled) // 4
        early, late = settled[:quarter], settled[-quarter:]
        memory = [median_low(each[1] for each in part) for part in (early, late)]
        files = [median_low(each[2] for each in part) for part in (early, late)]
        if memory[1] > memory[0] * BYTES_MORE:
            yield f"memory grew from {memory[0] >> 20} to {memory[1] >> 20} MiB"
        if files[1] > files[0] + DESCRIPTORS_MORE:
            yield f"descriptors grew from {files[0]} to {files[1]}"


@dataclass(slots=True)
class Soak:
    """An experiment, whoever does it at the moment, and the faults that it has had."""

    place: Path
    trials: int
    every: int
    at_once: int
    faults: Counter[str] = field(default_factory=Counter)
    uses: list[Use] = field(default_factory=list)
    """Of each process that did it, one after the other."""
    command: Harmed = field(init=False)
    _known: list[Line] = field(default_factory=list)
    _read: int = 0
    """Bytes of the journal of which the lines are known."""

    def __post_init__(self) -> None:
        self.place.mkdir(parents=True, exist_ok=True)
        # With the variable Python shows where each thread is when it is told to abort.
        shows = {"PYTHONFAULTHANDLER": "1"}
        self.command = Harmed(self.place, shows, options=("--jobs", str(self.at_once)))

    def lines(self) -> list[Line]:
        """Read the journal, without a line that a kill has cut short.

        A run that had ended when the harness was killed may have no end there: its folder tells.
        """
        journal = self.command.runs / "experiments" / NAME / "journal.jsonl"
        if journal.exists():
            # What has been read is kept: ten thousand trials are asked for twice a second.
            with journal.open("rb") as file:
                file.seek(self._read)
                whole, end, _ = file.read().rpartition(b"\n")
            self._read += len(whole) + len(end)
            for line in whole.splitlines():
                with suppress(ValueError):
                    self._known.append(Line.model_validate_json(line))
        found = list(self._known)
        ended = {line.run for line in found if line.verdict is not None}
        for begun in [line for line in found if line.run not in ended]:
            with suppress(StoreError):
                record = Store(self.command.runs).folder(begun.run).record()
                if record.verdict is not None:
                    found.append(begun.model_copy(update={"verdict": record.verdict}))
        return found

    def over(self) -> int:
        """Count the trials that are over and count."""
        return sum(line.verdict not in (None, Verdict.ERROR) for line in self.lines())

    def begin(self) -> None:
        """Start the experiment, or whoever goes on with it."""
        first = ("run", TASK, "--agent", self.command.agent, "--experiment", NAME)
        words = ("resume", NAME) if self.uses else (*first, "--trials", str(self.trials))
        self.uses.append(Use(self.over()))
        self.command.begin(*words)

    def goes_on(self) -> bool:
        """Take a sample of whoever does it; False where nobody does any more."""
        process = self.command.process
        if process.poll() is not None:
            return False
        folder = Path(f"/proc/{process.pid}")
        with suppress(OSError, IndexError):
            resident = int((folder / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
            files = len(list((folder / "fd").iterdir()))
            self.uses[-1].samples.append((self.over(), resident, files))
        return True

    def kill(self) -> None:
        """Kill whoever does it."""
        self.command.signal(signal.SIGKILL)
        self.command.process.wait()

    def stalled(self) -> str:
        """End what does not go on; tell where its threads were and what the open runs did last."""
        self.command.signal(signal.SIGABRT)
        self.command.process.wait()
        over = {line.run for line in self.lines() if line.verdict is not None}
        begun = {line.run for line in self.lines()} - over
        traces = (self.command.runs / run / "trace.jsonl" for run in sorted(begun))
        last = [f"{each}: {_end(each, 600)}" for each in traces]
        return "\n".join((*last, _end(self.place / "said", 12_000)))

    def containers(self, engine: Engine) -> list[ContainerInfo]:
        """Give those of its runs."""
        runs = {line.run for line in self.lines()}
        return [each for each in engine.containers(RUN) if each.labels.get(RUN) in runs]


def _end(file: Path, length: int) -> str:
    return file.read_text(errors="replace")[-length:] if file.exists() else "no such file"


Fault = Callable[[Soak], None]


def faults(own: OwnEngine | None, client: APIClient) -> Mapping[str, Fault]:
    """Give what is done in turns; with an engine that others use, nothing to that."""

    def container(soak: Soak) -> None:
        engine = engines.connect()
        end = time.monotonic() + SECONDS
        try:
            while time.monotonic() < end:
                running = [each.id for each in soak.containers(engine) if each.running]
                with suppress(DockerException, EngineError, IndexError):
                    client.kill(running[0])
                    return
                time.sleep(0.1)
        finally:
            engine.close()

    found: dict[str, Fault] = {"harness killed": Soak.kill, "container killed": container}
    if own is not None:
        found["engine killed"] = _to_engine(own, daemons.killed, 1.0)
        found["engine's disk is full"] = _to_engine(own, daemons.full, 4.0)
    return found


def _to_engine(
    own: OwnEngine, harm: Callable[[OwnEngine], Iterator[None]], seconds: float
) -> Fault:
    def fault(_: Soak) -> None:
        with contextmanager(harm)(own):
            time.sleep(seconds)

    return fault


def soaked(soak: Soak, turns: Mapping[str, Fault], tell: Callable[[str], object]) -> None:
    """Do all trials, and every so many a fault; whoever has ended before is begun again."""
    soak.begin()
    try:
        _go_on(soak, turns, tell)
    finally:
        soak.kill()  # it has ended, or nobody waits for it any more


def _go_on(soak: Soak, turns: Mapping[str, Fault], tell: Callable[[str], object]) -> None:
    wanted = itertools.cycle(turns.items())
    next_at, seen, since = soak.every, 0, time.monotonic()
    while (over := soak.over()) < soak.trials:
        if over > seen:
            seen, since = over, time.monotonic()
        if time.monotonic() > since + STALLED:
            raise AssertionError(f"nothing goes on after {over} trials\n{soak.stalled()}")
        if over >= next_at:
            name, fault = next(wanted)
            fault(soak)
            soak.faults[name] += 1
            next_at += soak.every
            tell(f"{over} over; {name}")
        if not soak.goes_on():
            soak.begin()
        time.sleep(0.5)
    while soak.goes_on():
        time.sleep(0.5)


def problems(soak: Soak, engine: Engine, mounts: set[str]) -> Iterator[str]:
    """Say what is lost, doubled, wrong or left when all is over."""
    counted = [line for line in soak.lines() if line.verdict not in (None, Verdict.ERROR)]
    cells = Counter(line.cell for line in counted)
    if lost := set(range(soak.trials)) - set(cells):
        yield f"{len(lost)} trials are lost: {sorted(lost)[:5]}"
    if doubled := [cell for cell, times in cells.items() if times > 1]:
        yield f"{len(doubled)} trials are doubled: {doubled[:5]}"
    expected = EXPECTED[soak.command.agent]
    if wrong := [line.run for line in counted if line.verdict != expected]:
        yield f"{len(wrong)} verdicts are wrong: {wrong[:5]}"
    for each in (soak.place / "tmp").iterdir():
        os.utime(each, (1, 1))  # as old as what gc takes away
    over = {line.run for line in counted}
    for run in sorted({line.run for line in soak.lines()} - over) or ["last"]:
        code, said = soak.command.asked("gc", run)  # the containers of others are theirs
        if code:
            yield f"gc: exit {code}: {said[-300:]}"
    if left := soak.containers(engine):
        yield f"{len(left)} containers are left"
    if files := [each.name for each in (soak.place / "tmp").iterdir()]:
        yield f"{len(files)} temporary files are left: {files[:3]}"
    if processes := _processes(f"TMPDIR={soak.place / 'tmp'}"):
        yield f"{len(processes)} processes are left: {processes[:3]}"
    if left_mounted := mounted(soak.place.parent) - mounts:
        yield f"{len(left_mounted)} mounts are left: {sorted(left_mounted)[:3]}"
    said = (soak.place / "said").read_text(errors="replace")
    if "Traceback" in said or "a mistake in sandbox" in said:
        yield "a traceback was shown"
    for use in soak.uses:
        yield from use.grown()


def mounted(folder: Path) -> set[str]:
    """Return where something is mounted below a folder, the data of an engine of its own among it.

    Others mount elsewhere meanwhile.
    """
    points = (line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines())
    return {point for point in points if Path(point).is_relative_to(folder)}


def _processes(variable: str) -> list[int]:
    found = []
    for each in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if variable.encode() in each.read_bytes().split(b"\0"):
                found.append(int(each.parent.name))
    return found


def main() -> int:
    """Do it, and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=10_000)
    parser.add_argument("--every", type=int, default=50)
    parser.add_argument("--at-once", type=int, default=4)
    parser.add_argument("--shared", action="store_true", help="harm no engine")
    options = parser.parse_args()
    # Whoever ends us finds no engine, mount or process of ours afterwards.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        place = Path(folder)
        with own_engine.started(place / "engine", shared=options.shared) as own:
            soak = Soak(place / "soak", options.trials, options.every, options.at_once)
            engine, began, before = engines.connect(), time.monotonic(), mounted(place)
            turns = faults(own, reach()[0])
            soaked(soak, turns, lambda line: print(line, flush=True))  # noqa: T201
            found = list(problems(soak, engine, before))
            seconds = time.monotonic() - began
            engine.close()
    print(f"{options.trials} trials in {seconds:.0f} s, {len(soak.uses) - 1} restarts")  # noqa: T201
    for name, times in sorted(soak.faults.items()):
        print(f"  {times:4} {name}")  # noqa: T201
    print("\n".join(found) or "nothing lost, doubled or left")  # noqa: T201
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
