"""Variants: laying a world's layer, a session that has one, and drawing them."""

from dataclasses import replace
from functools import partial
from statistics import median

from sandbox.container.engines.base import Engine, Session
from sandbox.model.layer import LaidCommit, LaidFile, Layer
from sandbox.run.laid_worlds import LaidWorlds
from sandbox.run.run_containers import begin
from sandbox.tasks import library
from sandbox.tasks.images import BuiltImage
from sandbox.tasks.library import LoadedTask
from sandbox.tasks.suites import Wanted, generate
from sandbox.tasks.suites.generator import facets
from sandbox.tasks.suites.levels import levels
from tests.bench.clock import Measure, interleaved, milliseconds
from tests.bench.fixture import TASK, open_session, prepared

MEGABYTE = 1 << 20
LAID_MS = 30
DRAWN_MS = 12
"""10,000 in a minute on two processors."""
SEED = 99
ROUNDS = 15


def measure() -> list[Measure]:
    with prepared() as (engine, task, image):
        return [*_laid(engine, task, image), _ready(engine, task, image), *_drawn()]


def _laid(engine: Engine, task: LoadedTask, image: BuiltImage) -> list[Measure]:
    """A commit of 1 MB in 16 files, at first and again; the sessions are started beforehand."""
    text = "x" * 63 + "\n"
    files = tuple(
        LaidFile(path=f"laid/{number}.txt", text=f"{number}\n" + text * (MEGABYTE // 64 // 16))
        for number in range(16)
    )
    made = LaidCommit(message="docs: much", date="2025-05-20T08:00:00+00:00", files=files)
    world = task.task.world.model_copy(update={"layer": Layer(commits=(made,))})
    laid = replace(task, task=task.task.model_copy(update={"world": world}))
    first: list[float] = []
    again: list[float] = []
    for _ in range(ROUNDS):
        worlds = LaidWorlds()
        for taken in (first, again):
            with open_session(engine, image.tag) as session:
                taken.append(milliseconds(partial(worlds.lay, session, laid, image)))
    return [
        (f"1 MB laid over a world, {when}", "the bound, ms", median(taken), LAID_MS, 1, False)
        for when, taken in (("at first", first), ("again", again))
    ]


def _ready(engine: Engine, task: LoadedTask, image: BuiltImage) -> Measure:
    """From nothing to a session in the state that an agent finds."""
    variant = library.load(f"{TASK}+change-desk.5+missing-argument.5+stale-record.5+decoy-tools.5")
    opened: list[Session] = []
    try:
        ours, floor = interleaved(
            ROUNDS,
            lambda: opened.append(begin(engine, variant, image, "bench")),
            lambda: opened.append(begin(engine, task, image, "bench")),
        )
    finally:
        for session in opened:
            session.close()
    return ("session of a variant ready", "of its task", ours, floor, 1.2, False)


def _drawn() -> list[Measure]:
    """Each facet at each level, from the second on; the first has few variants."""
    count = 4
    heights = list(levels())[1:]
    wanted = [Wanted(facet, level, count, SEED) for facet in facets() for level in heights]
    found: list[object] = []
    taken = milliseconds(lambda: [generate(each, found.append) for each in wanted])
    what = f"a variant drawn and checked, of {len(found)}"
    return [(what, "the bound, ms", taken / len(found), DRAWN_MS, 1, False)]
