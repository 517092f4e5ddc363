"""A task of a run: the run's task under another name, which the run's actions solve or fail.

Comments and order of the task file stay as they are. A variant is written out as what it comes to.
"""

import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sandbox.model import documents, places, yaml_tree
from sandbox.model.errors import UsageError
from sandbox.model.places import REPOSITORY, TASK
from sandbox.model.task import ID, Refused, ScriptedAction, TaskFile
from sandbox.tasks import library
from sandbox.tasks.library import LoadedTask

SCRIPTS = "harvested"
"""The folder of actions, beside the task file."""
REGRESSION = "regression"
"""The tag of a task that was made of a run that failed."""


@dataclass(frozen=True, slots=True)
class Deeds:
    """What a run did, and how the task has to judge it."""

    run: str
    """The start of its name."""
    actions: tuple[ScriptedAction, ...]
    breaks: tuple[str, ...] = ()
    outcome_right: bool = True

    @property
    def passed(self) -> bool:
        """Whether it solves the task."""
        return self.outcome_right and not self.breaks


def harvest(task: LoadedTask, deeds: Deeds, name: str) -> Path:
    """Write the task `<repo>/<name>`; its folder.

    UsageError where the name is taken or no name, where the folder cannot be written, and where the
    task file keeps `tags` or agents in a shape that nothing can be added to.
    """
    identity = f"{task.base.partition('/')[0]}/{name}"
    if not re.fullmatch(ID, identity):
        raise UsageError(f"{name!r} is not a valid name of a task.", "For example: sizes-again.")
    folder = _repository(task) / name
    script = f"{SCRIPTS}/{deeds.run}.yaml"
    text = _text(task, identity, deeds, script)
    documents.parse(text, folder / TASK, TaskFile)
    if folder.exists():
        raise UsageError(f"{folder} is there already.", "Choose another name.")
    try:
        _write(task, deeds, folder, script, text)
        library.load(identity)
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise UsageError(
            f"{folder} cannot be made: {error.strerror}.", "Nothing of it was left there."
        ) from error
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return folder


def _repository(task: LoadedTask) -> Path:
    """Give the repository's folder: a task of a seed lies in the cache. UsageError."""
    if not task.folder.is_relative_to(places.cache()):
        return task.folder.parent
    name = task.repository.name
    for root in places.task_folders():
        if (root / name / REPOSITORY).is_file():
            return root / name
    raise UsageError(
        f"{name} is a repository under other names: no task can be written into its folder.",
        "Harvest a run of the same seed under upstream's names.",
    )


def _write(task: LoadedTask, deeds: Deeds, folder: Path, script: str, text: str) -> None:
    shutil.copytree(task.folder, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / SCRIPTS).mkdir(exist_ok=True)
    (folder / script).write_text(yaml_tree.text(_plain(deeds.actions)), encoding="utf-8")
    (folder / TASK).write_text(text, encoding="utf-8")


def _plain(actions: Sequence[ScriptedAction]) -> list[dict[str, object]]:
    return [each.model_dump(mode="json", exclude_defaults=True) for each in actions]


def _text(task: LoadedTask, identity: str, deeds: Deeds, script: str) -> str:
    if task.variant is not None and task.variant.operators:
        tree = task.task.model_dump(mode="json", exclude_defaults=True, by_alias=True)
        text = yaml_tree.text(tree)
    else:
        text = (task.folder / TASK).read_text(encoding="utf-8")
    text = re.sub(r"^id:.*$", f"id: {identity}", text, count=1, flags=re.MULTILINE)
    if deeds.passed:
        return _with(text, "other_oracles", f"run-{deeds.run}: {script}")
    told = Refused(script=script, breaks=deeds.breaks, outcome_right=deeds.outcome_right)
    entry = yaml_tree.text(
        {f"run-{deeds.run}": told.model_dump(mode="json", exclude_defaults=True)}
    )
    text = _with(text, "refused", entry.rstrip())
    return text if REGRESSION in task.task.tags else _tagged(text)


def _with(text: str, key: str, entry: str) -> str:
    """Add an entry to a mapping of the task file, in its first place."""
    lines = "".join(f"  {line}\n" for line in entry.splitlines())
    found = re.search(rf"^{key}:(.*)\n", text, re.MULTILINE)
    if found is None:
        return f"{text.rstrip()}\n{key}:\n{lines}"
    if found[1].partition("#")[0].strip():
        raise UsageError(
            f"`{key}` of the task file is written in one line, where nothing can be added.",
            "Write each entry on a line of its own.",
        )
    return text[: found.end()] + lines + text[found.end() :]


def _tagged(text: str) -> str:
    """Add the tag, whichever way tags are written."""
    found = re.search(r"^tags:[ ]*(\[(.*)\])?[ ]*(#.*)?\n", text, re.MULTILINE)
    if found is None:
        if re.search(r"^tags:", text, re.MULTILINE):
            raise UsageError(
                "`tags` of the task file is neither a list in a line nor one of lines."
            )
        return f"{text.rstrip()}\ntags: [{REGRESSION}]\n"
    if found[1] is None:
        return f"{text[: found.end()]}  - {REGRESSION}\n{text[found.end() :]}"
    tags = ", ".join(filter(None, (found[2].strip().rstrip(","), REGRESSION)))
    return f"{text[: found.start()]}tags: [{tags}]\n{text[found.end() :]}"
