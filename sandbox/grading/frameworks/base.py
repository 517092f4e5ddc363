"""What the grading of hidden tests needs to know of a test framework, and nothing else.

A framework brings a runner, a file of the grader's that is laid into the container and runs one
test file per process. What every runner does, and one that forks (`Forking`) in its child:

- It parts standard output from everything the tests print before it loads any of their code:
  what the tests print goes to standard error.
- On the standard output that it was started with it writes one line of JSON when a test has ended,
  teardown included: `{"test": ID, "outcome": O}`, each id once, O being one of `passed`, `failed`
  (an assertion or exception of the test itself), `error` (around it), `skipped`, `xfailed`,
  `xpassed`. Its last line is `{"end": N}`, N being the number of tests that it has told of.
- It ends at once, without running what the tests have registered for the exit, with the status
  `exit_status(N)`, N being the number of tests that ended as `failed` or `error` by the
  framework's own count, not by the lines that were written.
"""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

FINISHED = 16
"""The lowest exit status of a runner that came to its end."""

STATUSES = 200


def exit_status(failed: int) -> int:
    """Give the status with which a runner ends: a second channel beside the lines."""
    return FINISHED + failed % STATUSES


@dataclass(frozen=True, slots=True)
class TestFile:
    """A test file as it is laid into the container, canaries included."""

    __test__ = False

    source: bytes
    canaries: frozenset[str]
    """Ids of the tests that were put in, of which each has to end as `failed`."""
    decoy: bool = False
    """Whether the canaries are tests of the file's own, made to fail, without their parameters."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where things are in the grading container."""

    folder: str
    """The grader's folder, absolute, with the files that `runner_files` gave."""
    worktree: str
    hidden: frozenset[str]
    """The hidden files, relative to the worktree."""
    own: frozenset[str] = frozenset()
    """The files that are the candidate's own, likewise."""
    locked: bool = True
    """Whether what tests judge with is kept from the candidate's code, where a runner does so. For
    tests that the candidate brings it is not: they may replace what they like for a while."""


class Framework(Protocol):
    """One test framework."""

    environment: Mapping[str, str]
    """The whole environment of the runner, HOME and TMPDIR apart."""

    def is_test_file(self, path: str) -> bool:
        """Whether the framework looks for tests in a file of this name."""

    def file_of(self, test: str) -> str:
        """The file that a test id is in, relative to the worktree."""

    def configures(self, path: str) -> bool:
        """Whether a hidden file is the runner's configuration and stays out of the worktree."""

    def runner_files(self, hidden: Mapping[str, bytes]) -> dict[str, bytes]:
        """The files for the grader's folder, by name: the runner and its configuration."""

    def with_canaries(self, path: str, source: bytes, chance: random.Random) -> TestFile:
        """Put tests that have to fail into a test file, like its own in all but that.

        Names, places and ways to fail are drawn. ValueError where the source cannot be read.
        """

    def sabotaged(self, path: str, source: bytes, chance: random.Random) -> TestFile | None:
        """Make tests of a file fail before they call anything, under the same ids.

        The ids are those without parameters. None where it cannot be done to any of them.
        ValueError where the source cannot be read.
        """

    def loads(self, source: bytes) -> set[str]:
        """Name the files that a test file loads, without folders and suffixes; others, too.

        ValueError where the source cannot be read.
        """


@runtime_checkable
class Spawning(Framework, Protocol):
    """A framework whose runner runs one test file and ends."""

    def argv(self, place: Place, path: str) -> tuple[str, ...]:
        """The command that runs one test file, from the worktree."""


@runtime_checkable
class Forking(Framework, Protocol):
    """A framework whose runner stays and forks, for each file or for each test, which is quicker.

    Each line that such a runner reads is a list of arguments. What they ask for runs in children,
    and ends as if a runner of that file alone had done it. When a child has ended the runner kills
    whatever else its user runs. It answers by a line of JSON: `outcomes` and `log` (base64),
    `status`, the exit status, or null where a signal ended it, and `cut`, whether there was more
    than is told. The runner itself never loads what it runs, and no child may read or change it.
    """

    ahead: bool
    """Whether the runner is started before there is a candidate. It then reads nothing of the
    worktree, and its first line says whether that was possible: `{"serves": true}`. If not, each
    file has a process of its own, for which the framework is `Spawning`, too."""
    patience: float
    """Seconds after which another runner is started beside the first one, where files are left. It
    does again whatever a runner does once."""

    def server(self, place: Place) -> tuple[str, ...]:
        """The command that starts the runner."""

    def arguments(self, place: Place, path: str) -> list[str]:
        """The arguments that run one test file."""


AnyFramework = Spawning | Forking
"""A framework is of one of the two kinds."""
