"""Signs in how much passes: facets that are too easy, operators that cost nobody anything."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from sandbox.model.audit import Sign
from sandbox.run.audit.path_signs import FEW, Judged

TARGET = 0.4
"""The share of an agent's runs that may pass in a facet, by the essay that the project is from."""
MINIMAL = "minimal"
"""The mode in which it counts: what is left to fail at is not spelling."""


def target(runs: Sequence[Judged], oracles: Sequence[Judged]) -> Sign:
    """Sign 8: an agent passes too much of a facet, or an oracle does not pass."""
    question = "Does an agent with the minimal harness pass 40 % of a facet, or an oracle not?"
    by_facet: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for run in runs:
        if run.mode == MINIMAL:
            by_facet[run.facet, run.agent].append(run.passed)
    enough = {key: passed for key, passed in by_facet.items() if len(passed) >= FEW}
    easy = [key for key, passed in enough.items() if sum(passed) / len(passed) >= TARGET]
    solved = sum(run.passed for run in oracles)
    rows = [f"{facet}: {agent} {_share(by_facet[facet, agent])}" for facet, agent in by_facet]
    if easy or solved < len(oracles):
        status = "warning"
    else:
        status = "clear" if enough and oracles else "unknown"
    few = len(by_facet) - len(enough)
    return Sign.model_validate(
        {
            "name": "target",
            "question": question,
            "status": status,
            "value": f"{len(easy)} of {len(enough)} facets too easy for an agent, oracles "
            f"{solved}/{len(oracles)}" + (f"; {few} with fewer than {FEW} runs" if few else ""),
            "details": tuple(sorted(rows)),
        }
    )


def costless(runs: Sequence[Judged]) -> Sign:
    """Sign 9: every run passed that had an operator in it."""
    question = "Are there operators that cost nobody anything?"
    used: dict[str, list[bool]] = defaultdict(list)
    for run in runs:
        for operator in run.operators:
            used[operator.partition(".")[0]].append(run.passed)
    enough = {name: passed for name, passed in used.items() if len(passed) >= FEW}
    idle = sorted(name for name, passed in enough.items() if all(passed))
    if not enough:
        most = max(map(len, used.values()), default=0)
        value = f"{most} runs of an operator at most, {FEW} are needed"
        return Sign(name="operators", question=question, status="unknown", value=value)
    return Sign(
        name="operators",
        question=question,
        status="warning" if idle else "clear",
        value=f"{len(idle)} of {len(enough)} operators" + (f": {', '.join(idle)}" if idle else ""),
        details=tuple(_sorted(used)),
    )


def _sorted(used: Mapping[str, Sequence[bool]]) -> list[str]:
    """List the operators, those that cost most first."""
    order = sorted(used, key=lambda name: (sum(used[name]) / len(used[name]), name))
    return [f"{name}: {_share(used[name])}" for name in order]


def _share(passed: Sequence[bool]) -> str:
    return f"{sum(passed)}/{len(passed)} passed"
