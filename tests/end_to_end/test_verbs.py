"""The verbs that are not a run: tasks, build, keep and gc, doctor; and what they load."""

import io
import json
import os
import secrets
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from sandbox.container.engines.base import ContainerInfo, Engine, SessionSpec
from sandbox.model.store import Store
from sandbox.model.task import Task
from sandbox.run.run_containers import RUN
from sandbox.tasks.images import BuiltImage
from tests.end_to_end import commands, scripts
from tests.end_to_end.commands import HUMANIZE, NO_ENGINE, SANDBOX, Recorded, sandbox, swept

HEAVY = ("docker", "git", "dulwich", "requests", "yaml", "zstandard")
LOADED = """
import sys
sys.argv[1:] = {arguments!r}
try:
    from sandbox.cli.app import main
    main()
except SystemExit:
    pass
print(sorted(set(sys.modules) & set({heavy!r})), file=sys.stderr)
"""


def loaded(*arguments: str, heavy: tuple[str, ...]) -> str:
    """Which of the heavy packages a command has imported."""
    source = LOADED.format(arguments=list(arguments), heavy=heavy)
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, check=True)
    return done.stderr.decode().strip()


def test_importing_it_loads_nothing() -> None:
    source = f"import sandbox, sys; print(sorted(set(sys.modules) & set({HEAVY!r})))"
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, check=True)
    assert done.stdout == b"[]\n"


def test_help_loads_nothing_heavy() -> None:
    assert loaded("--help", heavy=(*HEAVY, "pydantic")) == "[]"


@pytest.mark.slow
def test_a_list_needs_no_engine() -> None:
    assert loaded("tasks", heavy=("docker", "git", "dulwich", "requests")) == "[]"


@pytest.mark.slow
def test_tasks_are_listed() -> None:
    listed = sandbox("tasks", DOCKER_HOST=NO_ENGINE)
    assert listed.code == 0
    assert [HUMANIZE, "edit_test_loop"] in [row.split()[:2] for row in listed.out.splitlines()]
    rows = json.loads(sandbox("tasks", "--json").out)
    assert HUMANIZE in [row["id"] for row in rows]


def test_a_task_is_shown() -> None:
    shown = sandbox("show", HUMANIZE, DOCKER_HOST=NO_ENGINE)
    assert shown.code == 0
    assert "Ticket HUM-214." in shown.out
    assert "final   failing_before: integer" in shown.out.splitlines()
    task = Task.model_validate_json(sandbox("show", HUMANIZE, "--json").out)
    assert task.id == HUMANIZE


def test_what_a_plan_is_compiled_to_is_shown() -> None:
    shown = sandbox("show", HUMANIZE, "--compiled", DOCKER_HOST=NO_ENGINE)
    assert shown.code == 0
    assert "\n- action: read_file\n  arguments:\n    path: AGENTS.md\n" in shown.out
    assert "\n  - id: fix-blindly\n    from: told\n    to: fixed\n" in shown.out
    refused = sandbox("show", "last", "--compiled")
    assert (refused.code, refused.err.partition("\n")[0]) == (
        2,
        "error: --compiled goes with a task.",
    )


def test_a_verb_that_does_not_exist() -> None:
    assert sandbox("fly").code == 2
    assert sandbox("run").code == 2


@pytest.mark.slow
def test_a_reader_that_leaves_is_no_crash() -> None:
    line = f"{SANDBOX} show {HUMANIZE} --json | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, check=False)
    assert done.returncode in (0, 141)  # the reader may leave before or after
    assert done.stderr == b""


