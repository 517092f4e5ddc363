"""What the runner printed about tests that failed: for people, since no verdict rests on it."""

import re

_SUMMARY = "short test summary info"
_WHERE = re.compile(r"^\S+:\d+: .+$")
_NAMED = re.compile(r"^(?:FAILED|ERROR) (\S+::.+?)(?: - (.*))?$")


def assertions(log: str, tests: list[str]) -> dict[str, str]:
    """Find, by test id, what is said of tests in a log; of some nothing may be found."""
    found: dict[str, str] = {}
    pytest = _pytest(log)
    for test in tests:
        if test in pytest:
            found[test] = pytest[test]
        elif said := [line.strip() for line in log.split("\n") if test in line]:
            found[test] = "\n".join(said[:5])
    return found


def _pytest(log: str) -> dict[str, str]:
    """Join pytest's two lists, which name failures in one order: where and why, then the ids.

    The second list cuts what it says to a line's length. The log may have lost its beginning, so
    the lists are joined from their ends, and only where one begins as the other does.
    """
    found: dict[str, str] = {}
    where: list[str] = []
    for number, part in enumerate(log.split(_SUMMARY)):
        lines = part.split("\n")
        named = [each for each in map(_NAMED.match, lines) if each and number]
        for place, each in enumerate(reversed(named), 1):
            said = each[2] or ""
            whole = where[-place] if place <= len(where) else ""
            found[each[1]] = whole if said.rstrip(".") in whole else said
        where = [line for line in lines if _WHERE.match(line)]
    return {test: said for test, said in found.items() if said}
