"""A small plan: look, fix and answer, and a trap that fixes without a look."""

import json
from collections.abc import Mapping

from pydantic import JsonValue

from sandbox.model.plan import Plan


def plan(
    segment: Mapping[str, JsonValue], way: Mapping[str, JsonValue], **fields: JsonValue
) -> Plan:
    """Return the plan; what is given takes the place of what `fix` and the trap hold."""
    fix: dict[str, JsonValue] = {
        "id": "fix",
        "to": "fixed",
        "milestone": "fixed",
        "sets": {"clean": True},
        "does": [
            {"label": "happened", "event": "stashed"},
            {
                "label": "patch",
                "action": "apply_patch",
                "arguments": {"patch": "p"},
                "changes": ["a.py"],
            },
            {"label": "test", "action": "run_tests", "result": {"exit_code": 0}},
        ],
    }
    trap: dict[str, JsonValue] = {"id": "blindly", "from": "fresh", "like": "fix"}
    usual: dict[str, JsonValue] = {
        "start": "fresh",
        "says": "nothing is known",
        "variables": {"clean": [False, True]},
        "segments": [
            {
                "id": "look",
                "to": "told",
                "does": [
                    {"label": "read", "action": "read_file", "arguments": {"path": "a.py"}},
                    {"action": "git_diff"},
                ],
            },
            {**fix, **segment},
            {
                "id": "answer",
                "to": "done",
                "right": {"clean": True},
                "ends": "answer",
                "does": [{"label": "answer", "action": "final_answer"}],
            },
        ],
        "ways": [{**trap, **way}],
        "states": {"lost": {"says": "left", "right": False}},
    }
    return Plan.model_validate_json(json.dumps({**usual, **fields}))
