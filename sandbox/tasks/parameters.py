"""The parameters that pytest writes into the ids of a file's tests, as far as the text tells them.

They are made as `_pytest.python.IdMaker` makes them: text and numbers as they are, anything else
by the argument's name and its place; the decorator next to the function comes first.
"""

import ast
import itertools
from collections.abc import Iterator

Function = ast.FunctionDef | ast.AsyncFunctionDef
PLAIN = (int, float, complex, bool, type(None))


class UnreadableError(Exception):
    """Only running the file would tell."""


def by_function(source: str) -> dict[str, frozenset[str]]:
    """Map each function whose ids can be read to what may stand in their brackets."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return {}
    found: dict[str, set[str]] = {}
    unknown: set[str] = set()
    for function in _functions(tree):
        try:
            found.setdefault(function.name, set()).update(_ids(function))
        except UnreadableError:
            unknown.add(function.name)
    return {name: frozenset(ids) for name, ids in found.items() if ids and name not in unknown}


def _functions(tree: ast.Module) -> Iterator[Function]:
    """Yield the tests of a module and of its classes without decorators of their own."""
    for node in tree.body:
        if isinstance(node, Function):
            yield node
        elif isinstance(node, ast.ClassDef) and not node.decorator_list:
            yield from (each for each in node.body if isinstance(each, Function))


def _ids(function: Function) -> Iterator[str]:
    names: set[str] = set()
    parts: list[list[str]] = []
    for decorator in reversed(function.decorator_list):
        if not isinstance(decorator, ast.Call) or not _is_parametrize(decorator):
            continue
        if len(decorator.args) != 2 or decorator.keywords:
            raise UnreadableError
        own, alone = _names(decorator.args[0])
        names |= {*own}
        parts.append(_values(own, decorator.args[1], alone=alone))
    asked = {each.arg for each in function.args.args} - {"self"}
    if parts and asked != names:
        # A fixture may have parameters as well.
        raise UnreadableError
    return ("-".join(chosen) for chosen in itertools.product(*parts) if chosen)


def _is_parametrize(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == "parametrize"


def _names(node: ast.expr) -> tuple[list[str], bool]:
    """Give the arguments' names, and whether there is one whose values stand without brackets."""
    given = _literal(node)
    if isinstance(given, str):
        names = [name.strip() for name in given.split(",") if name.strip()]
        return names, len(names) == 1
    if isinstance(given, list | tuple):
        return [str(each) for each in given], False
    raise UnreadableError


def _values(names: list[str], node: ast.expr, *, alone: bool) -> list[str]:
    if not isinstance(node, ast.List | ast.Tuple):
        raise UnreadableError
    values = [_literal(each) for each in node.elts]
    return [
        _one(names, (value,) if alone else value, number) for number, value in enumerate(values)
    ]


def _one(names: list[str], values: object, number: int) -> str:
    if not isinstance(values, list | tuple) or len(values) != len(names):
        raise UnreadableError
    return "-".join(_text(*pair, number) for pair in zip(names, values, strict=True))


def _text(name: str, value: object, number: int) -> str:
    if isinstance(value, str):
        return value.encode("unicode_escape").decode("ascii")
    if isinstance(value, bytes):
        return value.decode("ascii", "backslashreplace")
    if isinstance(value, PLAIN):
        return str(value)
    return f"{name}{number}"


def _literal(node: ast.expr) -> object:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        raise UnreadableError from None
