"""How projects of a language are laid out: the data of `sandbox new`."""

from pydantic import Field, RootModel

from sandbox.model.artifact import ArtifactKind
from sandbox.model.base import Record


class TestFramework(Record):
    """One that a project of the language may use."""

    name: str
    command: str
    """The shell line by which an agent runs the tests; `{tests}` stands for their globs."""
    package: str = ""
    """Where a manifest has to name one for the framework to be the project's."""
    requires: tuple[str, ...] = ()


class Language(Record):
    """Habits, each list from the most usual one on."""

    image: str
    """A folder of `images/`."""
    code: tuple[str, ...] = Field(min_length=1)
    """Globs of its files; a project is of the language of which it has most."""
    manifest: bool = False
    """Whether a `package.json` names what is needed for development."""
    paths: tuple[str, ...]
    """Folders from which code is imported, of which the first that is there counts."""
    tests: tuple[tuple[str, ...], ...]
    sources: tuple[str, ...]
    without: tuple[str, ...]
    """Globs of what is neither code that is worth breaking nor a test."""
    leaves: tuple[str, ...]
    """What a run of the tests leaves behind in the checkout."""
    strip: dict[ArtifactKind, tuple[str, ...]]
    """What an archive of a kind holds and a checkout does not."""
    frameworks: tuple[TestFramework, ...]


class Languages(RootModel[dict[str, Language]]):
    """By name."""


class Environment(Record):
    """What the packages that a foreign task needs have to be, where their newest do not fit."""

    repo: str
    """The project, as `owner/name`."""
    versions: tuple[str, ...] = ()
    """The data set's name for its environments; without one, all."""
    requires: tuple[str, ...] = ()
    """Packages that the project needs and does not say where it can be read."""
    constraints: tuple[str, ...] = ()


class Environments(RootModel[tuple[Environment, ...]]):
    """All that hold for an instance hold together."""
