"""Writing a task's folder of a layout that has been filled in."""

import shutil
from collections.abc import Mapping
from pathlib import Path, PurePath

from pydantic import RootModel

from sandbox.model import documents, yaml_tree
from sandbox.model.artifact import Artifact
from sandbox.model.errors import UsageError
from sandbox.model.observation import Observation
from sandbox.model.places import MINING, TASK
from sandbox.model.task import TaskFile
from sandbox.rules.monitors.context import Context
from sandbox.rules.monitors.covered_tests import matcher
from sandbox.rules.monitors.steps import Step
from sandbox.tasks.drafts.layout import PROJECT, Layout
from sandbox.tasks.drafts.seed_folder import SeedFolder
from sandbox.tasks.plans import compiler
from sandbox.tasks.template import Filling, filled, filled_text


class Mirror(RootModel[dict[str, tuple[Artifact, ...]]]):
    """The packages of a draft, by the folder of `images/`."""


def task_data(of: SeedFolder, laid: Layout, filling: Filling) -> dict[str, dict[str, object]]:
    """Fill in the task file of a layout; what its mirror holds is that of the language."""
    data = filled(laid.task, filling)
    data["world"].update(_mirrored(laid, of.mining.image))
    return data


def write(
    of: SeedFolder,
    laid: Layout,
    folder: Path,
    code: PurePath,
    task: Mapping[str, object],
    own: Mapping[str, str],
    filling: Filling,
) -> None:
    """Write the task file, after what is `own[TASK]`, and all that goes with it.

    `code` is the folder that the code is in. UsageError where the folder is there, or cannot be
    written, or where a rule cannot follow the repository's command.
    """
    text = yaml_tree.text(task)
    _check(documents.parse(text, folder / TASK, TaskFile), of)
    copied = _copied(laid, code)
    content = {
        **{name: filled_text(path.read_text(), filling) for name, path in copied.items()},
        **own,
        TASK: f"{own[TASK]}{text}",
    }
    try:
        folder.mkdir(parents=True)
        for name, each in content.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            if name in copied:
                shutil.copymode(copied[name], _touched(folder / name))
            (folder / name).write_bytes(each.encode())
    except OSError as error:
        raise UsageError(
            f"{folder} cannot be made: {error.strerror}.",
            "Choose a name that no task of the repository has; nothing was overwritten.",
        ) from error


def _touched(path: Path) -> Path:
    path.touch()
    return path


def _check(file: TaskFile, of: SeedFolder) -> None:
    """Refuse rules about tests that the repository's own command would not meet."""
    command = of.mining.command
    wanted = {path for rule in file.rules for atom in rule.atoms for path in atom.tests or ()}
    ended = Observation(result={"exit_code": 0})
    step = Step(0, "run_command", {"command": command}, ended)
    if wanted and not matcher(sorted(wanted), Context.of(compiler.compiled(file)))(step):
        raise UsageError(
            f"A rule cannot follow which tests `{command}` runs: it should run all of"
            f" {', '.join(sorted(wanted))}.",
            f"Write another `command` into {of.path / MINING}; the draft `bare` has no such rules.",
        )


def _copied(laid: Layout, code: PurePath) -> dict[str, Path]:
    """Give what a draft has beside its task file, its instructions for the code beside the code."""
    if laid.nested is None or not code.parts:
        return laid.files
    return {**laid.files, f"{PROJECT}/{code}/AGENTS.md": laid.nested}


def _mirrored(laid: Layout, image: str) -> dict[str, object]:
    """Give what the offline mirror holds of the language; nothing where that has no packages."""
    if laid.mirror is None:
        return {}
    packages = documents.load(laid.mirror, Mirror).root.get(image)
    if packages is None:
        return {}
    return {"mirror": [each.model_dump(mode="json", exclude_defaults=True) for each in packages]}
