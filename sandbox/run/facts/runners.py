"""What makes a process that runs tests another runner than the image's."""

import posixpath
from collections.abc import Sequence

from sandbox.model import path_text as paths
from sandbox.model.session import Exec
from sandbox.rules.monitors.covered_tests import (
    is_called_rightly,
    is_python,
    is_python_run,
    looks_around,
    modules_of,
    script_of,
)
from sandbox.run.facts import variables
from sandbox.run.facts.worktree import Moment, Worktree


def foreign_to(
    worktree: Worktree, execution: Exec, argv: Sequence[str], began: Moment
) -> tuple[str, ...]:
    """Name what does not come from the image: programs, folders of modules and variables."""
    cwd = paths.text(execution.cwd)
    resolved = paths.text(execution.resolved)
    programs = [resolved]
    if is_python(argv):
        programs.append(_called(execution, argv[0], cwd))
    if (script := script_of(argv)) is not None:
        programs.append(posixpath.normpath(posixpath.join(cwd, script)))
    found = [worktree.relative(each) for each in programs if worktree.is_foreign(each)]
    if not is_called_rightly(argv, resolved):
        found.append(resolved)
    if looks_around(argv):
        found += worktree.loaded_first(cwd, began)
    found += [each for each in modules_of(argv) if not worktree.has_module(each, cwd)]
    if execution.truncated:
        found.append("more arguments than are told")
    if execution.environment_truncated:
        found.append("more variables than are told")
    given = variables.pairs(execution.environment)
    if is_python_run(argv) and (listed := dict(given).get("PYTHONPATH")):
        for folder in listed.split(":"):
            found += worktree.loaded_first(posixpath.normpath(posixpath.join(cwd, folder)), began)
    return (*found, *variables.misleading(given, worktree.root, cwd, worktree.framework))


def take_tool(worktree: Worktree, execution: Exec) -> None:
    """Keep that a program which may be in the place of a compiler runs, whoever runs tests now."""
    cwd = paths.text(execution.cwd)
    for path in (paths.text(execution.program), paths.text(execution.resolved)):
        if worktree.is_tool(path):
            worktree.stand_in(posixpath.normpath(posixpath.join(cwd, path)))


def _called(execution: Exec, name: str, cwd: str) -> str:
    """Give the path by which Python was called.

    Python finds its packages from there, whatever file that leads to: beside a link to it, a
    `pyvenv.cfg` makes an environment (`site` in its library reference).
    """
    called = name if "/" in name else paths.text(execution.program)
    return posixpath.normpath(posixpath.join(cwd, called))
