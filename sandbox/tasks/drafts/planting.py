"""Making a task's folder of a seed: a task that holds as it is, for an author to build upon."""

import hashlib
import shlex
import shutil
from collections.abc import Collection
from datetime import datetime, timedelta
from pathlib import Path, PurePath

from pydantic import RootModel

from sandbox.model import documents, yaml_tree
from sandbox.model.artifact import Artifact
from sandbox.model.draft import Draft
from sandbox.model.errors import UsageError
from sandbox.model.glob import Globs
from sandbox.model.observation import Observation
from sandbox.model.places import MINING, TASK
from sandbox.model.seed import Seed
from sandbox.model.task import TaskFile
from sandbox.model.task_tests import RecordedTests
from sandbox.rules.monitors.context import Context
from sandbox.rules.monitors.covered_tests import matcher
from sandbox.rules.monitors.steps import Step
from sandbox.tasks.drafts import layout, seed_defects, seed_patches
from sandbox.tasks.drafts.layout import PROJECT, Layout
from sandbox.tasks.drafts.seed_folder import SeedFolder
from sandbox.tasks.plans import compiler
from sandbox.tasks.template import Filling, filled, filled_text

FIX, TESTS = "oracle/fix.patch", "tests.yaml"
FIRST_TICKET, TICKETS, COMPONENTS = 100, 900, 10_000
AFTERWARDS = timedelta(days=1)
"""How long after the release the instructions were committed."""


class Mirror(RootModel[dict[str, tuple[Artifact, ...]]]):
    """The packages of a draft, by the folder of `images/`."""


def plant(
    of: SeedFolder, seed: Seed, draft: Draft | str, folder: Path, kept: Collection[str] = ()
) -> None:
    """Write the task `<repo>/<name>`, as the folder is called, with the seed as its defect.

    `kept` are the tests that pass without the defect, where they are known.
    UsageError where the folder is there, or cannot be written, or where the draft does not fit the
    seed, or has rules about tests that cannot follow the repository's command.
    """
    if seed.sanitized:
        of = of.under_sanitizers()
    laid = layout.load(draft)
    _fit(laid, of, seed, draft)
    graded = sorted({test.partition("::")[0] for test in (*seed.fail_to_pass, *kept)})
    planted = seed_defects.planted(of, seed)
    filling = {
        "defects": [each.model_dump(exclude_none=True) for each, _ in planted],
        **_filling(of, seed, f"{of.repository.name}/{folder.name}"),
        "tested": [f"tests {path}" for path in graded],
        **laid.words,
    }
    data = filled(laid.task, filling)
    data["tests"]["sanitized"] = seed.sanitized
    data["world"].update(_mirrored(laid, of.mining.image))
    text = yaml_tree.text(data)
    _check(documents.parse(text, folder / TASK, TaskFile), of)
    also = tuple(sorted(set(kept) - set(seed.fail_to_pass)))
    tests = RecordedTests(fail_to_pass=seed.fail_to_pass, pass_to_pass=also)
    own = {
        **{each.patch: text for each, text in planted},
        FIX: seed_patches.patch(seed.edits, back=True),
        TESTS: yaml_tree.text(tests.model_dump(mode="json")),
        TASK: f"# Planted from the defect {seed.id}.\n{text}",
    }
    copied = _copied(laid, PurePath(_paths(seed)[0]).parent)
    try:
        folder.mkdir(parents=True)
        for name, path in copied.items():
            own[name] = filled_text(path.read_text(), filling)
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copymode(path, _touched(folder / name))
        for name, content in own.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content.encode())
    except OSError as error:
        raise UsageError(
            f"{folder} cannot be made: {error.strerror}.",
            "Choose a name that no task of the repository has; nothing was overwritten.",
        ) from error


def _touched(path: Path) -> Path:
    path.touch()
    return path


def _paths(seed: Seed) -> list[str]:
    """Give what the defect changes."""
    return sorted({edit.path for edit in seed.edits})


def _fit(laid: Layout, of: SeedFolder, seed: Seed, draft: str) -> None:
    """Refuse a draft that would ask for what nothing states, or nobody can count."""
    if laid.needs == "folder" and not PurePath(_paths(seed)[0]).parent.parts:
        why = "has the instructions beside the code win, and its fault lies at the top"
    elif laid.needs == "pytest" and of.mining.framework != "pytest":
        why = f"asks how many tests failed, and {of.mining.framework} counts them otherwise"
    elif laid.needs == "python" and of.mining.image != "python":
        why = f"has tool servers in Python, which the image {of.mining.image} does not hold"
    else:
        return
    raise UsageError(
        f"The draft {draft} does not fit {seed.id} of {of.repository.name}: it {why}.",
        "Take another draft: docs/seeds.md lists them.",
    )


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
            f"Write another `command` into {of.path / MINING}, or plant it `--draft bare`.",
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


def _filling(of: SeedFolder, seed: Seed, task: str) -> Filling:
    """Say what stands for the places of a draft, as the seed and those beside it decide."""
    repository, mining, paths = of.repository, of.mining, _paths(seed)
    dates = {release.version: release.date for release in repository.releases}
    released = dates[mining.release]
    wanted = [glob for glob in mining.sources if any(map(Globs((glob,)).match, paths))]
    others = [glob for glob in mining.sources if glob not in wanted]
    tested = sorted({test.partition("::")[0] for test in seed.fail_to_pass})
    code = PurePath(paths[0]).parent
    drawn = int(hashlib.sha256(seed.id.encode()).hexdigest(), 16)
    letters = "".join(filter(str.isalpha, repository.name))[:3].upper()
    number = FIRST_TICKET + drawn % TICKETS
    ticket = f"{letters}-{number}"
    listed = "".join(f"- {path}\n" for path in paths)
    return {
        "task": task,
        "repository": repository.name,
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
        "pathspecs": shlex.join(f":(glob){glob}" for glob in mining.sources),
        "others": others,
        "glob": wanted[0],
        "stated": [*(f"must {glob}" for glob in wanted), "collateral"],
        "files": tested,
        "failures": len(seed.fail_to_pass),
        "changed": paths,
        "place": shlex.quote(paths[0]),
        "paths": shlex.join(paths),
        "code": code.as_posix(),
        "area": "".join(filter(str.isalpha, code.name.lower())) or "top",
        "never": ["**/AGENTS.md", *mining.tests],
        "left": [*mining.leaves, "/tmp/**"],  # noqa: S108 - of the container
        "served": [*mining.leaves, "/tmp/**", "/opt/servers/**"],  # noqa: S108
        "failing": mining.failing_exit_code,
        "ticket": ticket,
        "earlier": f"{letters}-{number - 9}",
        "fix": seed_patches.patch(seed.edits, back=True),
        "fragment": f"# {ticket}\n\n{listed}",
        "printed": f"# {ticket}\\n\\n{listed}".replace("\n", "\\n"),
        "withfragment": [*others, f"changes/{ticket}.md"],
        "component": f"C-{drawn // TICKETS % COMPONENTS}",
        "formerly": f"C-{drawn // TICKETS % COMPONENTS + 1}",
        **_claimed(of, seed, drawn),
    }


def _claimed(of: SeedFolder, seed: Seed, drawn: int) -> Filling:
    """Say where somebody took the fault to be, who is right as often as not."""
    paths = _paths(seed)
    others = {edit.path for each in of.seeds.seeds for edit in each.edits} - set(paths)
    right = not others or drawn % 2 == 0
    return {"right": right, "claimed": paths[0] if right else sorted(others)[drawn % len(others)]}
