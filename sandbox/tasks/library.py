"""The task folders: `task_repos/<repo>/<task>/task.yaml`, each beside its repo's `repo.yaml`."""

import dataclasses
import difflib
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from sandbox.model import documents, places
from sandbox.model.artifact import Artifact
from sandbox.model.case import CaseFile
from sandbox.model.errors import DocumentError, UsageError
from sandbox.model.places import REPOSITORY, TASK
from sandbox.model.repository import Repository
from sandbox.model.task import Refused, Script, ScriptedAction, Task, TaskFile
from sandbox.rules.policy import examples
from sandbox.tasks import misspelt, released
from sandbox.tasks.plans import compiler
from sandbox.tasks.plans.variant import Variant

DOCKERFILES = ("Dockerfile", "environment.Dockerfile", "task.Dockerfile")
"""What the folder of a task's image holds: what all share, what a repository's tasks share, and
what is the task's own.
"""


@dataclass(frozen=True, slots=True)
class LoadedTask:
    """A task with what belongs to it on disk."""

    task: Task
    folder: Path
    """Where the file names of the task start."""
    repository: Repository
    digest: str
    """SHA-256 over every file of the folder and the repo file, and what a variant comes to; what
    grades are bound to."""
    cases: CaseFile | None = None
    """What `tests.cases` names."""
    variant: Variant | None = None
    """The task that it is made of, and the operators; none where no library read it."""
    refused: Mapping[str, tuple[Refused, tuple[ScriptedAction, ...]]] = dataclasses.field(
        default_factory=dict
    )
    """By name: who has to fail, and what they do; none for a variant, which may ask for others."""

    @property
    def base(self) -> str:
        """The id of the task whose image it has."""
        return self.variant.task if self.variant else self.task.id

    @property
    def worktree(self) -> str:
        """Where the repository lies in the container."""
        return self.task.worktree


def names() -> list[str]:
    """All task ids, in order."""
    return sorted(_folders())


def load(name: str) -> LoadedTask:
    """Read a task, or compute a variant of one.

    UsageError where there is none of that id or an operator cannot be applied, DocumentError where
    it is wrong.
    """
    variant = Variant.parse(name)
    if not variant.operators:
        return dataclasses.replace(load_at(_folder(variant.task)), variant=variant)
    from sandbox.tasks.plans import operators  # many, and a task without any is quicker without

    variant = operators.canonical(variant)
    folder = _folder(variant.task)
    digest = _digest(folder)
    file, repository = _compared(variant.task, folder, digest)
    task = compiler.compiled(operators.applied(file, variant))
    digest = hashlib.sha256(f"{digest}\n{task.model_dump_json()}".encode()).hexdigest()
    return LoadedTask(task, folder, repository, digest, _cases(task, folder), variant)


def load_at(folder: Path) -> LoadedTask:
    """Read a task where it lies, be that where tasks are looked for or not; DocumentError."""
    return _loaded(folder, _compared)


def load_to_record(name: str) -> LoadedTask:
    """Read a task whose ids of tests are about to be recorded, so may be wrong; as `load` else."""
    from sandbox.tasks.drafts import seed_tasks
    from sandbox.tasks.features import feature_tasks

    known = _folders()
    if name not in known and seed_tasks.folder(name) is not None:
        raise UsageError(
            f"{name} is made of a seed: its tests are those that were found when it was mined.",
            f"sandbox mine {name.partition('/')[0]} --check tries them again.",
        )
    if name not in known and feature_tasks.folder(name) is not None:
        raise UsageError(
            f"{name} is drawn: its cases come with it, and its tests are the repository's.",
            f"sandbox mine {name.partition('/')[0]} --check tries those again.",
        )
    if name not in known:
        raise _unknown(name, sorted(known))
    return _loaded(known[name], _read)


def _loaded(
    folder: Path, read: Callable[[str, Path, str], tuple[TaskFile, Repository]]
) -> LoadedTask:
    name = f"{folder.parent.name}/{folder.name}"
    digest = _digest(folder)
    file, repository = read(name, folder, digest)
    task = compiler.compiled(file)
    cases, refused = _cases(task, folder), _refused(file, folder)
    return LoadedTask(task, folder, repository, digest, cases, Variant.parse(name), refused)


def _refused(file: TaskFile, folder: Path) -> dict[str, tuple[Refused, tuple[ScriptedAction, ...]]]:
    return {
        name: (refused, documents.load(folder / refused.script, Script).root)
        for name, refused in file.refused.items()
    }


@lru_cache(maxsize=64)
def _read(name: str, folder: Path, digest: str) -> tuple[TaskFile, Repository]:
    """Read a task's files, once for each digest of them; raises as `load` does."""
    del digest
    file = documents.load(folder / TASK, TaskFile, _problems)
    repository = documents.load(folder.parent / REPOSITORY, Repository)
    _check(file, name, folder, repository)
    return compiler.inlined(file, folder), repository


