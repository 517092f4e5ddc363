"""Making a task's folder of a seed: a task that holds as it is, for an author to build upon."""

import hashlib
import shlex
from collections.abc import Collection
from pathlib import Path, PurePath

from sandbox.model import yaml_tree
from sandbox.model.draft import Draft
from sandbox.model.errors import UsageError
from sandbox.model.glob import Globs
from sandbox.model.places import TASK
from sandbox.model.seed import Seed
from sandbox.model.task_tests import RecordedTests
from sandbox.tasks.drafts import backlog, layout, recorded_case, seed_defects, seed_patches, written
from sandbox.tasks.drafts.backlog import Backlog
from sandbox.tasks.drafts.filling import COMPONENTS, TICKETS, of_repository
from sandbox.tasks.drafts.layout import Layout
from sandbox.tasks.drafts.seed_folder import SeedFolder
from sandbox.tasks.template import Filling

FIX, TESTS, CASES = "oracle/fix.patch", "tests.yaml", recorded_case.FILE


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
    several = _several(laid, of, seed, draft, kept)
    planted = [*(backlog.planted(of, several) if several else seed_defects.planted(of, seed))]
    if several:
        seed = several.joined
    graded = sorted({test.partition("::")[0] for test in (*seed.fail_to_pass, *kept)})
    filling = {
        "task": f"{of.repository.name}/{folder.name}",
        "defects": [each.model_dump(exclude_none=True) for each, _ in planted],
        **_filling(of, seed),
        "graded": graded,
        "tested": [f"tests {path}" for path in graded],
        **laid.words,
    }
    if several and laid.entries:
        filling |= backlog.filling(several, filling, laid.entries)
    data = written.task_data(of, laid, filling)
    data["tests"]["sanitized"] = seed.sanitized
    cases = recorded_case.add(data, seed, FIX)
    if several:
        backlog.add_case(data, cases, of.mining.sources)
    also = tuple(sorted(set(kept) - set(seed.fail_to_pass)))
    tests = RecordedTests(fail_to_pass=seed.fail_to_pass, pass_to_pass=also)
    own = {
        **{each.patch: text for each, text in planted},
        FIX: seed_patches.patch(seed.edits, back=True),
        **(backlog.fixes(several) if several else {}),
        TESTS: yaml_tree.text(tests.model_dump(mode="json")),
        TASK: f"# Planted from the defect {seed.id}.\n",
        **{f"{laid.committed}/{name}": each.decode() for name, each in of.shipped.items()},
        **({CASES: yaml_tree.text(cases)} if cases else {}),
    }
    written.write(of, laid, folder, PurePath(_paths(seed)[0]).parent, data, own, filling)


def _several(
    laid: Layout, of: SeedFolder, seed: Seed, draft: str, kept: Collection[str]
) -> Backlog | None:
    """Choose the seeds that go with one, where a draft is of several; UsageError: too few."""
    if laid.needs != "several":
        return None
    found = backlog.chosen(of, seed, kept)
    if found is None:
        raise UsageError(
            f"The draft {draft} does not fit {seed.id} of {of.repository.name}: it is of"
            f" {backlog.LEAST} to {backlog.MOST} faults in as many files, with tests that pass.",
            "Take another draft: docs/seeds.md lists them.",
        )
    return found


def _paths(seed: Seed) -> list[str]:
    """Give what the defect changes."""
    return sorted({edit.path for edit in seed.edits})


def unfit(laid: Layout, of: SeedFolder, seed: Seed) -> str:
    """Say why a draft would ask a seed's task for what nothing states, or nobody can count.

    Empty where it would not; whether there are enough others of `several` is not looked at.
    """
    if laid.needs == "folder" and not PurePath(_paths(seed)[0]).parent.parts:
        return "has the instructions beside the code win, and its fault lies at the top"
    if laid.needs == "pytest" and of.mining.framework != "pytest":
        return f"asks how many tests failed, and {of.mining.framework} counts them otherwise"
    if laid.needs == "python" and of.mining.image != "python":
        return f"has tool servers in Python, which the image {of.mining.image} does not hold"
    return ""


def _fit(laid: Layout, of: SeedFolder, seed: Seed, draft: str) -> None:
    if why := unfit(laid, of, seed):
        raise UsageError(
            f"The draft {draft} does not fit {seed.id} of {of.repository.name}: it {why}.",
            "Take another draft: docs/seeds.md lists them.",
        )


def _filling(of: SeedFolder, seed: Seed) -> Filling:
    """Say what stands for the places of a draft, as the seed and those beside it decide."""
    mining, paths = of.mining, _paths(seed)
    wanted = [glob for glob in mining.sources if any(map(Globs((glob,)).match, paths))]
    others = [glob for glob in mining.sources if glob not in wanted]
    tested = sorted({test.partition("::")[0] for test in seed.fail_to_pass})
    code = PurePath(paths[0]).parent
    drawn = int(hashlib.sha256(seed.id.encode()).hexdigest(), 16)
    common = of_repository(of, drawn)
    ticket = common["ticket"]
    listed = "".join(f"- {path}\n" for path in paths)
    return {
        **common,
        "wanted": wanted,
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
        "fix": seed_patches.patch(seed.edits, back=True),
        "also": f"\n{recorded_case.SENTENCE}" if seed.calls else "",
        "fragment": f"# {ticket}\n\n{listed}",
        "printed": f"# {ticket}\\n\\n{listed}".replace("\n", "\\n"),
        "withfragment": [*others, f"changes/{ticket}.md"],
        "component": f"C-{drawn // TICKETS % COMPONENTS}",
        "formerly": f"C-{drawn // TICKETS % COMPONENTS + 1}",
        **_claimed(of, seed, drawn),
    }


def _claimed(of: SeedFolder, seed: Seed, drawn: int) -> Filling:
    """Say where somebody took the fault to be, who is right as often as not.

    Of a fault in several files whoever is right names each: they say that the others are fine.
    """
    paths = _paths(seed)
    others = {edit.path for each in of.seeds.seeds for edit in each.edits} - set(paths)
    right = not others or drawn % 2 == 0
    named = paths if right else [sorted(others)[drawn % len(others)]]
    return {"right": right, "claimed": "` and `".join(named)}
