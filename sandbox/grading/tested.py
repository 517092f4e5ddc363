"""What tests are run on."""

from dataclasses import dataclass

from sandbox.container.candidate import Candidate
from sandbox.container.engines.base import Session
from sandbox.grading.files import Files
from sandbox.grading.frameworks.base import AnyFramework, Place
from sandbox.grading.testers import Testers


@dataclass(frozen=True, slots=True)
class Tested:
    """A candidate in its session, and who may test it there."""

    session: Session
    framework: AnyFramework
    place: Place
    testers: Testers
    candidate: Candidate
    before: Files
    """What stood where the candidate lies now."""