@pytest.mark.parametrize(
    "words", [["--help"], ["show", HUMANIZE], ["show", "--help"]], ids=" ".join
)
def test_output_that_nobody_reads_has_the_code_of_a_closed_pipe(words: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as closed:
        done = subprocess.run([SANDBOX, *words], stdout=closed, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.engine
def test_the_second_build_does_nothing(image: BuiltImage) -> None:
    first = json.loads(sandbox("build", HUMANIZE, "--json").out)
    built = sandbox("build", HUMANIZE)
    assert built.code == 0
    assert f"{HUMANIZE}  {image.tag}" in built.err
    assert built.err.endswith("up to date\n")
    assert [each["id"] for each in first] == [image.id]
    assert first[0]["rebuilt"] is False


@pytest.mark.engine
def test_the_doctor_finds_all_that_is_needed() -> None:
    examined = sandbox("doctor")
    assert examined.code == 0
    assert "bad" not in [row.split()[0] for row in examined.out.splitlines()]
    assert "checks" in json.loads(sandbox("doctor", "--json").out)


def test_the_doctor_says_what_is_missing() -> None:
    examined = sandbox("doctor", DOCKER_HOST=NO_ENGINE)
    assert examined.code == 3
    assert "bad" in [row.split()[0] for row in examined.out.splitlines()]
    assert "--mend" in examined.out


@pytest.mark.engine
def test_gc_needs_an_engine() -> None:
    assert sandbox("gc", DOCKER_HOST=NO_ENGINE).code == 3


def containers(engine: Engine, run_id: str) -> list[ContainerInfo]:
    return engine.containers(f"{RUN}={run_id}")


@pytest.mark.engine
def test_gc_of_a_run_that_is_not_there_says_so(runs: Path, tmp_path: Path) -> None:
    left = tmp_path / "sandbox-of-a-dead-process"  # folders that are nobody's go with any gc
    left.mkdir()
    os.utime(left, (0, 0))
    ended = sandbox("gc", "no-such-run", "--runs", runs, TMPDIR=str(tmp_path))
    assert not left.exists()
    assert ended.code == 0
    assert ended.out.splitlines() == ["0 containers removed", "1 temporary folder removed"]
    assert "No run begins with 'no-such-run'" in ended.err


@pytest.mark.slow
@pytest.mark.engine
def test_a_container_is_kept_until_it_is_not_wanted(
    runs: Path, engine: Engine, tmp_path: Path
) -> None:
    note = scripts.write(tmp_path / "note.yaml", scripts.command("echo kept > /tmp/note"))
    ended = commands.run(note, runs, "--keep")
    assert ended.code == 1
    stored = Recorded(Store(runs).find("last"))
    (kept,) = containers(engine, stored.folder.id)
    assert not kept.running
    name = stored.record.container
    assert name
    assert f"container {name} is kept; `sandbox gc --kept` removes it" in ended.out
    assert copied(engine, name, "/tmp/note") == b"kept\n"
    assert sandbox("gc", stored.folder.id).out.startswith("0 containers removed\n")
    assert sandbox("gc", "last", "--runs", runs).out.startswith("0 containers removed\n")
    assert "No run begins" not in sandbox("gc", "last", "--runs", runs).err
    assert sandbox("report", "--task", f"{stored.record.task[:-1]}*", "--runs", runs).code == 0
    for verb in ("runs", "report"):
        told = sandbox(verb, "--experiment", "nope", "--runs", runs)
        assert (told.code, "There is no experiment nope." in told.err) == (2, True)
    assert swept("another-run", "--kept") == []
    assert containers(engine, stored.folder.id) == [kept]
    assert swept(stored.folder.id[:8], "--kept") == [kept.id]
    assert containers(engine, stored.folder.id) == []


def copied(engine: Engine, container: str, path: str) -> bytes:
    """What `docker cp` gives for a file of a container that has stopped."""
    from docker import APIClient

    client = APIClient(engine.info().endpoint)
    try:
        pieces, _ = client.get_archive(container, path)
        data = b"".join(pieces)
    finally:
        client.close()
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        member = archive.extractfile(archive.getmembers()[0])
        assert member is not None
        return member.read()


@pytest.mark.engine
def test_gc_leaves_what_runs(engine: Engine, image: BuiltImage) -> None:
    mark = "running-" + secrets.token_hex(8)
    with engine.start(SessionSpec(image.id, labels={RUN: mark})) as session:
        assert swept(mark, "--kept") == []
        assert session.usage().processes == 0
