"""The texts of a task's folder of Harbor's: instruction, settings, image, solution."""

import json
import re
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path

from sandbox.grading.frameworks import FRAMEWORKS
from sandbox.grading.frameworks.base import Place
from sandbox.grading.frameworks.pytest import INI, Pytest
from sandbox.grading.graded_files import graded_files, hidden_files
from sandbox.model.action import ApplyPatch, RunCommand, RunTests, WriteFile
from sandbox.model.agent_environment import ENVIRONMENT
from sandbox.model.glob import Globs
from sandbox.model.session import HOME
from sandbox.model.task import ScriptedAction
from sandbox.tasks.images import BuiltImage
from sandbox.tasks.library import LoadedTask

PARTS = Path(__file__).with_name("harbor")
LAID = ("test.sh", "state.sh", "sandbox_reporter.py", "answer.py", "answer.js")
"""What the tests of each folder have."""
ANSWER = f"{HOME}/answer.json"
TESTS, WORKTREE = "/tests", "worktree.tar"
"""Where Harbor lays them in the container; what holds the checkout where the image does not."""
READING = frozenset(("read_file", "list_files", "search_repo", "git_diff"))
"""Actions of an oracle that leave nothing."""
TOLD = """
---

Write your answer as one JSON object, with the fields that are asked for, to {answer}; there is no
`final_answer` here. Commands run in {worktree}.
"""


def texts(task: LoadedTask) -> dict[str, str]:
    """Give what follows from the task alone, by path in the folder."""
    given = task.task
    expected = _expected(task)
    return {
        "instruction.md": given.prompt.rstrip() + "\n" + (_asked(task) if given.final else ""),
        "task.toml": _toml(task),
        "solution/solve.sh": _solution(task),
        "tests/free.txt": _free(task),
        "tests/answer.json": json.dumps(expected, indent=1) if expected else "",
        "tests/expected.txt": "".join(f"{test}\n" for test in sorted(_printed(task))),
        "tests/pytest.ini": hidden_files(task).get(INI, b"[pytest]\n").decode(),
        **{f"tests/{name}": (PARTS / name).read_text() for name in LAID},
    }


def _ids(task: LoadedTask) -> tuple[str, ...]:
    """All tests that decide."""
    return task.task.tests.fail_to_pass + task.task.tests.pass_to_pass


def _printed(task: LoadedTask) -> Iterator[str]:
    """Give the tests as the framework's own command names them: tape tells the innermost name."""
    for test in _ids(task):
        if task.task.tests.framework != "tape":
            yield test
            continue
        if any(other.startswith(f"{test} > ") for other in _ids(task)):
            continue  # what it asserts stands in the tests within it
        file, _, name = test.partition("::")
        again = re.sub(r" #\d+$", "", test)
        name = again.partition("::")[2] if again in _ids(task) else name
        yield f"{file}::{name.rpartition(' > ')[2]}"


def graded(task: LoadedTask) -> set[str]:
    """The files that the deciding tests are in."""
    return graded_files(task, FRAMEWORKS[task.task.tests.framework])


def _asked(task: LoadedTask) -> str:
    return TOLD.format(answer=ANSWER, worktree=task.worktree)


def _expected(task: LoadedTask) -> dict[str, object]:
    """Give the fields that are compared, with what they have to be."""
    return {
        name: field.expect
        for name, field in task.task.final.items()
        if field.computed is None and field.expect is not None
    }


def _free(task: LoadedTask) -> str:
    """Give an expression for paths that may change; what is the user's or forbidden comes first."""
    scope = task.task.scope
    free = _below(task, (*scope.must, *scope.may, *scope.generated))
    kept = _below(task, (*scope.never, *scope.user))
    return f"^(?!(?:{kept.expression})$)(?:{free.expression})$\n"


def _below(task: LoadedTask, patterns: Iterable[str]) -> Globs:
    base = f"{task.worktree}/"
    return Globs(
        each.removeprefix(base)
        for each in patterns
        if not each.startswith("/") or each.startswith(base)
    )


