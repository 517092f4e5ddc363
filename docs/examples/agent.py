"""The smallest agent in Python: it runs the tests, then gives an answer of the right shape."""

import itertools
import json

numbers = itertools.count(1)
empty = {"string": "", "integer": 0, "number": 0, "boolean": False, "list": []}


def ask(action: str, **arguments: object) -> dict:
    """Send one request and wait for its reply."""
    line = {"id": str(next(numbers)), "action": action, "arguments": arguments}
    print(json.dumps(line), flush=True)  # noqa: T201 - this is the conversation
    return json.loads(input())


briefing = json.loads(input())
tests = ask("run_tests")
ask("final_answer", fields={name: empty[kind] for name, kind in briefing["final"].items()})
