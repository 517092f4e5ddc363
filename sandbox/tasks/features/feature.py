"""A task's folder of a specification: its page, its cases, and a function that does all of it."""

import shlex
from pathlib import Path, PurePath

from sandbox.model import yaml_tree
from sandbox.model.errors import UsageError
from sandbox.model.places import TASK
from sandbox.model.task_tests import RecordedTests
from sandbox.tasks import differences
from sandbox.tasks.drafts import layout, written
from sandbox.tasks.drafts.filling import of_repository
from sandbox.tasks.drafts.layout import PROJECT
from sandbox.tasks.drafts.planting import FIX, TESTS
from sandbox.tasks.drafts.seed_folder import SeedFolder
from sandbox.tasks.features.drawn_clauses import drawn
from sandbox.tasks.features.page import page
from sandbox.tasks.features.source import source
from sandbox.tasks.features.specification import FUNCTION, PLACE, Specification
from sandbox.tasks.template import Filling

LAYOUT = Path(__file__).parent / "clauses"
MODULE = "charges"
TIMES = 25
"""How many orders are drawn for each clause."""
OUTSIDE = "src"
"""A folder that is not part of a module's name."""


def write(of: SeedFolder, count: int, number: int, folder: Path) -> None:
    """Write the task of a specification with so many clauses.

    UsageError where the repository has no package in Python, or nothing says which of its tests
    pass, and as `written.write`.
    """
    home = _package(of)
    laid = layout.load_at(LAYOUT)
    specification = drawn(count, number)
    cases = _cases(specification)
    filling: Filling = {
        "task": f"{of.repository.name}/{folder.name}",
        **_filling(of, home / f"{MODULE}.py", specification, number),
        "cases": [str(case["id"]) for case in cases],
        **laid.words,
    }
    module = "".join(f"{part}." for part in home.parts if part != OUTSIDE)
    subject = {"kind": "function", "name": f"{module}{MODULE}:{FUNCTION}"}
    own = {
        "cases.yaml": yaml_tree.text({"subjects": {FUNCTION: subject}, "cases": cases}),
        "reference.py": f'"""What the specification says."""\n\n\n{source(specification)}',
        f"{PROJECT}/{PLACE}": page(specification),
        FIX: str(filling["fix"]),
        TESTS: yaml_tree.text(RecordedTests(pass_to_pass=of.passing).model_dump(mode="json")),
        TASK: f"# Of {count} clauses that were drawn from the number {number}.\n",
    }
    task = written.task_data(of, laid, filling)
    written.write(of, laid, folder, home, task, own, filling)


def _package(of: SeedFolder) -> PurePath:
    """Give the folder that the new file goes into: that of the first file with a seed."""
    name = of.repository.name
    changed = sorted({edit.path for seed in of.seeds.seeds for edit in seed.edits})
    if of.mining.image != "python" or not changed or not PurePath(changed[0]).parent.parts:
        raise UsageError(
            f"There are no specifications for {name}: they want a package in Python with seeds.",
            "docs/seeds.md says which repositories have one.",
        )
    if not of.passing:
        raise UsageError(
            f"Nothing says which tests of {name} pass.",
            f"sandbox mine {name} --check writes them down.",
        )
    return PurePath(changed[0]).parent


def _filling(of: SeedFolder, path: PurePath, specification: Specification, number: int) -> Filling:
    place = path.as_posix()
    text = f'"""What a parcel costs: {PLACE}."""\n\n\n{source(specification)}'
    graded = sorted({test.partition("::")[0] for test in of.passing})
    common = of_repository(of, number)
    never = [*of.mining.tests, "**/AGENTS.md", f"{PurePath(PLACE).parent}/**"]
    return {
        **common,
        "count": len(specification.clauses),
        "listed": f"`{place}`",
        "path": place,
        "paths": shlex.quote(place),
        "glob": place,
        "wanted": [place],
        "others": [],
        "stated": [f"must {place}", "collateral"],
        "never": never,
        "files": graded,
        "tested": [f"tests {test}" for test in graded],
        "failing": 0,
        "changed": [place],
        "defects": [],
        "function": text,
        "fix": differences.unified({}, {place: text.encode()}),
    }


def _cases(of: Specification) -> list[dict[str, object]]:
    shown = {f"clause-{of.numbers[each.key]}": of.order(each) for each in of.clauses}
    return [
        {
            "id": name,
            "subject": FUNCTION,
            "times": TIMES,
            "input": {"arguments": [order]},
            "expect": {"reference": FUNCTION},
        }
        for name, order in {**shown, "any-order": of.fields}.items()
    ]
