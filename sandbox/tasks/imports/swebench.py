"""An instance of the SWE-bench family as a task: repository, hidden tests, oracle, prompt.

What is kept: the files at the base commit, the issue, the tests of the test patch, the lists of
tests. What is added: no later commit is there, tests run elsewhere on the candidate alone, what
configures them does not cross over, and what else was changed is told.
"""

import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from sandbox.container.candidate import decides_by_name
from sandbox.model import documents, yaml_tree
from sandbox.model.artifact import ArtifactKind
from sandbox.model.authoring import Environment, Environments
from sandbox.model.errors import UsageError
from sandbox.model.glob import Globs, is_plain
from sandbox.model.places import MINING, TASK
from sandbox.model.repository import Repository
from sandbox.model.task import TaskFile
from sandbox.tasks.authoring import layout, new_repository
from sandbox.tasks.authoring.new_repository import Wanted
from sandbox.tasks.authoring.origin import Origin
from sandbox.tasks.differences import unified
from sandbox.tasks.imports import checkouts
from sandbox.tasks.imports.instances import Instance
from sandbox.tasks.repos import archive
from sandbox.tasks.sources import Sources
from sandbox.tasks.template import filled, read

NAME = "issue"
"""Of the one task that an imported repository has."""
TEMPLATE = Path(__file__).with_name("swebench.yaml")
ENVIRONMENTS = Path(__file__).with_name("environments.yaml")
CONFTEST = "conftest.py"
FIX, DEFECT = "oracle/fix.patch", "defect.patch"
TITLE = 100
"""Characters of a title."""

OnLine = Callable[[str], None]
Files = Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Options:
    """What holds for all instances of an import."""

    checkouts: Path
    """A folder of git repositories, `owner/name`, `owner__name` or `name`."""
    releases: int = 1
    """How many commits the history has: the base commit, and tags before it."""
    requires: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    like: Repository | None = None
    """A repository whose requirements are taken."""


@dataclass(frozen=True, slots=True)
class Written:
    """A task that has been written, but not yet tried."""

    task: str
    folder: Path
    notes: tuple[str, ...]


def write(
    instance: Instance, options: Options, tasks: Path, sources: Sources, on_line: OnLine
) -> Written:
    """Write `<tasks>/<name>/`, with test files in the place of the ids, which are not known yet.

    UsageError where the instance cannot be a task, SourceError where what it needs cannot be had,
    and as `new_repository.make` does. Where it fails, nothing is left.
    """
    checkout = checkouts.find(options.checkouts, instance.upstream)
    known = _known(instance)
    wanted = Wanted(
        instance.name,
        Origin("git", str(checkout), instance.commit),
        options.releases,
        options.requires,
        also=tuple(package for each in known for package in each.requires),
        constraints=(
            *options.constraints,
            *(constraint for each in known for constraint in each.constraints),
        ),
        like=options.like,
    )
    made = new_repository.make(wanted, tasks, sources, on_line)
    try:
        (made.folder / MINING).unlink(missing_ok=True)  # it is no material for seeds
        release = made.repository.releases[-1]
        path = sources.fetch_all([release.source], on_line)[release.source]
        draft = _Draft(instance, path, release.version)
        draft.write(made.folder / NAME)
    except BaseException:
        shutil.rmtree(made.folder, ignore_errors=True)
        raise
    notes = (note for note in made.notes if "Nothing tells" not in note)
    told = (*instance.notes, *notes, *draft.notes)
    return Written(f"{instance.name}/{NAME}", made.folder / NAME, told)


def _known(instance: Instance) -> list[Environment]:
    """Give what is known of the packages that an instance was made for."""
    return [
        each
        for each in documents.load(ENVIRONMENTS, Environments).root
        if each.repo == instance.upstream
        and (not each.versions or instance.version in each.versions)
    ]


