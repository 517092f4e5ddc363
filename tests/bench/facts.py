"""What facts cost: the same commands watched and logged, and in a session that sees nothing."""

from sandbox.container.engines.base import Engine, Session
from sandbox.model import places
from sandbox.model.agent_environment import ENVIRONMENT
from sandbox.model.session import Command, Interception
from sandbox.run.actions.exec_events import Executions
from sandbox.run.facts.observer import Facts
from sandbox.tasks import library
from sandbox.tasks.images import BuiltImage, Images
from sandbox.tasks.library import LoadedTask
from tests.bench.clock import Measure, interleaved
from tests.bench.fixture import open_session, prepared
from tests.bench.interception import GIT, LOOP, TESTS

ROUNDS = 7
DJANGO = "django/negative-durations"
READ = "find . -type f -not -path './.git/*' -print0 | xargs -0 cat > /dev/null"
HERE = GIT.replace("/tmp/g", "build/g").replace("rm -rf", "mkdir -p build; rm -rf", 1)
"""The same work below the worktree, where each file is watched."""


def ratio(engine: Engine, task: LoadedTask, image: BuiltImage, line: str) -> tuple[float, float]:
    """Milliseconds with facts and without."""
    with open_session(engine, image.tag) as seen, open_session(engine, image.tag) as plain:
        executions = Executions()
        facts = Facts(seen, task.task, task.worktree, executions, inside=False)
        seen.on_exec(facts)
        facts.begin(image.id)

        def run(session: Session, how: Interception) -> None:
            command = ("/bin/bash", "-c", line)
            done = session.run(
                Command(command, cwd=task.worktree, environment=ENVIRONMENT, interception=how)
            )
            if done.exit_code != 0:
                raise RuntimeError(f"{line}: {done.stderr.decode(errors='replace')}")

        def watched() -> None:
            run(seen, "log")
            seen.settle()
            executions.take()

        one, other = interleaved(ROUNDS, watched, lambda: run(plain, "off"))
    return one, other


def measure() -> list[Measure]:
    rows: list[Measure] = []
    with prepared() as (engine, task, image):
        large = library.load(DJANGO)
        built = Images(engine, places.cache()).ensure(large, print)
        wanted = (
            ("2,000 execs of `true`, with facts", task, image, LOOP, 1.5),
            ("git workload, with facts", task, image, GIT, 1.1),
            ("git workload in the worktree, with facts", task, image, HERE, 1.1),
            ("pytest, with facts", task, image, TESTS, 1.1),
            ("`cat` of all of Django's files, with facts", large, built, READ, 1.2),
        )
        for what, of, where, line, bound in wanted:
            with_facts, without = ratio(engine, of, where, line)
            rows.append((what, "without", with_facts, without, bound, False))
    return rows
