"""A task as a folder of Harbor's: instruction, image, tests, solution, tried before it is kept.

Format: Harbor's `task.toml` with `schema_version` 1.1. What Harbor has no place for (rules of the
trajectory, policy, cases that are drawn) stays behind and is named; what has to be reached by
actions of ours (tool servers, questions, approvals) refuses the task.
"""

import json
import shlex
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from sandbox.container.candidate import FILE_LIMIT
from sandbox.container.engines.base import Engine, Session
from sandbox.grading.graded_files import hidden_files
from sandbox.model.agent_environment import ENVIRONMENT
from sandbox.model.errors import EvidenceError, UsageError
from sandbox.model.layer import Layer
from sandbox.model.scratch import Scratch
from sandbox.model.session import AGENT, ROOT, Command, Completed
from sandbox.run import run_containers
from sandbox.run.exports import harbor_files
from sandbox.run.exports.harbor_files import READING, TESTS, WORKTREE
from sandbox.tasks.images import BuiltImage
from sandbox.tasks.library import LoadedTask

SOLUTION, REWARD = "/solution", "/logs/verifier/reward.json"
RUN = "export"
MOST_BYTES = 256 << 20


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written, and what of the task is not in it."""

    folder: Path
    notes: tuple[str, ...]


def export(task: LoadedTask, image: BuiltImage, engine: Engine, folder: Path) -> Exported:
    """Write a task's folder, once its solution passes its tests in a container, and nothing fails.

    UsageError where Harbor has no place for what the task needs, EvidenceError where the tests do
    not tell the solution from doing nothing.
    """
    problems = list(_problems(task))
    if problems:
        raise UsageError(
            f"{task.task.id} cannot be a folder of Harbor's: {'; '.join(problems)}.",
            "Nothing of it was written.",
        )
    with Scratch("export") as scratch:
        made = scratch / "task"
        _write(task, image, engine, made)
        for solved in (True, False):
            with run_containers.begin(engine, task, image, RUN) as session:
                said = _judged(session, task, made, solved=solved)
            if (said.get("reward") == 1) is not solved:
                who = "its solution fails" if solved else "doing nothing passes"
                raise EvidenceError(
                    f"{task.task.id} as a folder of Harbor's: {who}: {json.dumps(said)}.",
                    "Nothing of it was written.",
                )
        shutil.copytree(made, folder)
    return Exported(folder, tuple(_notes(task)))


def _problems(task: LoadedTask) -> Iterator[str]:
    tests, world = task.task.tests, task.task.world
    if tests.framework not in ("pytest", "tape"):
        yield f"tests of {tests.framework} have no form there"
    elif not tests.fail_to_pass:
        yield "it is graded by cases alone"
    if world.every_server:
        yield "it has tool servers"
    if world.layer.moves:
        yield "its user goes on working meanwhile"
    if task.task.user is not None:
        yield "it has a user who can be asked"
    known = {*READING, "run_command", "run_tests", "apply_patch", "write_file", "final_answer"}
    for name in sorted({each.action for each in task.task.oracle} - known):
        yield f"its oracle uses {name}"
    if any(field.compare != "exact" for field in task.task.final.values()):
        yield "its answer is not compared exactly"


def _notes(task: LoadedTask) -> Iterator[str]:
    """Say what Harbor has no place for."""
    given = task.task
    if given.rules:
        yield f"Rules of the trajectory are not in it: {len(given.rules)}."
    if given.policy.rules:
        yield "Its policy is not in it, so nothing is asked or denied."
    if given.tests.cases is not None:
        yield "Cases, which are drawn anew for each run, are not in it."
    computed = [name for name, field in given.final.items() if field.computed is not None]
    computed += [*given.trailers, *given.reports]
    if computed:
        yield f"Not compared, being computed from a run's facts: {', '.join(computed)}."
    yield "Its tests run in the agent's own container, as Harbor has it."


def _write(task: LoadedTask, image: BuiltImage, engine: Engine, folder: Path) -> None:
    """Write the folder, with what a container of the task has to say for it."""
    _lay(folder, {name: text.encode() for name, text in harbor_files.texts(task).items()})
    hidden = hidden_files(task)
    with run_containers.begin(engine, task, image, RUN) as session:
        _send(session, folder / "tests", TESTS)
        base = _told(session, task, "git rev-parse HEAD").decode().strip()
        state = _told(session, task, f"bash {TESTS}/state.sh")
        free = _told(session, task, f"find . -type f -printf '%P\\n' | {_FREE} || true").decode()
        kept = {
            **{f"tests/base/{path}": path for path in free.splitlines() if _is_worth(path)},
            **{f"tests/hidden/{path}": path for path in harbor_files.graded(task) - hidden.keys()},
        }
        files = {
            name: session.read(f"{task.worktree}/{path}", limit=FILE_LIMIT, user=ROOT, follow=False)
            for name, path in kept.items()
        }
        layered = _packed(session, task) if task.task.world.layer != Layer() else b""
    files |= {f"tests/hidden/{path}": data for path, data in hidden.items()}
    files |= {
        "tests/state.txt": state,
        "tests/settings.sh": harbor_files.settings(task, base).encode(),
        "environment/Dockerfile": harbor_files.dockerfile(
            task, image, layered=bool(layered)
        ).encode(),
    }
    if layered:
        files[f"environment/{WORKTREE}"] = layered
    _lay(folder, files)


_FREE = f"grep -a -P -v '^\\.git/' | grep -a -P -f {TESTS}/free.txt"
"""Keeps paths of the worktree that may change."""


def _judged(
    session: Session, task: LoadedTask, made: Path, *, solved: bool
) -> Mapping[str, object]:
    """Do as Harbor does: run the solution as the agent, then the tests as root."""
    if solved:
        _send(session, made / "solution", SOLUTION)
        _run(session, task, f"bash {SOLUTION}/solve.sh", as_agent=True)
    session.kill_all()
    _send(session, made / "tests", TESTS)
    _run(session, task, f"bash {TESTS}/test.sh")
    try:
        said = json.loads(session.read(REWARD, limit=1 << 16, user=ROOT, follow=False))
    except (OSError, ValueError):
        return {}
    return said if isinstance(said, dict) else {}


def _told(session: Session, task: LoadedTask, line: str) -> bytes:
    """Give what a line prints, whole; EvidenceError where it fails."""
    ended = _run(session, task, line)
    if ended.exit_code != 0 or ended.stdout_bytes > MOST_BYTES:
        said = ended.stderr.decode("utf-8", "replace").strip() or "it prints too much"
        raise EvidenceError(
            f"The container of {task.task.id} does not tell what is asked of it: {line}: {said}.",
            "Nothing of it was written.",
        )
    return ended.stdout


def _run(session: Session, task: LoadedTask, line: str, *, as_agent: bool = False) -> Completed:
    return session.run(
        Command(
            argv=("/bin/bash", "-c", line),
            cwd=task.worktree,
            environment=ENVIRONMENT if as_agent else {**ENVIRONMENT, "HOME": "/root"},
            user=AGENT if as_agent else ROOT,
            timeout=task.task.tests.timeout_seconds + task.task.limits.command_seconds,
            stdout_limit=MOST_BYTES,
            kill_survivors=True,
        )
    )


def _send(session: Session, folder: Path, place: str) -> None:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            target = f"{place}/{path.relative_to(folder).as_posix()}"
            session.write(target, path.read_bytes(), mode=0o755, user=ROOT, parents=True)


def _lay(folder: Path, files: Mapping[str, bytes]) -> None:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
        if name.endswith(".sh"):
            (folder / name).chmod(0o755)


def _packed(session: Session, task: LoadedTask) -> bytes:
    """Give the worktree of a variant, which its image does not have."""
    folder, _, name = task.worktree.rpartition("/")
    return _told(session, task, f"tar --create --directory {folder} {shlex.quote(name)}")


def _is_worth(path: str) -> bool:
    return "__pycache__" not in path and not path.startswith("node_modules/")