def settings(task: LoadedTask, base: str) -> str:
    """Give what `test.sh` reads first; `base` is the commit that the agent begins with."""
    tests, scope = task.task.tests, task.task.scope
    framework = FRAMEWORKS[tests.framework]
    options: list[str] = []
    if isinstance(framework, Pytest):
        place = Place(TESTS, task.worktree, frozenset(hidden_files(task)))
        options = framework.arguments(place, "")[:-2]  # without the file, which the script adds
    rows = {
        "WORKTREE": shlex.quote(task.worktree),
        "FRAMEWORK": tests.framework,
        "COMMITS": scope.git.commits,
        "BASE": base,
        "ANSWER": ANSWER,
        "MUST": _array(f":(glob){each}" for each in scope.must),
        "OWN": _array(tests.own),
        "TEST_FILES": _array(sorted(graded(task))),
        "OPTIONS": _array(options),
    }
    return "".join(f"{name}={value}\n" for name, value in rows.items())


def _array(words: Iterable[str]) -> str:
    return f"({shlex.join(words)})"


def dockerfile(task: LoadedTask, image: BuiltImage, *, layered: bool) -> str:
    """Give what its image is built of; `layered` lays the checkout of a variant over the task's."""
    rows = [
        f"# `sandbox build {task.base}` makes this image; push it where others need it.",
        f"FROM {image.tag}",
        *(f"ENV {name}={json.dumps(value)}" for name, value in sorted(ENVIRONMENT.items())),
    ]
    if layered:
        folder = task.worktree.rpartition("/")[0]
        rows += [f"RUN rm -rf {task.worktree}", f"ADD {WORKTREE} {folder}/"]
    return "\n".join([*rows, f"WORKDIR {task.worktree}", "USER agent", ""])


def _toml(task: LoadedTask) -> str:
    given, limits = task.task, task.task.limits
    name = given.id.replace("/", "-").replace("+", "-").replace("@", "-")
    return f"""schema_version = "1.1"

[task]
name = {json.dumps(f"sandbox/{name}")}
description = {json.dumps(given.title)}
keywords = {json.dumps([given.facet, *given.tags])}

[agent]
timeout_sec = {limits.seconds}
user = "agent"

[verifier]
timeout_sec = {max(600.0, 2 * given.tests.timeout_seconds)}
user = "root"

[environment]
network_mode = "no-network"
build_timeout_sec = 600.0
cpus = {max(1, round(limits.cpus))}
memory_mb = {limits.memory_bytes >> 20}
workdir = {json.dumps(task.worktree)}
"""


def _solution(task: LoadedTask) -> str:
    rows = ["#!/bin/bash", f"# The oracle of {task.task.id}, without what it only reads."]
    for number, action in enumerate(task.task.oracle):
        rows += _lines(task, number, action)
    return "\n".join(rows) + "\n"


def _lines(task: LoadedTask, number: int, action: ScriptedAction) -> Iterator[str]:
    """Give an action as lines of the shell."""
    if action.action in READING:
        return
    yield f"cd {shlex.quote(task.worktree)}"
    given = action.arguments
    if action.action == "run_command":
        command = RunCommand.model_validate(given)
        yield f"cd {shlex.quote(command.cwd)} && bash -c {shlex.quote(command.command)}"
    elif action.action == "run_tests":
        tests = RunTests.model_validate(given)
        yield f"bash -c {shlex.quote(tests.command or task.task.tests.command)}"
    elif action.action == "apply_patch":
        yield from _heredoc(
            "git apply --whitespace=nowarn -", ApplyPatch.model_validate(given).patch, number
        )
    elif action.action == "write_file":
        file = WriteFile.model_validate(given)
        path = shlex.quote(file.path)
        yield f'mkdir -p "$(dirname {path})"'
        decode = "base64 -d" if file.encoding == "base64" else "cat"
        yield from _heredoc(f"{decode} > {path}", file.content, number)
        if file.executable is not None:
            yield f"chmod {'+' if file.executable else '-'}x {path}"
    else:
        yield from _heredoc(f"cat > {ANSWER}", json.dumps(given["fields"], indent=1), number)


def _heredoc(command: str, text: str, number: int) -> Iterator[str]:
    """Give a text to a command. Without an end of its last line it is written by `printf`."""
    if text.endswith("\n"):
        yield f"{command} <<'END_OF_{number}'"
        yield f"{text}END_OF_{number}"
    else:
        yield f"printf %s {shlex.quote(text)} | {command}"
