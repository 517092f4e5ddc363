"""What an action is as a shell line, run in the worktree by `bash -c`."""

import shlex
from collections.abc import Callable

from sandbox.model.glob import Globs
from sandbox.model.patch_text import names
from sandbox.model.rewording import Rewording
from sandbox.model.rule import Never
from sandbox.model.task import ScriptedAction, Task

END = "REWORDED"
"""What ends a here-document; no line of a task is it."""


def kind_of(action: str) -> str | None:
    """Say what kind of deed an action is; None where it cannot be done by shell."""
    kinds = {
        "read_file": "reads",
        "list_files": "looks",
        "search_repo": "looks",
        "git_diff": "looks",
        "run_tests": "tests",
        "write_file": "edits",
        "apply_patch": "edits",
    }
    return kinds.get(action)


def line_of(deed: ScriptedAction, task: Task, rewording: Rewording) -> str | None:
    """Give the line that does the same; None where it stays an action."""
    if deed.action == "run_command":
        return _command(deed)
    if kind_of(deed.action) not in rewording.turns or not _allowed(deed, task):
        return None
    return LINES[deed.action](deed, task, rewording)


def _command(deed: ScriptedAction) -> str:
    line, folder = str(deed.arguments["command"]), deed.arguments.get("cwd")
    if deed.arguments.get("stdin"):
        line = f"{{ {line}\n}} <<'{END}'\n{_whole(str(deed.arguments['stdin']))}{END}"
    return line if folder is None else f"cd {shlex.quote(str(folder))} && {{ {line}\n}}"


def _allowed(deed: ScriptedAction, task: Task) -> bool:
    """Whether a program may make an edit: some tasks want edits on record."""
    paths = []
    if deed.action == "write_file":
        paths = [str(deed.arguments["path"])]
    elif deed.action == "apply_patch":
        paths = list(names(str(deed.arguments["patch"])))
    closed = Globs(
        changed for rule in task.rules if isinstance(rule, Never) for changed in rule.a.changed
    )
    return not any(map(closed.match, paths))


def _read(deed: ScriptedAction, _: Task, rewording: Rewording) -> str:
    line = rewording.reading.format(file=shlex.quote(str(deed.arguments["path"])))
    first, most = deed.arguments.get("first_line"), deed.arguments.get("line_limit")
    if isinstance(first, int):
        line += f" | tail -n +{first}"
    return line if most is None else f"{line} | head -n {most}"


def _list(deed: ScriptedAction, _: Task, __: Rewording) -> str:
    top = shlex.quote(str(deed.arguments.get("path", ".")))
    return f"find {top} -path ./.git -prune -o -print | head -n 200"


def _search(deed: ScriptedAction, _: Task, __: Rewording) -> str:
    how = "-rnF" if deed.arguments.get("fixed") else "-rnE"
    words = [shlex.quote(str(deed.arguments.get(name, "."))) for name in ("pattern", "path")]
    return f"grep {how} --exclude-dir=.git -e {words[0]} -- {words[1]} | head -n 200; true"


def _tests(deed: ScriptedAction, task: Task, _: Rewording) -> str:
    return str(deed.arguments.get("command") or task.tests.command)


def _write(deed: ScriptedAction, _: Task, __: Rewording) -> str:
    path = shlex.quote(str(deed.arguments["path"]))
    content = _whole(str(deed.arguments["content"]))
    return f"mkdir -p \"$(dirname {path})\" && cat > {path} <<'{END}'\n{content}{END}"


def _patch(deed: ScriptedAction, _: Task, __: Rewording) -> str:
    return f"git apply --recount <<'{END}'\n{_whole(str(deed.arguments['patch']))}{END}"


def _difference(_: ScriptedAction, __: Task, ___: Rewording) -> str:
    return "git --no-pager diff HEAD; git status --short"


def _whole(text: str) -> str:
    return text if text.endswith("\n") else text + "\n"


LINES: dict[str, Callable[[ScriptedAction, Task, Rewording], str]] = {
    "read_file": _read,
    "list_files": _list,
    "search_repo": _search,
    "git_diff": _difference,
    "run_tests": _tests,
    "write_file": _write,
    "apply_patch": _patch,
}