@lru_cache(maxsize=64)
def _compared(name: str, folder: Path, digest: str) -> tuple[TaskFile, Repository]:
    """Read a task's files, and compare names in them with the release's files; once as well."""
    file, repository = _read(name, folder, digest)
    _refuse(folder / TASK, list(released.problems(file, folder, repository)))
    return file, repository


def recorded(name: str) -> str | None:
    """Return the name of the file that a task keeps the ids of its tests in, if it has one."""
    return documents.load(_folders()[name] / TASK, TaskFile).tests.recorded


def repository_schema() -> str:
    """The JSON Schema of repo files, as `docs/repo.schema.json` holds it."""
    return json.dumps(documents.schema(Repository), indent=2, ensure_ascii=False) + "\n"


def _cases(task: Task, folder: Path) -> CaseFile | None:
    """Read the file of cases, of which the task names each once."""
    named = task.tests.cases
    if named is None:
        return None

    def check(file: CaseFile) -> Iterator[tuple[tuple[str | int, ...], str]]:
        for number, case in enumerate(file.cases):
            if named.expected.count(case.id) != 1:
                yield ("cases", number), f"the task has to name {case.id} once in tests.cases"
            if named.reference is None and any(row.expect.reference for row in case.rows):
                yield ("cases", number), "wants a reference, and tests.cases names no such file"
            if named.undamaged is None and any(row.expect.undamaged for row in case.rows):
                yield ("cases", number), "wants a patch, and tests.cases names none as `undamaged`"
        if named.undamaged and not any(row.expect.undamaged for c in file.cases for row in c.rows):
            yield ("cases",), "has no script, for which tests.cases names the patch `undamaged`"
        for missing in set(named.expected) - {case.id for case in file.cases}:
            yield ("cases",), f"there is no case {missing}, which the task names"

    return documents.load(folder / named.file, CaseFile, check)


def schema() -> str:
    """The JSON Schema of task files, as `docs/task.schema.json` holds it."""
    return json.dumps(documents.schema(TaskFile), indent=2, ensure_ascii=False) + "\n"


def case_schema() -> str:
    """The JSON Schema of files of cases, as `docs/cases.schema.json` holds it."""
    return json.dumps(documents.schema(CaseFile), indent=2, ensure_ascii=False) + "\n"


def _folder(name: str) -> Path:
    """Find the folder of a task, or of one that is made of a seed."""
    known = _folders()
    if name in known:
        return known[name]
    from sandbox.tasks.drafts import seed_tasks
    from sandbox.tasks.features import feature_tasks

    folder = seed_tasks.folder(name) or feature_tasks.folder(name)
    if folder is None:
        raise _unknown(name, sorted(known))
    return folder


def _folders() -> dict[str, Path]:
    """Find the folder of each task, by its id."""
    found: dict[str, Path] = {}
    for root in places.task_folders():
        for file in root.glob(f"*/*/{TASK}"):
            found.setdefault(file.parent.relative_to(root).as_posix(), file.parent)
    return found


def _unknown(name: str, known: list[str]) -> UsageError:
    tasks = {task.rpartition("/")[2]: task for task in known}
    nearest = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    nearest += [tasks[task] for task in difflib.get_close_matches(name, tasks, n=3, cutoff=0.5)]
    if nearest:
        hint = f"Did you mean {' or '.join(dict.fromkeys(nearest))}?"
    elif known:
        hint = "`sandbox tasks` lists the tasks; docs/seeds.md says how those of seeds are called."
    else:
        looked = ", ".join(map(str, places.task_folders()))
        hint = f"None lies in {looked}. SANDBOX_TASKS names more folders of tasks."
    return UsageError(f"There is no task {name!r}.", hint)


def _problems(file: TaskFile) -> Iterator[tuple[tuple[str | int, ...], str]]:
    for place, problem in examples.problems(file.policy):
        yield ("policy", *place), problem
    yield from compiler.problems(file)
    yield from misspelt.problems(file)


def _check(task: TaskFile, name: str, folder: Path, repository: Repository) -> None:
    path = folder / TASK
    problems = []
    if task.id != name:
        problems.append(f"id: is {task.id!r}, but the folder says {name!r}")
    if repository.name != folder.parent.name:
        problems.append(f"the repo file's name is {repository.name!r}, not {folder.parent.name!r}")
    problems += [
        f"image: there is no images/{task.image}/{needed}"
        for needed in DOCKERFILES
        if not (places.project() / "images" / task.image / needed).is_file()
    ]
    versions = [release.version for release in repository.releases]
    problems += [
        f"{field}: {version!r} is not one of the releases {', '.join(versions)}"
        for field, version in _versions(task)
        if version not in versions
    ]
    problems += [
        f"{field}: is {repository.name} itself, whose code a task must not offer"
        for field, artifact in _offered(task)
        if artifact.name == repository.name
    ]
    problems += [problem for field in _files(task) if (problem := _missing(folder, *field))]
    problems += misspelt.paths(task, folder)
    _refuse(path, problems)


