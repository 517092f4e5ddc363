"""Building what the cases call: the candidate's sources, with a program of the grader's own."""

from dataclasses import dataclass
from pathlib import Path

from sandbox.container.changes.patch import safe
from sandbox.container.engines.base import Session
from sandbox.grading.cases.subjects import command
from sandbox.grading.testers import BUILDER, tester
from sandbox.model.session import ROOT
from sandbox.model.task import Build

FILES, BUILT = "{files}", "{built}"
LOG_LIMIT = 2000


@dataclass(frozen=True, slots=True)
class Built:
    """What came of a build."""

    folder: str = ""
    """Where it lies in the container: of a user who runs nothing else."""
    problem: str = ""
    """Why there is nothing; the candidate's doing as a rule, and no tampering."""

    def filled(self, argv: tuple[str, ...]) -> tuple[str, ...]:
        """Name the folder in a command."""
        return tuple(word.replace(BUILT, self.folder) for word in argv)


def build(declared: Build, task: Path, session: Session, worktree: str, folder: str) -> Built:
    """Build once, as a user of its own; what the build leaves running is killed.

    The candidate is laid already. `task` is the folder that `files` lies in, `folder` the grader's
    own in the container. Raises EngineError and its kind where the session breaks.
    """
    laid = f"{folder}/files"
    for path in sorted((task / declared.files).iterdir()):
        content = path.read_bytes()
        session.write(f"{laid}/{path.name}", content, mode=0o444, user=ROOT, parents=True)
    builder = tester(session, BUILDER)
    built = Built(builder.home)
    argv = tuple(word.replace(FILES, laid) for word in built.filled(declared.argv))
    completed = session.run(command(argv, worktree, builder, declared.seconds))
    session.kill_all()
    if completed.timed_out:
        return Built(problem=f"the build took more than {declared.seconds:g} seconds")
    if completed.exit_code:
        said = completed.stderr.decode("utf-8", "replace")[:LOG_LIMIT]
        return Built(problem=safe(f"the build ended with {completed.exit_code}: {said}"))
    return built