class _Draft:
    """What a task's folder will hold."""

    def __init__(self, instance: Instance, release: Path, version: str) -> None:
        self._instance = instance
        self._files: Files = {file.path: file.data for file in archive.read(release)}
        self._layout = layout.told(release, ArtifactKind.FILE)
        self._version = version
        self.notes: list[str] = []
        if self._layout.framework is None or self._layout.command is None:
            raise UsageError(
                f"No framework of tests is known for {instance.repo}.",
                "Projects in Python are tested by pytest, those in JavaScript by tape or node.",
            )
        self._tests = (
            checkouts.patched(self._files, instance.test_patch) if instance.test_patch else {}
        )
        self._changed = checkouts.patched(self._files, instance.patch)

    def write(self, folder: Path) -> None:
        """Write it all; UsageError where the folder cannot be made."""
        tests = self._test_files()
        if not tests:
            raise UsageError("Its tests are in no file that is known.", "Leave the instance out.")
        tree = filled(read(TEMPLATE), self._filling(folder))
        if self._instance.plants:
            tree["world"]["defects"] = [{"patch": DEFECT, "since": self._version}]
        text = yaml_tree.text(tree)
        documents.parse(text, folder / TASK, TaskFile)
        listed = {"fail_to_pass": [f"{path}::" for path in tests], "pass_to_pass": []}
        content: dict[str, bytes] = {
            TASK: f"# Imported from the instance {self._instance.instance_id}.\n{text}".encode(),
            "tests.yaml": yaml_tree.text(listed).encode(),
            **{name: patch.encode() for name, patch in self._patches().items()},
            **{f"hidden/{path}": data for path, data in self._hidden(tests).items()},
        }
        for name, data in content.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)

    def _patches(self) -> dict[str, str]:
        """Give the fix, and the defect where there is one to be planted."""
        if not self._instance.plants:
            return {FIX: self._instance.patch}
        after = _there(self._changed)
        before = {path: self._files[path] for path in self._changed if path in self._files}
        try:
            return {FIX: unified(after, before), DEFECT: unified(before, after)}
        except UnicodeDecodeError as error:
            raise UsageError(
                "Its defect is in a file that is not UTF-8 text.", "Leave the instance out."
            ) from error

    def _test_files(self) -> list[str]:
        """Give the files whose tests decide: those of the test patch, and those of the ids."""
        known = {**self._files, **_there(self._tests)}
        tests = Globs(self._layout.tests)
        listed = self._instance.fail_to_pass + self._instance.pass_to_pass
        named = (test.partition("::")[0] for test in listed)
        patched = (path for path in _there(self._tests) if tests.match(path))
        return sorted({*patched, *(path for path in named if path in known)})

    def _hidden(self, tests: Iterable[str]) -> dict[str, bytes]:
        """Give what is laid into the checkout for the tests, their conftest files among it.

        A file that the fix is about, too, comes from the candidate; but for a conftest file, which
        never does, and is laid as the fix leaves it.
        """
        tests = list(tests)
        fixed = {} if self._instance.plants else _there(self._changed)
        known = {**self._files, **_there(self._tests)}
        gone = sorted(path for path, data in self._tests.items() if data is None)
        if gone:
            self.notes.append(f"The test patch removes {', '.join(gone)}, which stays here.")
        both = sorted(path for path in _there(self._tests) if path in fixed and path not in tests)
        if both:
            told = f"The test patch is about files of the fix as well: {', '.join(both)}."
            self.notes.append(f"{told} There the candidate's stay as they are.")
        above = {
            str(folder / CONFTEST)
            for path in tests
            for folder in PurePosixPath(path).parents
            if str(folder / CONFTEST) in {*known, *fixed}
        }
        laid = {path: known[path] for path in {*_there(self._tests), *tests} - {*both}}
        ours = {path: fixed.get(path, known.get(path)) for path in above}
        return dict(sorted({**laid, **_there(ours)}.items()))

    def _filling(self, folder: Path) -> dict[str, str | list[str]]:
        seen, changed = self._layout, sorted(self._changed)
        plain = [path for path in changed if is_plain(path)]
        first = self._instance.problem_statement.strip().splitlines()[0].strip()
        return {
            "task": f"{folder.parent.name}/{folder.name}",
            "title": first[:TITLE] or self._instance.instance_id,
            "image": seen.image,
            "told": self._instance.told,
            "release": self._version,
            "may": [*filter(decides_by_name, plain), "**"],
            "framework": str(seen.framework),
            "command": str(seen.command),
            "glob": plain[0] if plain else "**",
            "changed": changed,
        }


def _there(files: Mapping[str, bytes | None]) -> dict[str, bytes]:
    return {path: data for path, data in files.items() if data is not None}
