"""The names by which agents know tasks."""

import hashlib


def alias(name: str) -> str:
    """Return the name by which an agent knows a task.

    That of a variant would tell it what to look out for: it is the task's, with some digits of a
    digest.
    """
    base, operators, _ = name.partition("+")
    return f"{base}@{hashlib.sha256(name.encode()).hexdigest()[:8]}" if operators else name
