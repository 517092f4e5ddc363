"""The page of an experiment: all its runs at once, and from any number to the runs behind it."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from sandbox.cli.pages.page import rendered
from sandbox.cli.pages.plots import Library, Line, Plot
from sandbox.grading import dimensions
from sandbox.grading.metrics.distribution import quantile, worst_mean
from sandbox.grading.reports import pass_rate
from sandbox.grading.run_lines import RunLine
from sandbox.model.report import Estimate

SIZES = ("turns", "seconds", "tokens", "cost")
SHARES = (0.5, 0.9, 0.95, 0.99)
DIMENSIONS = ("facet", "operator")
"""By which what passed is shown."""


class Keys:
    """Short words for what runs have in common, by which the page shows those of a number."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], str] = {}

    def of(self, **common: str) -> str:
        """Give the words for values of some kinds: `facet="permission"`."""
        return " ".join(map(self._word, common.items()))

    def of_run(self, line: RunLine) -> str:
        """Give all words that hold of a run."""
        run = line.measured
        common = [("agent", run.agent), ("word", line.record.word), ("how", _how(line))]
        common += [("cause", run.cause), ("graded", "yes" if run.graded else "")]
        common += [("size", each) for each in line.sizes]
        common += [(name, value) for name in DIMENSIONS for value in dimensions.values(run, name)]
        return " ".join(self._word(each) for each in common if each[1])

    def _word(self, common: tuple[str, str]) -> str:
        return self._known.setdefault(common, f"k{len(self._known)}")


@dataclass(frozen=True, slots=True)
class Size:
    """How far an experiment is."""

    planned: int
    begun: int
    gone: int
    """Runs of it whose folders are not there any more."""


@dataclass(frozen=True, slots=True)
class Rate:
    """How many of some runs passed."""

    passed: int
    graded: int
    estimate: Estimate | None


@dataclass(frozen=True, slots=True)
class Tail:
    """How large the runs of one agent were."""

    agent: str
    size: str
    runs: int
    quantiles: tuple[float, ...]
    """Those of SHARES."""
    worst: float
    """The mean of the worst 5 %."""


@dataclass(frozen=True, slots=True)
class Row:
    """A task, or a facet, by agents."""

    name: str
    facet: str
    cells: Sequence[Sequence[RunLine]]
    rates: Sequence[Rate]


def experiment_page(
    name: str, lines: Sequence[RunLine], size: Size, library: Library, *, home: str = ""
) -> str:
    """Make the page; `home` is where runs have pages, empty for a page that stands alone."""
    agents = sorted({line.measured.agent for line in lines})
    plots = _plots(lines, agents)
    return rendered(
        "experiment.html",
        library.scripts if plots else (),
        home=home,
        name=name,
        counts=Counter(line.record.word for line in lines),
        size=size,
        agents=agents,
        groups={dimension: _rows(lines, agents, dimension) for dimension in DIMENSIONS},
        tasks=_rows(lines, agents, "task"),
        causes=_table(lines, agents, lambda line: line.measured.cause),
        ends=_table(lines, agents, _how),
        shares=SHARES,
        tails=list(_tails(lines, agents)),
        plots=[plot.data() for plot in plots],
        library=library,
        keys=Keys(),
        lines=sorted(lines, key=lambda line: (line.measured.task, line.measured.agent)),
    )


def _how(line: RunLine) -> str:
    return (line.measured.how or "").replace("_", " ")


def _of(lines: Iterable[RunLine], agent: str) -> list[RunLine]:
    return [line for line in lines if line.measured.agent == agent]


def _rows(lines: Sequence[RunLine], agents: Sequence[str], dimension: str) -> list[Row]:
    """Runs by a value of a dimension and by agent; a run may have several values."""
    groups: dict[str, list[RunLine]] = {}
    for line in lines:
        for name in dimensions.values(line.measured, dimension):
            groups.setdefault(name, []).append(line)
    found = []
    for name, group in sorted(groups.items()):
        cells = [_of(group, agent) for agent in agents]
        facet = dimensions.values(group[0].measured, "facet")[0]
        found.append(Row(name, facet, cells, [_rate(cell) for cell in cells]))
    return found


def _rate(lines: Sequence[RunLine]) -> Rate:
    runs = [line.measured for line in lines]
    graded = sum(run.graded for run in runs)
    return Rate(sum(run.passed for run in runs), graded, pass_rate(runs))


def _table(
    lines: Sequence[RunLine], agents: Sequence[str], key: Callable[[RunLine], str]
) -> list[tuple[str, list[list[RunLine]]]]:
    """Runs by a word and by agent, the commonest word first."""
    counted = Counter(filter(None, map(key, lines)))
    return [
        (word, [[line for line in _of(lines, agent) if key(line) == word] for agent in agents])
        for word, _ in sorted(counted.items(), key=lambda each: (-each[1], each[0]))
    ]


def _tails(lines: Sequence[RunLine], agents: Sequence[str]) -> Iterator[Tail]:
    for size in SIZES:
        for agent in agents:
            if ordered := _sizes(_of(lines, agent), size):
                quantiles = tuple(quantile(ordered, share) for share in SHARES)
                yield Tail(agent, size, len(ordered), quantiles, worst_mean(ordered))


def _sizes(lines: Iterable[RunLine], size: str) -> list[float]:
    """Sizes of graded runs, in ascending order."""
    graded = [line for line in lines if line.measured.graded and size in line.sizes]
    return sorted(line.sizes[size] for line in graded)


def _plots(lines: Sequence[RunLine], agents: Sequence[str]) -> list[Plot]:
    by_agent = {agent: _of(lines, agent) for agent in agents}
    found = [
        Plot(f"Share of runs with at most so many {size}", size, "share of runs", curves)
        for size in SIZES
        if (curves := list(_curves(by_agent, size)))
    ]
    price = next((size for size in ("cost", "tokens", "turns") if _all_tell(lines, size)), None)
    if price is not None:
        points = list(_points(by_agent, price))
        found.append(
            Plot(f"{price} against success", f"mean {price}", "passed", points, points=True)
        )
    return found


def _all_tell(lines: Sequence[RunLine], size: str) -> bool:
    graded = [line for line in lines if line.measured.graded]
    return bool(graded) and all(size in line.sizes for line in graded)


def _curves(by_agent: dict[str, list[RunLine]], size: str) -> Iterator[Line]:
    """How large a share of the runs is at most so large, by agent."""
    for agent, lines in by_agent.items():
        if ordered := _sizes(lines, size):
            shares = {x: (place + 1) / len(ordered) for place, x in enumerate(ordered)}
            yield Line(agent, [0.0, *shares], [0.0, *shares.values()])


def _points(by_agent: dict[str, list[RunLine]], size: str) -> Iterator[Line]:
    for agent, lines in by_agent.items():
        sizes, rate = _sizes(lines, size), _rate(lines)
        if sizes and rate.estimate:
            yield Line(agent, [sum(sizes) / len(sizes)], [rate.estimate.value])
