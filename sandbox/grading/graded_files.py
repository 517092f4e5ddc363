"""The files that a grading brings itself, and those that never come from a candidate."""

from collections.abc import Iterator
from pathlib import Path

from sandbox.grading.frameworks.base import Framework
from sandbox.model import path_text as paths
from sandbox.model.errors import DocumentError
from sandbox.tasks.library import LoadedTask


def hidden_files(task: LoadedTask) -> dict[str, bytes]:
    """Read the task's hidden files, by path from the worktree on; DocumentError."""
    top = task.task.tests.hidden
    return {} if top is None else dict(_hidden(task.folder / top))


def _hidden(top: Path) -> Iterator[tuple[str, bytes]]:
    try:
        for path in sorted(top.rglob("*")):
            if path.is_symlink() or not (path.is_file() or path.is_dir()):
                raise DocumentError(
                    f"{path} is not a plain file; hidden tests have to be plain files."
                )
            if path.is_file() and "__pycache__" not in path.parts:
                yield paths.text(bytes(path.relative_to(top))), path.read_bytes()
    except OSError as error:
        raise DocumentError(f"The hidden tests cannot be read: {error}.") from error


def graded_files(task: LoadedTask, framework: Framework) -> set[str]:
    """Give the files that the expected tests are in: they never come from a candidate."""
    tests = task.task.tests
    return {framework.file_of(test) for test in tests.fail_to_pass + tests.pass_to_pass}