def _refuse(path: Path, problems: list[str]) -> None:
    if problems:
        raise DocumentError(
            "\n".join(f"{path}: {problem}" for problem in problems),
            f"Correct {path} and repeat; nothing was done.",
        )


def _versions(task: TaskFile) -> Iterator[tuple[str, str]]:
    yield "world.release", task.world.release
    for index, defect in enumerate(task.world.defects):
        yield f"world.defects[{index}].since", defect.since
        if defect.until is not None:
            yield f"world.defects[{index}].until", defect.until


def _offered(task: TaskFile) -> Iterator[tuple[str, Artifact]]:
    """Yield each package that an agent can get, with its field."""
    world = task.world
    for index, artifact in enumerate(world.mirror):
        yield f"world.mirror[{index}]", artifact
    for index, artifact in enumerate(world.registry.artifacts if world.registry else ()):
        yield f"world.registry.artifacts[{index}]", artifact


def _files(task: TaskFile) -> Iterator[tuple[str, str, bool]]:
    """Yield field, name and whether it is a folder, for each file that a task names."""
    world, cases = task.world, task.tests.cases
    for index, defect in enumerate(world.defects):
        yield f"world.defects[{index}].patch", defect.patch, False
    for index, overlay in enumerate(world.overlays):
        yield f"world.overlays[{index}].folder", overlay.folder, True
    for index, server in enumerate(world.servers):
        if server.folder is not None:
            yield f"world.servers[{index}].folder", server.folder, True
    optional = (
        ("world.hooks", world.hooks, True),
        ("world.worktree.stash", world.worktree.stash, False),
        ("world.worktree.staged", world.worktree.staged, False),
        ("world.worktree.unstaged", world.worktree.unstaged, False),
        ("world.worktree.untracked", world.worktree.untracked, True),
        ("tests.hidden", task.tests.hidden, True),
        ("tests.recorded", task.tests.recorded, False),
        ("tests.cases.file", cases.file if cases else None, False),
        ("tests.cases.build.files", cases.build.files if cases and cases.build else None, True),
        ("tests.cases.reference", cases.reference if cases else None, False),
        ("tests.cases.undamaged", cases.undamaged if cases else None, False),
    )
    for field, name, is_folder in optional:
        if name is not None:
            yield field, name, is_folder
    for name in compiler.files(task.plan) if task.plan else ():
        yield "plan", name, False
    for oracle, script in task.other_oracles.items():
        if isinstance(script, str):
            yield f"other_oracles.{oracle}", script, False
    for name, refused in task.refused.items():
        yield f"refused.{name}.script", refused.script, False


def _missing(folder: Path, field: str, name: str, is_folder: bool) -> str:  # noqa: FBT001
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        return f"{field}: {name!r} leads out of the task's folder"
    if is_folder and not path.is_dir():
        return f"{field}: there is no folder {name!r} beside the task file"
    if not is_folder and not path.is_file():
        return f"{field}: there is no file {name!r} beside the task file"
    return ""


def _digest(folder: Path) -> str:
    return files_digest([folder.parent / REPOSITORY, *files_below(folder)], folder.parent)


def unlisted(loaded: LoadedTask) -> list[str]:
    """Hidden files of which the task lists no test: they grade nothing by themselves."""
    tests = loaded.task.tests
    if tests.hidden is None:
        return []
    listed = {test.partition("::")[0] for test in tests.fail_to_pass + tests.pass_to_pass}
    folder = loaded.folder / tests.hidden
    files = (path.relative_to(folder).as_posix() for path in files_below(folder))
    return [file for file in files if file not in listed]


def files_below(folder: Path) -> list[Path]:
    """All files below a folder in order, but for what Python leaves behind."""
    return sorted(
        path
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".pyc"
    )


def files_digest(files: list[Path], root: Path) -> str:
    """SHA-256 over names below `root`, executable bits and contents, as hexadecimal.

    DocumentError for a file that cannot be read.
    """
    digest = hashlib.sha256()
    for path in files:
        try:
            executable = bool(path.stat().st_mode & 0o100)
            content = hashlib.sha256(path.read_bytes()).hexdigest()
        except OSError as error:
            raise DocumentError(
                f"{path}: cannot be read: {error.strerror}", "Check the path and its permissions."
            ) from error
        told = f"{path.relative_to(root).as_posix()}\0{executable:d}\0{content}\n"
        digest.update(os.fsencode(told))  # a name need not be text
    return digest.hexdigest()
