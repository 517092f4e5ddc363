"""The parameters that pytest writes into the ids of a file's tests, as far as the text tells them.

They are made as `_pytest.python.IdMaker` makes them: text and numbers as they are, anything else
by the argument's name and its place; the decorator next to the function comes first.
"""

import ast
import itertools
from collections.abc import Iterator, Mapping

Function = ast.FunctionDef | ast.AsyncFunctionDef
DISPLAYS = (ast.List, ast.Tuple, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
"""What is written by its argument's name, whatever it holds."""
PLAIN = (int, float, complex, bool, type(None))
LONG = 100
"""Characters of a text that some versions of pytest (9.1) do not write out."""
UNPRINTABLE = {
    **{number: f"\\x{number:02x}" for number in (*range(32), 127)},
    **{ord(each): repr(each)[1:-1] for each in "\t\r\n"},
}


class UnreadableError(Exception):
    """Only running the file would tell."""


def by_function(source: str) -> dict[str, frozenset[str]]:
    """Map each function whose ids can be read to what may stand in their brackets.

    A method is called `Class::method`, as in an id.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return {}
    constants = _constants(tree)
    found: dict[str, set[str]] = {}
    unknown: set[str] = set()
    for name, function in _functions(tree):
        try:
            found.setdefault(name, set()).update(_ids(function, constants))
        except UnreadableError:
            unknown.add(name)
    return {name: frozenset(ids) for name, ids in found.items() if ids and name not in unknown}


def _constants(tree: ast.Module) -> dict[str, ast.expr]:
    """Give what is assigned to a name once in the file, and named again as a parameter alone."""
    stored: dict[str, int] = {}
    named: dict[str, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            counts = named if isinstance(node.ctx, ast.Load) else stored
            counts[node.id] = counts.get(node.id, 0) + 1
    given: dict[str, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _is_parametrize(node):
            for each in node.args[1:2]:
                if isinstance(each, ast.Name):
                    given[each.id] = given.get(each.id, 0) + 1
    return {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
        if stored[target.id] == 1 and named.get(target.id) == given.get(target.id)
    }


def _functions(tree: ast.Module) -> Iterator[tuple[str, Function]]:
    """Yield the tests of a module and of its classes without decorators of their own."""
    for node in tree.body:
        if isinstance(node, Function):
            yield node.name, node
        elif isinstance(node, ast.ClassDef) and not node.decorator_list:
            for each in node.body:
                if isinstance(each, Function):
                    yield f"{node.name}::{each.name}", each


def _ids(function: Function, constants: Mapping[str, ast.expr]) -> Iterator[str]:
    names: set[str] = set()
    parts: list[list[str]] = []
    for decorator in reversed(function.decorator_list):
        if not isinstance(decorator, ast.Call) or not _is_parametrize(decorator):
            continue
        given = {each.arg: each.value for each in decorator.keywords}
        if len(decorator.args) != 2 or not given.keys() <= {"ids"}:
            raise UnreadableError
        own, alone = _names(decorator.args[0])
        names |= {*own}
        values = decorator.args[1]
        if isinstance(values, ast.Name):
            values = constants.get(values.id, values)
        known = _values(own, values, alone=alone)
        parts.append(_named(known, given["ids"]) if "ids" in given else known)
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


def _named(values: list[str], node: ast.expr) -> list[str]:
    """Give the names that the decorator has for all its values, as a list."""
    ids = _literal(node)
    if isinstance(ids, list | tuple) and len(ids) == len(values):
        return [_ascii(each) for each in ids]
    raise UnreadableError


def _values(names: list[str], node: ast.expr, *, alone: bool) -> list[str]:
    return [_value(names, each, number, alone) for number, each in enumerate(_parts(node))]


def _value(names: list[str], node: ast.expr, number: int, alone: bool) -> str:  # noqa: FBT001
    if not isinstance(node, ast.Call):
        return _one(names, [node] if alone else _parts(node), number)
    # pytest.param(1, 2, id="both")
    given = {each.arg: each.value for each in node.keywords}
    if not (isinstance(node.func, ast.Attribute) and node.func.attr == "param"):
        raise UnreadableError
    return _ascii(_literal(given["id"])) if "id" in given else _one(names, node.args, number)


def _parts(node: ast.expr) -> list[ast.expr]:
    if not isinstance(node, ast.List | ast.Tuple):
        raise UnreadableError
    return node.elts


def _one(names: list[str], values: list[ast.expr], number: int) -> str:
    if len(values) != len(names) or any(isinstance(each, ast.Starred) for each in values):
        raise UnreadableError
    return "-".join(_text(*pair, number) for pair in zip(names, values, strict=True))


def _text(name: str, node: ast.expr, number: int) -> str:
    if isinstance(node, DISPLAYS):
        return f"{name}{number}"
    value = _literal(node)
    if isinstance(value, str | bytes) and len(value) > LONG:
        raise UnreadableError
    if isinstance(value, str):
        return _ascii(value)
    if isinstance(value, bytes):
        return value.decode("ascii", "backslashreplace").translate(UNPRINTABLE)
    if isinstance(value, PLAIN):
        return str(value)
    raise UnreadableError


def _ascii(text: object) -> str:
    if not isinstance(text, str):
        raise UnreadableError
    return text.encode("unicode_escape").decode("ascii")


def _literal(node: ast.expr) -> object:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        raise UnreadableError from None
