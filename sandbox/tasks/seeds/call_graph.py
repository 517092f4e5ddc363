"""How far a defect is from a test, in calls: by names alone, so for any language."""

from collections.abc import Iterable

from sandbox.tasks.seeds.languages import Source


class CallGraph:
    """Which names are called in the body of each name, over all files of a repository."""

    def __init__(self, sources: Iterable[Source]) -> None:
        self._calls: dict[str, set[str]] = {}
        for source in sources:
            for name, body in source.definitions:
                self._calls.setdefault(name, set()).update(source.calls(body))

    def distance(self, callers: Iterable[str], function: str) -> int | None:
        """Count the calls from any of the names that a test calls to a function; at least 1.

        None where nothing leads there.
        """
        seen: set[str] = set()
        reached = set(callers)
        steps = 1
        while reached:
            if function in reached:
                return steps
            seen |= reached
            reached = {name for caller in reached for name in self._calls.get(caller, ())} - seen
            steps += 1
        return None
