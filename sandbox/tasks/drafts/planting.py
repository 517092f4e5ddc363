"""A task's folder from a seed: a draft that holds as it is, for an author to build upon."""

import hashlib
import shlex
import shutil
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from pathlib import Path, PurePath

from pydantic import RootModel

from sandbox.model import documents, yaml_tree
from sandbox.model.artifact import Artifact
from sandbox.model.draft import Draft
from sandbox.model.errors import UsageError
from sandbox.model.glob import Globs
from sandbox.model.observation import Observation
from sandbox.model.seed import Seed
from sandbox.model.task import TaskFile
from sandbox.model.task_tests import RecordedTests
from sandbox.rules.monitors.context import Context
from sandbox.rules.monitors.covered_tests import matcher
from sandbox.rules.monitors.steps import Step
from sandbox.tasks.differences import unified
from sandbox.tasks.library import TASK
from sandbox.tasks.plans import compiler
from sandbox.tasks.seeds.mined_repository import MINING, MinedRepository
from sandbox.tasks.template import Filling, filled

DRAFTS = Path(__file__).with_name("drafts")
MIRROR, NESTED, PROJECT = "mirror.yaml", "nested.md", "project"
"""Of a draft: its packages by image, the instructions beside the code, and what is committed."""
FIRST_TICKET, TICKETS = 100, 900
AFTERWARDS = timedelta(days=1)
"""How long after the release the instructions were committed."""


class Mirror(RootModel[dict[str, tuple[Artifact, ...]]]):
    """The packages of a draft, by the folder of `images/`."""


def plant(
    mined: MinedRepository,
    seed: Seed,
    files: Mapping[str, bytes],
    name: str,
    kept: Iterable[str] = (),
    draft: Draft = "bare",
) -> Path:
    """Write the task `<repo>/<name>`, with the seed's files as its defect; the new folder.

    `kept` are the tests that pass without the defect, where they are known.
    UsageError where the name is taken or no name, where the folder cannot be written, or where the
    draft has rules about tests that cannot follow the repository's command.
    """
    laid = DRAFTS / draft
    task = f"{mined.repository.name}/{name}"
    folder = mined.folder / name
    defect, fix = _patch(mined, files, back=False), _patch(mined, files, back=True)
    data = filled(laid / TASK, _filling(mined, seed, files, task))
    data["world"].update(_mirrored(laid / MIRROR, mined.mining.image))
    text = yaml_tree.text(data)
    _check(documents.parse(text, folder / TASK, TaskFile), mined)
    also = tuple(sorted(set(kept) - set(seed.fail_to_pass)))
    tests = RecordedTests(fail_to_pass=seed.fail_to_pass, pass_to_pass=also)
    try:
        folder.mkdir()
        _copy(laid, folder, Path(min(files)).parent)
        (folder / "oracle").mkdir()
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


def _check(file: TaskFile, mined: MinedRepository) -> None:
    """Refuse rules about tests that the repository's own command would not meet."""
    wanted = {path for rule in file.rules for atom in rule.atoms for path in atom.tests or ()}
    ended = Observation(result={"exit_code": 0})
    step = Step(0, "run_command", {"command": mined.mining.command}, ended)
    if wanted and not matcher(sorted(wanted), Context.of(compiler.compiled(file)))(step):
        raise UsageError(
            f"A rule cannot follow which tests `{mined.mining.command}` runs: it should run all of"
            f" {', '.join(sorted(wanted))}.",
            f"Write another `command` into {mined.folder / MINING}, or plant it `--draft bare`.",
        )


def _copy(laid: Path, folder: Path, code: PurePath) -> None:
    """Lay out what a draft has, its instructions for the code beside the code."""
    shutil.copytree(
        laid, folder, ignore=shutil.ignore_patterns(TASK, MIRROR, NESTED), dirs_exist_ok=True
    )
    if (laid / NESTED).is_file() and code.parts:
        beside = folder / PROJECT / code
        beside.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(laid / NESTED, beside / "AGENTS.md")


def _mirrored(file: Path, image: str) -> dict[str, object]:
    """Give what the offline mirror holds of the language; nothing where that has no packages."""
    if not file.is_file():
        return {}
    packages = documents.load(file, Mirror).root.get(image)
    if packages is None:
        return {}
    return {"mirror": [each.model_dump(mode="json", exclude_defaults=True) for each in packages]}


def _filling(mined: MinedRepository, seed: Seed, files: Mapping[str, bytes], task: str) -> Filling:
    mining = mined.mining
    dates = {release.version: release.date for release in mined.repository.releases}
    released = dates[mining.release]
    wanted = [glob for glob in mining.sources if any(map(Globs((glob,)).match, files))]
    tested = sorted({test.partition("::")[0] for test in seed.fail_to_pass})
    letters = "".join(filter(str.isalpha, mined.repository.name))[:3].upper()
    number = FIRST_TICKET + int(hashlib.sha256(seed.id.encode()).hexdigest(), 16) % TICKETS
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
        "listed": " or ".join(f"`{glob}`" for glob in mining.sources),
        "wanted": wanted,
        "others": [glob for glob in mining.sources if glob not in wanted],
        "glob": wanted[0],
        "stated": [*(f"must {glob}" for glob in wanted), "collateral"],
        "tested": [f"tests {path}" for path in tested],
        "files": tested,
        "changed": sorted(files),
        "paths": shlex.join(sorted(files)),
        "never": ["**/AGENTS.md", *mining.tests],
        "left": [*mining.leaves, "/tmp/**"],  # noqa: S108 - of the container
        "failing": mining.failing_exit_code,
        "ticket": f"{letters}-{number}",
        "earlier": f"{letters}-{number - 9}",
    }


def _patch(mined: MinedRepository, files: Mapping[str, bytes], *, back: bool) -> str:
    """Write the defect as a patch of the release, or the way back."""
    sources = {source.path: source.data for source in mined.sources}
    old, new = (files, sources) if back else (sources, files)
    return unified({path: old[path] for path in files}, {path: new[path] for path in files})
