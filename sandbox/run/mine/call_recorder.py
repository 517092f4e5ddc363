"""A plugin of pytest that writes down what tests call of a project, as lines of Python.

It runs in a container, beside `call_values.py`, Python's own library and pytest. `RECORDED` in the
environment names a file of JSON, `{"sources": [...], "tests": [...], "into": PATH}`; `into` gets a
line for each test that calls something: `{"test": ID, "lines": [...]}`. A line is
`module:attribute(...)` or, of what an earlier line gave, `_0.method(...)`. A function that is
handed over has a line of its own: its name, or what it is where a test made it and it is an
expression. What cannot be written down as a value is left out, and so are calls of the project's
by itself.
"""

import contextlib
import datetime
import inspect
import json
import os
import re
import sys
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import Any

import pytest

from sandbox.run.mine.call_values import (
    Unwritable,
    attribute,
    made_by_a_test,
    members,
    named,
    real,
    shown,
)

MOST_LINES, LONGEST, DEEPEST = 30, 300, 6
"""Lines of a test, characters of a line, and depth of a value."""
MOST_BEFORE = 1000
"""Lines of what is called to load all test files, or to prepare a test."""
MARK = re.compile("\0([0-9]+)\0")
BEGUN = 8
"""Up to here in its bytecode a generator has only been made."""
RESUMED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
ITERATORS: tuple[type, ...] = (type(iter([])), type(iter(())))
"""Of a list and of a tuple: what is left of them can be written."""
OF_TIME = {"time", "time_ns", "monotonic", "perf_counter", "localtime", "gmtime", "strftime"}
OF_DATES = {"now", "today", "utcnow"}
"""Functions of the module time and of datetime's classes that tell the time."""
ABOUT = json.loads(open(os.environ["RECORDED"]).read())  # noqa: PTH123, SIM115 - short
SOURCES, TESTS = ({os.path.realpath(path) for path in ABOUT[key]} for key in ("sources", "tests"))


class Recorder:
    """What is called while test files are loaded, while tests are prepared, and by each test.

    A line that refers to what another one gave has the other's number between NULs, as `_mark`
    writes it, until a script is made of them.
    """

    def __init__(self) -> None:
        self.of_the_hour = False
        """Whether the project has looked at the clock: what it gives is another thing tomorrow."""
        self._lines: list[str] = []
        self._begun = self._room = 0
        """How many lines there were when the present part began, and how many there may be."""
        self._known: dict[int, tuple[int, object]] = {}
        self._running: dict[FrameType, int] = {}

    def begin(self, most: int) -> None:
        """Begin to load, to prepare or to run a test, which may add so many lines."""
        self._begun, self.of_the_hour = len(self._lines), False
        self._room = self._begun + most
        self._running.clear()

    def forget(self) -> None:
        """Take back what was added since."""
        self._forget(self._begun)

    def script(self) -> list[str]:
        """Give what the test that has ended called, and all that was made before and is needed."""
        start = self._begun
        needed: set[int] = set()
        left = [*range(start, len(self._lines))]
        while left:
            number = left.pop()
            if number not in needed:
                needed.add(number)
                left += map(int, MARK.findall(self._lines[number]))
                left += self._done_with(number, start)
        places = {str(number): place for place, number in enumerate(sorted(needed))}
        found = [self._lines[number] for number in sorted(needed)]
        return [MARK.sub(lambda each: f"_{places[each[1]]}", line) for line in found]

    def _done_with(self, number: int, start: int) -> list[int]:
        """Give the lines before a test that call methods of what a line gave."""
        called = f"{_mark(number)}."
        return [at for at in range(number, start) if self._lines[at].startswith(called)]

    def on_event(self, frame: FrameType, event: str, value: object) -> None:
        """Take what `sys.setprofile` tells."""
        if event == "c_call" and _reads_the_clock(value) and _is_below(frame, SOURCES):
            self.of_the_hour = True
        if event == "return" and frame in self._running:
            self._known.setdefault(id(value), (self._running.pop(frame), value))
        if event != "call" or not _is_in(frame, SOURCES) or len(self._lines) >= self._room:
            return
        resumed = frame.f_code.co_flags & RESUMED and frame.f_lasti > BEGUN
        if frame.f_back is None or not _is_in(frame.f_back, TESTS) or resumed:
            return
        before = len(self._lines)
        try:
            line, made = self._line(frame)
            number = self._add(line)
        except (Unwritable, AttributeError, KeyError):
            self._forget(before)
            return
        if made is None:
            self._running[frame] = number
        else:
            self._known[id(made)] = (number, made)

    def _add(self, line: str) -> int:
        if len(line) > LONGEST:
            raise Unwritable
        self._lines.append(line)
        return len(self._lines) - 1

    def _forget(self, start: int) -> None:
        """Take back the lines from a number on."""
        del self._lines[start:]
        self._known = {key: each for key, each in self._known.items() if each[0] < start}

    def _line(self, frame: FrameType) -> tuple[str, object]:
        """Write a call; give the object that it makes, where it is that of a class."""
        code, module = frame.f_code, frame.f_globals["__name__"]
        first, rest = _parameters(code)
        owner, _, name = code.co_qualname.rpartition(".")
        if "<" in code.co_qualname:
            raise Unwritable
        if not owner:
            found = getattr(sys.modules[module], name)
            return self._call(f"{module}:{name}", found, [*first, *rest], frame), None
        found = inspect.getattr_static(attribute(module, owner), name)
        if isinstance(found, staticmethod):
            head = f"{module}:{code.co_qualname}"
            return self._call(head, found.__func__, [*first, *rest], frame), None
        of = frame.f_locals[first[0]]
        if name == "__init__":
            return self._call(_place(type(of)), found, rest, frame), of
        if isinstance(of, type):
            return self._call(f"{_place(of)}.{name}", found.__func__, rest, frame), None
        if id(of) not in self._known:
            raise Unwritable
        head = f"{_mark(self._known[id(of)][0])}.{name}"
        if not inspect.isfunction(found):
            return head, None
        return self._call(head, found, rest, frame), None

    def _call(self, head: str, function: Any, names: list[str], frame: FrameType) -> str:  # noqa: ANN401
        """Write the arguments, those that are the defaults left out."""
        values = frame.f_locals
        parameters = inspect.signature(function).parameters
        more, named = _collected(frame.f_code)
        by_place: list[str] = []
        by_name: list[str] = []
        left_out = False
        for name in names:
            kind, default = parameters[name].kind, parameters[name].default
            if values[name] is default and not (more and values[more]):
                left_out = True
            elif left_out or kind is inspect.Parameter.KEYWORD_ONLY:
                by_name.append(f"{name}={self._written(values[name])}")
            else:
                by_place.append(self._written(values[name]))
        by_place += [self._written(each) for each in (values[more] if more else ())]
        others = values[named] if named else {}
        by_name += [f"{name}={self._written(each)}" for name, each in others.items()]
        return f"{head}({', '.join([*by_place, *by_name])})"

    def _written(self, value: object, depth: int = 0) -> str:
        """Write a value that Python reads back as the same one; Unwritable."""
        kind = type(value)
        if value is None or kind in (bool, int, str, bytes):
            return repr(value)
        if id(value) in self._known:
            return _mark(self._known[id(value)][0])
        if kind is float and repr(value)[-1].isdigit():
            return repr(value)
        if depth >= DEEPEST:
            raise Unwritable
        inner = [self._written(each, depth + 1) for each in members(value)]
        if kind is list:
            return f"[{', '.join(inner)}]"
        if kind is tuple:
            return f"({', '.join(inner)}{',' * (len(inner) == 1)})"
        if kind in (set, frozenset):
            return f"{kind.__name__}([{', '.join(sorted(inner))}])"
        if isinstance(value, dict) and kind is dict:
            keys = [self._written(key, depth + 1) for key in value]
            return "{" + ", ".join(map("{}: {}".format, keys, inner)) + "}"
        if kind in ITERATORS:
            reduced: Any = value.__reduce__()
            _, given, *at = reduced
            return f"iter({self._written(given[0][at[0] if at else 0 :], depth + 1)})"
        return shown(value) or self._function(value)

    def _function(self, value: object) -> str:
        """Give a function or a class its own line; Unwritable."""
        number = self._add(named(value, SOURCES) or made_by_a_test(value, TESTS))
        self._known[id(value)] = (number, value)
        return _mark(number)


