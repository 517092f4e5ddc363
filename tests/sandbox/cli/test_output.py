"""Output that is full, closed or narrow: no traceback, and exit 1 is a verdict and nothing else."""

import subprocess
import sys
from pathlib import Path

import pytest

from sandbox.cli.terminal import Progress, coloured

SANDBOX = str(Path(sys.executable).with_name("sandbox"))


def ended(line: str, folder: Path) -> tuple[int, str]:
    """Run a line of a shell, in which `sandbox` is the command; its exit code and what it said."""
    made = subprocess.run(
        ["/bin/bash", "-c", line.replace("sandbox", SANDBOX, 1)],
        cwd=folder,
        capture_output=True,
        timeout=60,
        check=False,
    )
    return made.returncode, (made.stdout + made.stderr).decode("utf-8", "replace")


@pytest.mark.slow
@pytest.mark.sampled(every=3)
@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("sandbox tasks > /dev/full", 3),
        ("sandbox tasks --json > /dev/full", 3),
        ("sandbox --help > /dev/full", 3),
        ("sandbox check cjson/planes > /dev/full 2> /dev/full", 3),
        ("sandbox tasks >&- 2>&-", 0),
        ("sandbox show nothing 2>&-", 2),
        ("sandbox show nothing >&- 2>&-", 2),
        ("sandbox show nothing 2> /dev/full", 2),
        ("sandbox nonsense 2>&-", 2),
        ("sandbox run nonsense/x --agent null 2>&-", 2),
        ("sandbox show cjson/planes | head -n 1", 0),
        ("PYTHONIOENCODING=ascii sandbox show qs/guard-once", 0),
        ("sandbox run qs/guard-once --agent $'/bin/echo \\xff' --runs runs", 2),
        ("sandbox run qs/guard-once --agent null --trials 999999999999", 2),
        ("sandbox run qs/guard-once --agent null --jobs -3", 2),
        ("sandbox show $'a/b\\x01\\xff'", 2),
        ("sandbox show $(printf 'a/%05000d' 1)", 2),
        ("export SANDBOX_PROJECT=$(printf %05000d 1); exec sandbox tasks", 3),
        ("export SANDBOX_RUNS=$(printf %0300d 1); exec sandbox show last", 3),
        ("export SANDBOX_RUNS=/dev/null; exec sandbox report", 3),
        ("export DOCKER_HOST=tcp://127.0.0.1:99999; exec sandbox gc", 3),
        ("export SANDBOX_RUNTIME=$'\\xff'; exec sandbox run qs/guard-once --agent null", 2),
        ("ulimit -n 6; exec sandbox show nothing", 2),
        ("sandbox policy explain qs/guard-once $'\\xff'", 0),
    ],
)
def test_output_cannot_end_a_verb_without_a_word(tmp_path: Path, line: str, code: int) -> None:
    found, said = ended(line, tmp_path)
    assert found == code, said
    assert "Traceback" not in said


@pytest.mark.slow
def test_what_was_lost_is_said(tmp_path: Path) -> None:
    _, said = ended("sandbox tasks > /dev/full", tmp_path)
    assert "The output cannot be written: No space left on device." in said


def test_showing_progress_ends_nothing() -> None:
    with Path("/dev/full").open("w") as full:
        progress = Progress(full)
        progress.done("x" * 100_000)
        progress.close()
    Progress(None).done("nobody")
    assert coloured("passed", None) == "passed"
