"""A small task, for tests that need one of any kind."""

import json

from pydantic import JsonValue

from sandbox.model.task import Task


def task(**fields: JsonValue) -> Task:
    """A whole task; fields that are given take the place of the usual ones."""
    usual: dict[str, JsonValue] = {
        "id": "toy/task",
        "facet": "edit_test_loop",
        "title": "A toy",
        "prompt": "Do it.",
        "image": "python",
        "world": {"release": "1.0"},
        "scope": {"must": ["src/a.py"], "may": ["src/**"], "user": ["notes.md"]},
        "tests": {
            "framework": "pytest",
            "command": "python -m pytest -q",
            "hidden": "hidden",
            "fail_to_pass": ["a"],
            "pass_to_pass": [],
        },
        "oracle": [{"action": "final_answer", "arguments": {"fields": {}}}],
    }
    return Task.model_validate_json(json.dumps({**usual, **fields}))
