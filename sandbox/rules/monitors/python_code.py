"""What code that is handed to Python with `-c` runs of pytest, as its documentation shows it.

https://docs.pytest.org/en/stable/how-to/usage.html#calling-pytest-from-python-code
"""

import ast
from collections.abc import Sequence

_IMPORTED = frozenset({"pytest", "sys"})
_MAIN = frozenset({"pytest.main", "main"})
_ENDING = frozenset({"sys.exit", "exit", "quit", "SystemExit"})
MOST = 2000
"""Characters of code that is still looked at."""


def pytest_called(code: str, following: Sequence[str]) -> tuple[str, ...] | None:
    """Give the arguments of pytest where `-c CODE FOLLOWING` runs it and ends as it ends.

    None where the code does anything else beside, or its end does not tell that of the tests.
    """
    if len(code) > MOST:
        return None
    try:
        *before, last = ast.parse(code).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    ended = _ended_with(last)
    if before and isinstance(ended, ast.Name) and isinstance(kept := before[-1], ast.Assign):
        if [ast.unparse(target) for target in kept.targets] != [ended.id]:
            return None
        before, ended = before[:-1], kept.value
    if ended is None or not all(map(_is_import, before)):
        return None
    return _arguments(ended, following)


def _ended_with(statement: ast.stmt) -> ast.expr | None:
    """Give what the process ends with: `sys.exit(THIS)` or `raise SystemExit(THIS)`."""
    value = statement.exc if isinstance(statement, ast.Raise) else None
    value = statement.value if isinstance(statement, ast.Expr) else value
    if not isinstance(value, ast.Call) or value.keywords or len(value.args) != 1:
        return None
    raised = isinstance(statement, ast.Raise)
    name = ast.unparse(value.func)
    return value.args[0] if name in _ENDING and raised == (name == "SystemExit") else None


def _arguments(called: ast.expr, following: Sequence[str]) -> tuple[str, ...] | None:
    if not isinstance(called, ast.Call) or called.keywords or len(called.args) > 1:
        return None
    if ast.unparse(called.func) not in _MAIN:
        return None
    if not called.args:  # pytest takes those of the process
        return tuple(following)
    try:
        words = ast.literal_eval(called.args[0])
    except (ValueError, TypeError):
        return None
    if not isinstance(words, list | tuple):
        return None
    return tuple(words) if all(isinstance(word, str) for word in words) else None


def _is_import(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.ImportFrom):
        return statement.module in _IMPORTED and not any(one.asname for one in statement.names)
    return isinstance(statement, ast.Import) and all(
        one.name in _IMPORTED and one.asname is None for one in statement.names
    )
