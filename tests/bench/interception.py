"""What it costs to see execs: the same commands with logging and without, and a held exec.

The task's image has no compiler: what `make -j4` makes are 48 compressed files, each with a shell
and three programs that work for about ten milliseconds.
"""

import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from sandbox.container.engines.base import Limits, Session, SessionSpec
from sandbox.model.agent_environment import ENVIRONMENT
from sandbox.model.session import AGENT, Command, ExecObserver, Interception
from tests.bench.clock import Measure, interleaved
from tests.bench.fixture import open_session, prepared

ROUNDS = 15
FLOOD = 16_000
HELD = 200
"""Execs whose hold is timed."""

LOOP = "for i in $(seq 2000); do /bin/true; done"
GIT = """
set -e; rm -rf /tmp/g; git clone -q --no-hardlinks . /tmp/g; cd /tmp/g
for i in 1 2 3 4 5 6 7 8; do
    echo $i >> new; git add new; git commit -q -m "$i"; git status --short
    git log --oneline -5; git diff HEAD~1 --stat
done > /dev/null
git checkout -q -b other HEAD~3; git merge -q -; git gc -q
"""
MAKE = """
mkdir -p /tmp/m; cd /tmp/m; rm -f object*
printf '%s\\n' 'all: $(patsubst %,object%,$(shell seq 48))' 'object%:' > Makefile
printf '\\t%s\\n' 'head -c 300000 /usr/bin/git | gzip -c > $@.part' 'mv $@.part $@' >> Makefile
make -s -j4
"""
TESTS = "pytest -q tests --continue-on-collection-errors > /tmp/tests-output || test $? = 1"
"""Some fail: the task is not solved."""


def ratio(session: Session, line: str, folder: str) -> list[float]:
    def run(how: Interception) -> None:
        done = session.run(
            Command(
                ("/bin/bash", "-c", line), cwd=folder, environment=ENVIRONMENT, interception=how
            )
        )
        if done.exit_code != 0:
            raise RuntimeError(f"{line}: {done.stderr.decode(errors='replace')}")

    return interleaved(ROUNDS, lambda: run("log"), lambda: run("off"))


def held(session: Session) -> float:
    """Milliseconds that a hold adds to one exec, p50: the same command with and without."""
    true = {how: Command(("/bin/true",), interception=how) for how in ("off", "hold")}

    def once(how: str) -> float:
        begun = time.perf_counter()
        session.run(true[how])
        return (time.perf_counter() - begun) * 1000

    pairs = [(once("hold"), once("off")) for _ in range(HELD)]
    return statistics.median(one for one, _ in pairs) - statistics.median(one for _, one in pairs)


def flood() -> float:
    """Milliseconds for 1,000 execs of the smallest program, by 16 processes on 4 processors."""
    folder = Path(__file__).parent.parent / "sandbox" / "container" / "supervisor"
    target = ["-target", f"{platform.machine()}-linux-musl", "-static", "-O1", "-D_GNU_SOURCE"]
    zig = [sys.executable, "-m", "ziglang", "cc", *target]
    with prepared() as (engine, _, image), tempfile.TemporaryDirectory() as place:
        subprocess.run([*zig, "-o", f"{place}/attacks", folder / "attacks.c"], check=True)
        subprocess.run([*zig, "-nostdlib", "-o", f"{place}/tiny", folder / "tiny.c"], check=True)
        with engine.start(SessionSpec(image.tag, limits=Limits(cpus=4))) as session:
            for name in ("attacks", "tiny"):
                data = Path(place, name).read_bytes()
                session.write(f"/tmp/{name}", data, mode=0o755, user=AGENT)
            session.on_exec(ExecObserver())
            argv = ("/tmp/attacks", "flood", "/tmp/tiny", str(FLOOD), "16")
            taken = [
                session.run(
                    Command(argv, environment=ENVIRONMENT, interception="log", execs_told=2 * FLOOD)
                ).duration
                for _ in range(5)
            ]
    return statistics.median(taken) / FLOOD * 1e6


def measure() -> list[Measure]:
    with prepared() as (engine, task, image), open_session(engine, image.tag) as session:
        session.on_exec(ExecObserver())
        wanted = (
            ("2,000 execs of `true`, logged", LOOP, 1.5),
            ("git workload, logged", GIT, 1.2),
            ("`make -j4` of shell recipes, logged", MAKE, 1.25),
            ("pytest, logged", TESTS, 1.05),
        )
        rows: list[Measure] = []
        for what, line, bound in wanted:
            logged, plain = ratio(session, line, task.worktree)
            rows.append((what, "not logged", logged, plain, bound, False))
        rows.append(("a held exec adds", "the millisecond", held(session), 1.0, 1.0, False))
    rows.append(("1,000 execs of a flood, logged", "5,000 a second", flood(), 200.0, 1.0, False))
    return rows
