"""A plugin of pytest that writes down what tests call of a project, as lines of Python.

It runs in a container, beside nothing but Python's own library and pytest. `RECORDED` in the
environment names a file of JSON, `{"sources": [...], "tests": [...], "into": PATH}`; `into` gets a
line for each test that calls something: `{"test": ID, "lines": [...]}`. A line is
`module:attribute(...)` or, of what an earlier line gave, `_0.method(...)`. What cannot be written
down as a value is left out, and so are calls of the project's by itself.
"""

import builtins
import datetime
import functools
import inspect
import json
import operator
import os
import sys
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import Any

import pytest

MOST_LINES, LONGEST, DEEPEST = 30, 300, 6
"""Lines of a script, characters of a line, and depth of a value."""
BEGUN = 8
"""Up to here in its bytecode a generator has only been made."""
RESUMED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
NAMED = {
    *("datetime.date", "datetime.datetime", "datetime.time", "datetime.timedelta"),
    *("datetime.timezone", "decimal.Decimal", "fractions.Fraction", "builtins.range"),
}
"""Classes of values that are written as they show themselves."""
OF_TIME = {"time", "time_ns", "monotonic", "perf_counter", "localtime", "gmtime", "strftime"}
OF_DATES = {"now", "today", "utcnow"}
"""Functions of the module time and of datetime's classes that tell the time."""
ABOUT = json.loads(open(os.environ["RECORDED"]).read())  # noqa: PTH123, SIM115 - short
SOURCES, TESTS = ({os.path.realpath(path) for path in ABOUT[key]} for key in ("sources", "tests"))


class Unwritable(Exception):  # noqa: N818 - it is no error
    """A value that no line can hold."""


class Recorder:
    """What one test calls."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.of_the_hour = False
        """Whether the project has looked at the clock: what it gives is another thing tomorrow."""
        self._known: dict[int, tuple[int, object]] = {}
        self._running: dict[FrameType, int] = {}

    def on_event(self, frame: FrameType, event: str, value: object) -> None:
        """Take what `sys.setprofile` tells."""
        if event == "c_call" and _reads_the_clock(value) and _is_below(frame, SOURCES):
            self.of_the_hour = True
        if event == "return" and frame in self._running:
            self._known.setdefault(id(value), (self._running.pop(frame), value))
        if event != "call" or not _is_in(frame, SOURCES) or len(self.lines) >= MOST_LINES:
            return
        resumed = frame.f_code.co_flags & RESUMED and frame.f_lasti > BEGUN
        if frame.f_back is None or not _is_in(frame.f_back, TESTS) or resumed:
            return
        try:
            line, made = self._line(frame)
        except (Unwritable, AttributeError, KeyError):
            return
        if len(line) <= LONGEST:
            if made is None:
                self._running[frame] = len(self.lines)
            else:
                self._known[id(made)] = (len(self.lines), made)
            self.lines.append(line)

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
        found = inspect.getattr_static(_attribute(module, owner), name)
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
        head = f"_{self._known[id(of)][0]}.{name}"
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
            return f"_{self._known[id(value)][0]}"
        if kind is float and repr(value)[-1].isdigit():
            return repr(value)
        if depth >= DEEPEST:
            raise Unwritable
        inner = [self._written(each, depth + 1) for each in _members(value)]
        if kind is list:
            return f"[{', '.join(inner)}]"
        if kind is tuple:
            return f"({', '.join(inner)}{',' * (len(inner) == 1)})"
        if kind in (set, frozenset):
            return f"{kind.__name__}([{', '.join(sorted(inner))}])"
        if isinstance(value, dict) and kind is dict:
            keys = [self._written(key, depth + 1) for key in value]
            return "{" + ", ".join(map("{}: {}".format, keys, inner)) + "}"
        return _shown(value)


def _members(value: object) -> Iterator[object]:
    if isinstance(value, dict):
        return iter(value.values())
    return iter(value) if isinstance(value, list | tuple | set | frozenset) else iter(())


def _shown(value: object) -> str:
    """Write a value of Python's own library, or the name of what is built in."""
    module, text = type(value).__module__, repr(value)
    if f"{module}.{type(value).__qualname__}" in NAMED and " object at " not in text:
        return text if module == "builtins" or text.startswith(module) else f"{module}.{text}"
    called = getattr(value, "__name__", "")
    if isinstance(called, str) and getattr(builtins, called, None) is value:
        return called
    if isinstance(called, str) and getattr(operator, called, None) is value:
        return f"operator.{called}"
    raise Unwritable


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


def _attribute(module: str, path: str) -> Any:  # noqa: ANN401
    found: Any = sys.modules[module]
    for name in path.split("."):
        found = getattr(found, name)
    return found


def _place(of: type) -> str:
    """Name a class of the project's; Unwritable where it is none, or made in a function."""
    file = os.path.realpath(getattr(sys.modules.get(of.__module__), "__file__", None) or "")
    if "<" in of.__qualname__ or file not in SOURCES:
        raise Unwritable
    return f"{of.__module__}:{of.__qualname__}"


@functools.cache
def _real(path: str) -> str:
    return os.path.realpath(path)


def _is_in(frame: FrameType, files: set[str]) -> bool:
    return _real(frame.f_code.co_filename) in files


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


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Record a test."""
    recorder = Recorder()
    sys.setprofile(recorder.on_event)
    try:
        yield
    finally:
        sys.setprofile(None)
    if recorder.lines and not recorder.of_the_hour:
        told = {"test": item.nodeid.partition("[")[0], "lines": recorder.lines}
        with open(ABOUT["into"], "a") as file:  # noqa: PTH123 - short
            file.write(json.dumps(told) + "\n")
