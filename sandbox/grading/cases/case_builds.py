"""Building what the cases call: the candidate's sources, with a program of the grader's own."""

from dataclasses import dataclass
from pathlib import Path

from sandbox.container.changes.patch import safe
from sandbox.container.engines.base import Session
from sandbox.grading.cases.standing import Standing
from sandbox.grading.testers import Testers, drawn_folder, drawn_name
from sandbox.model.session import ROOT, Command
from sandbox.model.task_tests import Build

FILES, BUILT, PROGRAM = "{files}", "{built}", "{program}"
LOG_LIMIT = 2000


@dataclass(frozen=True, slots=True)
class Built:
    """What came of a build."""

    folder: str = ""
    """Where it lies in the container: of a user who runs nothing else."""
    program: str = ""
    """The name of a file in it, drawn, for what a task calls its program."""
    problem: str = ""
    """Why there is nothing; the candidate's doing as a rule, and no tampering."""

    def filled(self, argv: tuple[str, ...]) -> tuple[str, ...]:
        """Name the folder in a command."""
        program = f"{self.folder}/{self.program}"
        return tuple(word.replace(BUILT, self.folder).replace(PROGRAM, program) for word in argv)


def build(declared: Build, task: Path, session: Session, worktree: str, testers: Testers) -> Built:
    """Build once, as a user of its own; what the build leaves running is killed.

    The candidate is laid already. `task` is the folder that `files` lies in. Raises EngineError
    and its kind where the session breaks.
    """
    laid = drawn_folder()
    for path in sorted((task / declared.files).iterdir()):
        content = path.read_bytes()
        session.write(f"{laid}/{path.name}", content, mode=0o444, user=ROOT, parents=True)
    builder = testers.new()
    testers.keep(builder.home)
    built = Built(builder.home, drawn_name())
    argv = tuple(word.replace(FILES, laid) for word in built.filled(declared.argv))
    completed = session.run(
        Standing.apart(session, worktree, builder).command(argv, declared.seconds)
    )
    session.kill_all()
    session.run(Command(argv=("/bin/rm", "-rf", laid), user=ROOT))
    if completed.timed_out:
        return Built(problem=f"the build took more than {declared.seconds:g} seconds")
    if completed.exit_code:
        said = completed.stderr.decode("utf-8", "replace")[:LOG_LIMIT]
        return Built(problem=safe(f"the build ended with {completed.exit_code}: {said}"))
    return built
