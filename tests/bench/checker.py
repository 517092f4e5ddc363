"""The checker on a product of at least 100,000 states: a ring of switches, and rules that count."""

import json

from sandbox.model.graph import Graph
from sandbox.model.rule import AtMost, Precedes, Rule
from sandbox.rules.checker.check import check_graph
from tests.bench.clock import Measure, milliseconds

STATES = 100_000
SWITCHES = 12
WHY = {"reason": "It is measured.", "stated_in": "prompt"}


def graph() -> Graph:
    """Switches that are turned on and off in any order; the run ends when all are on."""
    names = [f"s{number}" for number in range(SWITCHES)]
    edges = [
        {
            "id": f"{word}-{name}",
            "from": "room",
            "when": {name: not on},
            "sets": {name: on},
            "does": [{"action": "run_command", "arguments": {"command": f"{word} {name}"}}],
        }
        for name in names
        for word, on in (("on", True), ("off", False))
    ]
    done = {"id": "answer", "from": "room", "to": "over", "ends": "answer"}
    data = {
        "start": "room",
        "variables": {name: [False, True] for name in names},
        "states": {"room": {}, "over": {"right": dict.fromkeys(names, True)}},
        "edges": [*edges, done],
    }
    return Graph.model_validate_json(json.dumps(data))


def rules() -> tuple[Rule, ...]:
    def command(pattern: str) -> dict[str, object]:
        return {"action": "run_command", "arguments": {"command": pattern}}

    return (
        AtMost.model_validate(
            {"id": "few", "template": "at_most", "a": command("off"), "n": 3, **WHY}
        ),
        *(
            Precedes.model_validate(
                {
                    "id": f"order-{number}",
                    "template": "precedes",
                    "a": command(f"on s{number}$"),
                    "b": command(f"on s{number + 1}$"),
                    **WHY,
                }
            )
            for number in range(0, 4, 2)
        ),
    )


def measure() -> list[Measure]:
    world, kept = graph(), rules()
    report = check_graph("switches", world, kept, ())
    assert report.complete
    assert report.sound
    assert report.states >= STATES
    taken = milliseconds(lambda: check_graph("switches", world, kept, ()))
    what = f"the checker on {report.states:,} states, {report.transitions:,} transitions"
    return [(what, "the bound, ms", taken, 10_000, 1, False)]
