"""The supervisor's C: headers match files, and no file calls another in a circle."""

import graphlib
import re
from collections.abc import Iterator
from pathlib import Path

from sandbox.container.supervisor.compiler import FLAGS, SOURCE

_COMMENT = re.compile(r"/\*.*?\*/|\"(?:\\.|[^\"\\])*\"", re.DOTALL)
_DECLARED = re.compile(r"^(?!typedef|static|#|\s)[^=;{}()]*?\b(\w+)\([^;{}]*\);", re.MULTILINE)
_DEFINED = re.compile(r"^(?!static|typedef|#|\s)[^=;{}()]*?\b(\w+)\([^;{}]*\) \{", re.MULTILINE)


def text(path: Path) -> str:
    """A file without comments and strings."""
    return _COMMENT.sub("", path.read_text(encoding="utf-8"))


def defined() -> dict[str, str]:
    """By function: the file, without its ending, that defines it for others."""
    return {name: path.stem for path in SOURCE.glob("*.c") for name in _DEFINED.findall(text(path))}


def calls() -> Iterator[tuple[str, str]]:
    """Which file uses a function of which other one."""
    where = defined()
    for path in SOURCE.glob("*.c"):
        for name in set(re.findall(r"(?<![\w.>])(\w+)\(", text(path))) & set(where):
            if where[name] != path.stem:
                yield path.stem, where[name]


ELSEWHERE = {"job_start": "job", "sha256_x86": "sha256", "stopped": "exec"}
"""Files that are the second half of another one, whose header they share."""


def test_what_a_header_declares_its_file_defines() -> None:
    where = defined()
    declared = 0
    for header in SOURCE.glob("*.h"):
        for name in _DECLARED.findall(text(header)):
            declared += 1
            file = where[name]
            assert ELSEWHERE.get(file, file) == header.stem, f"{header.name} declares {name}"
    assert declared > 100


def test_no_file_calls_another_in_a_circle() -> None:
    graph: dict[str, set[str]] = {}
    for caller, called in calls():
        caller, called = (ELSEWHERE.get(each, each) for each in (caller, called))
        if caller != called:
            graph.setdefault(caller, set()).add(called)
    assert sum(map(len, graph.values())) > 60
    tuple(graphlib.TopologicalSorter(graph).static_order())


def test_it_is_compiled_strictly() -> None:
    assert {"-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Werror"} <= set(FLAGS)
