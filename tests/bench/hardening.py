"""What the hardening of hidden tests costs: the same files of a solved task, run plainly."""

import time
from dataclasses import replace

from sandbox.container.candidate import Candidate, CandidateFile, lay
from sandbox.container.engines.base import Session
from sandbox.grading.frameworks import FRAMEWORKS
from sandbox.grading.grading_session import GradingSession
from sandbox.grading.hidden import run_tests
from sandbox.model.session import ROOT, Command
from sandbox.tasks.library import LoadedTask, files_below
from tests.bench.clock import Measure, interleaved
from tests.bench.fixture import open_session, prepared

ROUNDS = 15
PLAIN = "plain pytest"
LOADED_SECONDS = 0.5
"""Until a runner has surely loaded pytest."""
SOURCE = "src/humanize/filesize.py"


def solved(session: Session, task: LoadedTask) -> Candidate:
    """The one line that the task's defect is about, mended."""
    content = session.read(f"{task.worktree}/{SOURCE}")
    mended = content.replace(b"round(bytes_ / unit, 3) < 1", b"abs_bytes < unit")
    return Candidate({SOURCE: CandidateFile(mended, executable=False)}, (), {})


def measure() -> list[Measure]:
    with (
        prepared() as (engine, loaded, image),
        open_session(engine, image.tag) as graded,
        open_session(engine, image.tag) as bare,
    ):
        tests = loaded.task.tests.model_copy(update={"cases": None})
        task = replace(loaded, task=loaded.task.model_copy(update={"tests": tests}))
        candidate = solved(bare, task)
        lay(candidate, bare, task.worktree)
        assert tests.hidden is not None
        hidden = task.folder / tests.hidden
        for path in files_below(hidden):
            name = f"{task.worktree}/{path.relative_to(hidden)}"
            bare.write(name, path.read_bytes(), parents=True)
        framework = FRAMEWORKS[tests.framework]
        files = {framework.file_of(test) for test in tests.fail_to_pass + tests.pass_to_pass}
        plain = Command(
            argv=("/opt/venv/bin/python", "-m", "pytest", "-q", *sorted(files)),
            cwd=task.worktree,
            environment=dict(framework.environment),
        )

        pristine = {name: bare.read(f"{task.worktree}/{name}") for name in files}

        ready: list[GradingSession] = []

        def prepare() -> None:
            for name, content in pristine.items():  # without the canaries of the last round
                graded.write(f"{task.worktree}/{name}", content, user=ROOT)
            ready.append(GradingSession.prepare(task, graded))
            time.sleep(LOADED_SECONDS)

        def hardened() -> None:
            report = run_tests(ready.pop(), candidate)
            assert set(report.outcomes.values()) == {"passed"}, report.problem

        def whole() -> None:
            ready.append(GradingSession.prepare(task, graded))
            hardened()

        def floor() -> None:
            assert bare.run(plain).exit_code == 0

        ours, theirs, all_of_it = interleaved(ROUNDS, hardened, floor, whole, before=prepare)
    return [
        (
            "hidden tests of a task, hardened, in a session that is ready",
            PLAIN,
            ours,
            theirs,
            1.1,
            False,
        ),
        ("the same and what makes it ready", PLAIN, all_of_it, theirs, 1.5, False),
    ]
