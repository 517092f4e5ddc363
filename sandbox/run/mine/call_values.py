"""How functions and values of Python's own library are written as an expression.

It runs in a container, beside the recorder of calls and Python's own library.
"""

import ast
import builtins
import functools
import operator
import os
import sys
from collections.abc import Container, Iterator
from types import CodeType, FunctionType
from typing import Any

NAMED = {
    *("datetime.date", "datetime.datetime", "datetime.time", "datetime.timedelta"),
    *("datetime.timezone", "decimal.Decimal", "fractions.Fraction", "builtins.range"),
}
"""Classes of values that are written as they show themselves."""


class Unwritable(Exception):  # noqa: N818 - it is no error
    """A value that no line can hold."""


def members(value: object) -> Iterator[object]:
    """Give what a collection holds, of a dictionary the values; of anything else nothing."""
    if isinstance(value, dict):
        return iter(value.values())
    return iter(value) if isinstance(value, list | tuple | set | frozenset) else iter(())


def shown(value: object) -> str:
    """Write a value of Python's own library, or the name of what is built in; or nothing."""
    module, text = type(value).__module__, repr(value)
    if f"{module}.{type(value).__qualname__}" in NAMED and " object at " not in text:
        return text if module == "builtins" or text.startswith(module) else f"{module}.{text}"
    called = getattr(value, "__name__", "")
    if isinstance(called, str) and getattr(builtins, called, None) is value:
        return called
    if isinstance(called, str) and getattr(operator, called, None) is value:
        return f"operator.{called}"
    return ""


def named(value: object, sources: Container[str]) -> str:
    """Write the name of a function or a class of the project's or of Python's own; or nothing."""
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str) or "<" in name:
        return ""
    file = getattr(sys.modules.get(module), "__file__", None)
    own = module.partition(".")[0] in sys.stdlib_module_names
    if not own and (file is None or real(file) not in sources):
        return ""
    try:
        return f"{module}:{name}" if attribute(module, name) is value else ""
    except (AttributeError, KeyError):
        return ""


def made_by_a_test(value: object, tests: Container[str]) -> str:
    """Write a function of a test's own that is one expression, of nothing but what it is given."""
    if not isinstance(value, FunctionType) or value.__code__.co_freevars:
        raise Unwritable
    code = value.__code__
    if real(code.co_filename) not in tests or value.__defaults__ or value.__kwdefaults__:
        raise Unwritable
    for each in _functions(code.co_filename, code.co_firstlineno):
        if _compiled(each) == _told(code):
            return f"({ast.unparse(each)})"
    raise Unwritable


def _functions(path: str, line: int) -> Iterator[ast.Lambda]:
    """Yield the functions that begin in a line and are one expression."""
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Lambda) and node.lineno == line:
            yield node
        elif isinstance(node, ast.FunctionDef) and node.lineno == line:
            first, *more = node.body
            if isinstance(first, ast.Return) and first.value and not more:
                yield ast.Lambda(node.args, first.value)


@functools.cache
def _tree(path: str) -> ast.Module:
    with open(path, "rb") as file:  # noqa: PTH123 - short
        return ast.parse(file.read())


def _compiled(function: ast.Lambda) -> tuple[object, ...]:
    """What a function does once it is compiled; nothing where it needs what no line has."""
    given = {each.arg for each in ast.walk(function) if isinstance(each, ast.arg)}
    named = {each.id for each in ast.walk(function) if isinstance(each, ast.Name)} - given
    if any(not hasattr(builtins, name) for name in named):
        return ()
    code = compile(ast.unparse(function), "<line>", "eval").co_consts[0]
    return _told(code)


def _told(code: CodeType) -> tuple[object, ...]:
    consts = tuple(each for each in code.co_consts if each is not None)
    return code.co_code, code.co_names, code.co_varnames, consts


def attribute(module: str, path: str) -> Any:  # noqa: ANN401
    """Find what a module has by a path of names."""
    found: Any = sys.modules[module]
    for name in path.split("."):
        found = getattr(found, name)
    return found


@functools.cache
def real(path: str) -> str:
    """Give the path of a file without links."""
    return os.path.realpath(path)
