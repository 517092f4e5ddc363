"""The case of a seed's recorded calls: what upstream's tests call, with other values as well."""

from collections.abc import Sequence
from typing import Any

from sandbox.model.seed import Seed

CASE, FILE = "recorded-calls", "cases.yaml"
SENTENCE = "Other values than those of the tests count too."
"""What the prompt says of it."""
TIMES = 40
"""How many scripts are drawn for a grading."""
FINITE = "They are the values that upstream's tests call with, and such as look alike."


def case_file(scripts: Sequence[Sequence[str]]) -> dict[str, Any]:
    """Give what the file of cases holds."""
    draw = {"draw": "script", "of": [list(lines) for lines in scripts]}
    case = {
        "id": CASE,
        "subject": "calls",
        "times": TIMES,
        "input": {"lines": draw},
        "expect": {"undamaged": True},
        "finite": FINITE,
    }
    return {"subjects": {"calls": {"kind": "script"}}, "cases": [case]}


def add(task: dict[str, Any], seed: Seed, fix: str) -> dict[str, Any]:
    """Have a task graded by the calls of its seed as well; give the cases, where there are any."""
    if not seed.calls:
        return {}
    task["tests"]["cases"] = {"file": FILE, "undamaged": fix, "fail_to_pass": [CASE]}
    task["statements"].append({"says": SENTENCE, "facts": [f"case {CASE}"]})
    return case_file(seed.calls)
