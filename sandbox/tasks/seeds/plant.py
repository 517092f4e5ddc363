"""A task's folder from a seed: a draft that holds as it is, for an author to build upon."""

import shutil
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from pathlib import Path

from sandbox.model import documents, yaml_tree
from sandbox.model.errors import UsageError
from sandbox.model.glob import Globs
from sandbox.model.seed import Seed
from sandbox.model.task import TaskFile
from sandbox.model.task_tests import RecordedTests
from sandbox.tasks.differences import unified
from sandbox.tasks.library import TASK
from sandbox.tasks.seeds.mined_repository import MinedRepository
from sandbox.tasks.template import Filling, filled

TEMPLATE = Path(__file__).with_name("task.yaml")
INSTRUCTIONS = Path(__file__).with_name("instructions")
AFTERWARDS = timedelta(days=1)
"""How long after the release the instructions were committed."""


def plant(
    mined: MinedRepository,
    seed: Seed,
    files: Mapping[str, bytes],
    name: str,
    kept: Iterable[str] = (),
) -> Path:
    """Write the task `<repo>/<name>`, with the seed's files as its defect; the new folder.

    `kept` are the tests that pass without the defect, where they are known.
    UsageError where the name is taken or no name, or the folder cannot be written.
    """
    task = f"{mined.repository.name}/{name}"
    folder = mined.folder / name
    defect, fix = _patch(mined, files, back=False), _patch(mined, files, back=True)
    text = yaml_tree.text(filled(TEMPLATE, _filling(mined, seed, files, task)))
    documents.parse(text, folder / TASK, TaskFile)
    also = tuple(sorted(set(kept) - set(seed.fail_to_pass)))
    tests = RecordedTests(fail_to_pass=seed.fail_to_pass, pass_to_pass=also)
    try:
        folder.mkdir()
        (folder / "oracle").mkdir()
        shutil.copytree(INSTRUCTIONS, folder / INSTRUCTIONS.name)
        (folder / "defect.patch").write_text(defect)
        (folder / "oracle/fix.patch").write_text(fix)
        (folder / "tests.yaml").write_text(yaml_tree.text(tests.model_dump(mode="json")))
        (folder / TASK).write_text(f"# Planted from the defect {seed.id}.\n{text}")
    except OSError as error:
        raise UsageError(
            f"{folder} cannot be made: {error.strerror}.",
            "Choose a name that no task of the repository has; nothing was overwritten.",
        ) from error
    return folder


def _filling(mined: MinedRepository, seed: Seed, files: Mapping[str, bytes], task: str) -> Filling:
    mining = mined.mining
    dates = {release.version: release.date for release in mined.repository.releases}
    released = dates[mining.release]
    wanted = [glob for glob in mining.sources if any(map(Globs((glob,)).match, files))]
    tested = sorted({test.partition("::")[0] for test in seed.fail_to_pass})
    return {
        "task": task,
        "repository": mined.repository.name,
        "image": mining.image,
        "release": mining.release,
        "date": (datetime.fromisoformat(released) + AFTERWARDS).isoformat(),
        "tests": list(mining.tests),
        "testing": " or ".join(f"`{glob}`" for glob in mining.tests),
        "kept": [f"never {glob}" for glob in mining.tests],
        "framework": mining.framework,
        "command": mining.command,
        "leaves": list(mining.leaves),
        "listed": " or ".join(f"`{glob}`" for glob in mining.sources),
        "wanted": wanted,
        "others": [glob for glob in mining.sources if glob not in wanted],
        "glob": wanted[0],
        "stated": [*(f"must {glob}" for glob in wanted), "collateral"],
        "tested": [f"tests {path}" for path in tested],
        "changed": sorted(files),
    }


def _patch(mined: MinedRepository, files: Mapping[str, bytes], *, back: bool) -> str:
    """Write the defect as a patch of the release, or the way back."""
    sources = {source.path: source.data for source in mined.sources}
    old, new = (files, sources) if back else (sources, files)
    return unified({path: old[path] for path in files}, {path: new[path] for path in files})
