"""The functions that a Python text gives its modules and classes, inherited ones included."""

import ast
from collections.abc import Iterator, Mapping

MODULE = ""
"""Stands for what is in no class."""
NO_TESTS = ("object", "TestCase", "unittest.TestCase")
"""Bases that bring no test with them."""
RENAMING = ("expand", "parameterized_class")
"""Decorators that make tests of other names (those of parameterized)."""
MAKING = ("setattr", "globals", "exec")
"""Calls that may make a function of any name."""

Found = frozenset[str] | None
"""Names; None where only running the file would tell them."""


def by_class(source: str) -> Mapping[str, Found]:
    """Map each class, called as ids of pytest call it (`Outer::Inner`), to its functions.

    Empty where the text is not Python, or makes functions by calls.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return {}
    if any(_name(call.func) in MAKING for call in _calls(tree)):
        return {}
    classes = dict(_classes(tree, ""))
    found = {name: _with_bases(node, classes, ()) for name, node in classes.items()}
    return {MODULE: _own(tree), **found}


def _classes(node: ast.AST, above: str) -> Iterator[tuple[str, ast.ClassDef]]:
    for each in _statements(node):
        if isinstance(each, ast.ClassDef):
            yield f"{above}{each.name}", each
            yield from _classes(each, f"{above}{each.name}::")


def _calls(node: ast.AST) -> Iterator[ast.Call]:
    """Yield the calls that are not a test's own."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Call):
            yield child
        if not (isinstance(child, ast.FunctionDef) and child.name.startswith("test")):
            yield from _calls(child)


def _statements(node: ast.AST) -> Iterator[ast.stmt]:
    """Yield what a module or class has, below conditions too, but not inside functions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield child
        if not isinstance(child, ast.expr | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _statements(child)


def _with_bases(
    node: ast.ClassDef, classes: Mapping[str, ast.ClassDef], below: tuple[str, ...]
) -> Found:
    found = None if node.keywords or _renames(node.decorator_list) else _own(node)
    for base in node.bases:
        name = _name(base)
        if found is None or name in below:
            return None
        if name not in NO_TESTS:
            above = classes.get(name)
            inherited = _with_bases(above, classes, (*below, name)) if above else None
            found = None if inherited is None else found | inherited
    return found


def _own(node: ast.AST) -> Found:
    names: set[str] = set()
    for each in _statements(node):
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
            if _renames(each.decorator_list):
                return None
            names.add(each.name)
        elif isinstance(each, ast.Import | ast.ImportFrom):
            names |= {alias.asname or alias.name for alias in each.names}
        elif isinstance(each, ast.Assign):
            names |= {_name(target) for target in each.targets}
    return None if "*" in names else frozenset(names)


def _renames(decorators: list[ast.expr]) -> bool:
    called = (each.func if isinstance(each, ast.Call) else each for each in decorators)
    return any(_name(each).rpartition(".")[2] in RENAMING for each in called)


def _name(node: ast.expr) -> str:
    return ast.unparse(node) if isinstance(node, ast.Name | ast.Attribute) else ""
