"""Seeds: defects that were planted in a release of a repository, and that its own tests notice."""

from typing import Literal, Self

from pydantic import Field, RootModel, model_validator

from sandbox.model.base import Record

ID = r"^[a-z0-9]+(-[a-z0-9]+)*$"


CONTEXT = 3
"""Lines above and below an edit that are written down with it."""


class Sanitized(Record):
    """How a repository is mined for defects that its tests notice under sanitizers alone."""

    command: str
    """The shell line by which an agent runs the tests there."""
    without: tuple[str, ...] = ()
    """Ids of tests that misuse memory themselves."""


class Mining(Record):
    """How a repository is mined: `task_repos/<repo>/mining.yaml`."""

    release: str
    """The version in which defects are planted."""
    image: str
    """A folder of `images/`."""
    framework: Literal["pytest", "tape", "node:test", "vitest", "go test", "cargo test", "unity"]
    command: str
    """The shell line by which an agent runs the tests."""
    failing_exit_code: int = Field(default=1, ge=1)
    """How that ends where tests fail."""
    sources: tuple[str, ...] = Field(min_length=1)
    """Globs of the files that defects are planted in."""
    tests: tuple[str, ...] = Field(min_length=1)
    """Globs of upstream's own test files."""
    without: tuple[str, ...] = ()
    """Globs of what belongs to neither, though it matches."""
    unsteady: tuple[str, ...] = Field(default=(), exclude_if=lambda it: not it)
    """Ids of tests that pass or fail as the clock has it: no defect and no candidate is told by
    them."""
    leaves: tuple[str, ...] = ()
    """Globs of what a run of the tests leaves behind in the checkout."""
    timeout_seconds: float = Field(default=60, gt=0)
    """How long all tests together may take; a defect that makes them take longer is left out."""
    sanitized: Sanitized | None = Field(default=None, exclude_if=lambda it: it is None)
    """For the framework `unity`."""
    costs: tuple[str, ...] = Field(default=(), exclude_if=lambda it: not it)
    """Globs of test files that count what calls cost."""


class Edit(Record):
    """Some lines of a file that a defect replaces. Taken the other way it is the reference fix."""

    path: str
    line: int = Field(ge=1)
    """Where the lines begin, in the file without the defect."""
    before: str
    """The lines without the defect, ends of lines included."""
    after: str
    """The lines with it."""
    above: str = ""
    """The lines that stand above, three at most; a patch shows them."""
    below: str = ""
    """The lines that stand below, likewise."""


class OlderLines(Record):
    """Releases before that of a seed in which a file has all lines that the defect changes."""

    path: str
    """As the file is called in the seed's release."""
    was: str = ""
    """How it was called there, where that was another name."""
    since: str
    """The first version."""
    until: str
    """The last version."""
    context: int = Field(default=CONTEXT, ge=1, le=CONTEXT)
    """How many lines around stand there as well."""


class SeedFigures(Record):
    """What is known of how hard a defect is to find."""

    files: int
    lines: int
    """Lines that the defect replaces, or adds where it only adds."""
    places: int
    failing: int
    """Tests that fail with it."""
    of: int
    """Tests that pass without it."""
    distance: int | None
    """Calls between a failing test and the nearest changed function, by names; 1 where the test
    calls it. None where no chain of names leads there."""
    named: bool
    """Whether the text of a failing test names a changed function."""
    rank: int
    """How many of these hold: no failing test names a changed function; the distance is more than
    2, or there is none (both only where a changed function has a name); more than one place is
    changed; more than one file is; at most two tests fail."""


class Seed(Record):
    """A defect."""

    id: str = Field(pattern=ID)
    kinds: tuple[str, ...] = Field(min_length=1)
    """For each place, what was done there; `taken-back` is a fix of upstream's own."""
    edits: tuple[Edit, ...] = Field(min_length=1)
    fail_to_pass: tuple[str, ...] = Field(min_length=1)
    """Tests of upstream's that fail with it, each time, and pass without it."""
    older: tuple[OlderLines, ...] = ()
    """Where it is planted in older releases, so that no history shows the lines without it; for
    each file from the last one back."""
    masking: bool = False
    """Whether just these tests fail whichever of its edits is taken back alone."""
    sanitized: bool = Field(default=False, exclude_if=lambda it: not it)
    """Whether its tests fail under sanitizers alone."""
    calls: tuple[tuple[str, ...], ...] = Field(default=(), exclude_if=lambda it: not it)
    """Scripts recorded from upstream's tests that tell it from the release: see
    `sandbox.model.case.ScriptSubject`."""
    figures: SeedFigures


class SeedFile(Record):
    """The seeds of a repository: `task_repos/<repo>/seeds.yaml`."""

    release: str
    seeds: tuple[Seed, ...] = ()

    @model_validator(mode="after")
    def _names_each_once(self) -> Self:
        names = [seed.id for seed in self.seeds]
        if len(set(names)) < len(names):
            raise ValueError("two seeds have the same id")
        return self


class PassingFile(Record):
    """Upstream's tests that pass without a defect: `task_repos/<repo>/passing.yaml`."""

    release: str
    tests: dict[str, tuple[str, ...]] = Field(min_length=1)
    """By file, what stands behind `::` in their ids."""

    @property
    def ids(self) -> tuple[str, ...]:
        """All of them, in order."""
        return tuple(f"{path}::{name}" for path, names in self.tests.items() for name in names)


class Language(Record):
    """A language whose files can be mined."""

    suffixes: tuple[str, ...] = Field(min_length=1)
    grammar: str
    """A package of tree-sitter."""
    function: str = "language"
    """Which of the package's functions gives the grammar."""
    macros: bool = False
    """Whether a preprocessor makes of its files what only then has to follow the grammar."""
    definitions: str
    """A query: `@name` of a function and `@body`, the whole of it."""
    calls: str
    """A query: `@name` of what is called."""
    empty: str = ""
    """What a block holds that does nothing, where it has to hold something."""
    own: tuple[str, ...] = ()
    """Where types are not checked: what an object calls itself. Nobody can tell from the text whose
    method it is that is called of something else."""


class Languages(RootModel[dict[str, Language]]):
    """By name."""


class Kind(Record):
    """A kind of defect."""

    says: str
    """What is wrong, in a sentence."""
    queries: dict[str, str] = Field(alias="in", min_length=1)
    """By languages, names with spaces between: what is looked for."""
    table: dict[str, str] = {}
    """What stands for the text of `@at`; other texts stay."""
    becomes: dict[str, str] = {}
    """For captures that change, templates of what they become."""
    instead: dict[str, str] = {}
    """By language, a template for `@at`."""

    @model_validator(mode="after")
    def _changes_something_in_one_way(self) -> Self:
        if sum(map(bool, (self.table, self.becomes, self.instead))) != 1:
            raise ValueError("give one of `table`, `becomes` and `instead`")
        return self


class Kinds(RootModel[dict[str, Kind]]):
    """By name."""