def _mark(number: int) -> str:
    return f"\0{number}\0"


def _parameters(code: CodeType) -> tuple[list[str], list[str]]:
    """Give the first positional parameter, and the others that have a name of their own."""
    names = [*code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]]
    return (names[:1], names[1:]) if code.co_argcount else ([], names)


def _collected(code: CodeType) -> tuple[str, str]:
    """Give the names of the parameters that take all others, by place and by name; or nothing."""
    left = [*code.co_varnames[code.co_argcount + code.co_kwonlyargcount :]]
    more = left.pop(0) if code.co_flags & inspect.CO_VARARGS else ""
    named = left.pop(0) if code.co_flags & inspect.CO_VARKEYWORDS else ""
    return more, named


def _place(of: type) -> str:
    """Name a class of the project's; Unwritable where it is none, or made in a function."""
    file = os.path.realpath(getattr(sys.modules.get(of.__module__), "__file__", None) or "")
    if "<" in of.__qualname__ or file not in SOURCES:
        raise Unwritable
    return f"{of.__module__}:{of.__qualname__}"


def _is_in(frame: FrameType, files: set[str]) -> bool:
    return real(frame.f_code.co_filename) in files


def _is_below(frame: FrameType | None, files: set[str]) -> bool:
    while frame is not None and not _is_in(frame, files):
        frame = frame.f_back
    return frame is not None


def _reads_the_clock(function: object) -> bool:
    """Whether a function of C tells the time; also where it is given one to turn into words."""
    name, of = getattr(function, "__name__", ""), getattr(function, "__self__", None)
    if getattr(function, "__module__", None) == "time":
        return name in OF_TIME
    return isinstance(of, type) and issubclass(of, datetime.date) and name in OF_DATES


RECORDER = Recorder()


@contextlib.contextmanager
def _recording(most: int) -> Iterator[None]:
    RECORDER.begin(most)
    sys.setprofile(RECORDER.on_event)
    try:
        yield
    finally:
        sys.setprofile(None)


@contextlib.contextmanager
def _preparing() -> Iterator[None]:
    with _recording(MOST_BEFORE):
        yield
    if RECORDER.of_the_hour:
        RECORDER.forget()


@pytest.hookimpl(hookwrapper=True)
def pytest_collection() -> Iterator[None]:
    """Record what is made while test files are loaded."""
    with _preparing():
        yield


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_setup() -> Iterator[None]:
    """Record what is made for tests."""
    with _preparing():
        yield


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Record a test."""
    with _recording(MOST_LINES):
        yield
    lines = RECORDER.script()
    RECORDER.forget()
    if lines and not RECORDER.of_the_hour:
        told = {"test": item.nodeid.partition("[")[0], "lines": lines}
        with open(ABOUT["into"], "a") as file:  # noqa: PTH123 - short
            file.write(json.dumps(told) + "\n")
