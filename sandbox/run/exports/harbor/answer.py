"""Compares an answer with what is expected: `answer.py ANSWER EXPECTED`, both JSON objects."""

import json
import sys
from pathlib import Path


def same(said: object, right: object) -> bool:
    """Compare values and their types: true is not 1, and 1 is not 1.0."""
    return json.dumps(said, sort_keys=True) == json.dumps(right, sort_keys=True)


answer, expected = (json.loads(Path(name).read_text()) for name in sys.argv[1:3])
wrong = [name for name, right in expected.items() if not same(answer.get(name), right)]
print(*wrong)  # noqa: T201 - this is a program
sys.exit(bool(wrong))
