"""Harm by disks: too small a one for runs, one that cannot be written any more, hostile trees."""

import random
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import yaml

from sandbox.container.engines.base import Engine
from sandbox.run.capacity import HARNESS_BYTES
from tests.chaos.fault import Kind, Strike
from tests.chaos.runs import Harmed, problems

HOSTILE: list[str] = yaml.safe_load(Path(__file__).with_name("hostile.yaml").read_text())
"""Each by an agent that then does nothing more: its verdict is `failed`."""


def kinds(engine: Engine, environment: Mapping[str, str]) -> dict[str, Kind]:
    """Give all kinds, by name; the first two mount, which only root may."""

    def small(chance: random.Random, place: Path) -> tuple[str, Sequence[str]]:
        size = chance.randint(4, 500) << 12
        harmed = Harmed(place, environment, chance.choice(("null", "oracle")))
        with mounted(harmed.runs, f"size={size}"):
            ended = harmed.begin().end()
            found = [*_hangs(ended), *problems(engine, harmed)]
        return f"{size >> 10} KiB, exit {harmed.code}", found

    def read_only(chance: random.Random, place: Path) -> tuple[str, Sequence[str]]:
        harmed, moment = Harmed(place, environment), chance.uniform(0, 6)
        with mounted(harmed.runs, "size=64M"):
            harmed.begin()
            time.sleep(moment)
            # A file system with files that are written to cannot become read-only itself.
            with over(harmed.runs, "ro"):
                ended = harmed.end()
            found = [*_hangs(ended), *problems(engine, harmed)]
        return f"after {moment:.1f} s, exit {harmed.code}", found

    def hostile(chance: random.Random, place: Path) -> tuple[str, Sequence[str]]:
        lines = chance.sample(HOSTILE, chance.choice((1, 1, 2)))
        return "; ".join(lines)[:120], left_behind(lines, engine, environment, place)

    strikes: dict[str, Strike] = {
        "runs on a disk that is full": small,
        "runs out of reach, read-only": read_only,
        "a hostile tree": hostile,
    }
    return {name: Kind(name, strike) for name, strike in strikes.items()}


def left_behind(
    lines: Sequence[str], engine: Engine, environment: Mapping[str, str], place: Path
) -> list[str]:
    """Say what does not hold of a run whose agent does nothing but these commands."""
    script = [
        {"action": "run_command", "arguments": {"command": line, "timeout_seconds": 30}}
        for line in lines
    ]
    (place / "agent.yaml").write_text(yaml.safe_dump(script))
    harmed = Harmed(place, environment, str(place / "agent.yaml")).begin()
    ended = harmed.end()
    found = [*_hangs(ended), *problems(engine, harmed)]
    if ended and harmed.code not in (1, 4):
        found.append(f"exit {harmed.code} in place of `failed`: {harmed.said[-300:]}")
    if harmed.peak_bytes > HARNESS_BYTES:
        found.append(f"the harness took {harmed.peak_bytes >> 20} MiB")
    return found


@contextmanager
def mounted(folder: Path, options: str) -> Iterator[None]:
    """A folder with a file system in memory, as long as it is used."""
    folder.mkdir()
    with over(folder, options):
        yield


@contextmanager
def over(folder: Path, options: str) -> Iterator[None]:
    """Another file system in memory in front of what a folder holds."""
    subprocess.run(("mount", "-t", "tmpfs", "-o", options, "chaos", folder), check=True)
    try:
        yield
    finally:
        subprocess.run(("umount", "-l", folder), check=True)


def _hangs(ended: bool) -> list[str]:
    return [] if ended else ["it hangs"]
