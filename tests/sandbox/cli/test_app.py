"""What becomes of errors and signals."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from sandbox.cli.app import GROUPS, PIPE_CLOSED, VERBS, application, reported
from sandbox.cli.crash import crash_report, told
from sandbox.cli.verbs.run import EXIT_CODES
from sandbox.model import errors
from sandbox.model.verdict import Verdict
from tests.end_to_end.commands import SANDBOX

SIGNALLED = """
import os, signal, sys, time
from sandbox.cli.interrupts import Interrupts
Interrupts().install()
try:
    os.kill(os.getpid(), {number})
except KeyboardInterrupt:
    os.kill(os.getpid(), {number})
    print("put away", flush=True)
    {more}
    sys.exit(7)
"""


def ending(error: BaseException) -> int:
    """The exit code of a verb that raises."""

    def verb() -> None:
        raise error

    with pytest.raises(typer.Exit) as found:
        reported(verb)()
    return found.value.exit_code


def test_every_verdict_has_an_exit_code() -> None:
    assert EXIT_CODES == {"passed": 0, "failed": 1, "error": 3, "invalid": 4}
    assert set(EXIT_CODES) == {verdict.value for verdict in Verdict}


LOADING = """
import os, signal
from pydantic_core import SchemaValidator, core_schema
from sandbox.cli import app

class Late:
    def __set_name__(self, owner, name):
        os.kill(os.getpid(), signal.SIGINT)

    @property
    def value(self):
        os.kill(os.getpid(), signal.SIGINT)

def loaded(words):
    WORK

app.application = loaded
app.main()
"""
"""An interrupt while a class is made, or what checks its fields."""
MAKING = (
    'type("Model", (), {"field": Late()})',
    "SchemaValidator(core_schema.enum_schema(Late, [Late()]))",
)


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (errors.UsageError, 2),
        (errors.DocumentError, 2),
        (errors.AgentError, 2),
        (errors.EngineError, 3),
        (errors.SessionLostError, 3),
        (errors.ImageError, 3),
        (errors.SourceError, 3),
        (errors.StoreError, 3),
        (errors.EvidenceError, 4),
    ],
)
def test_an_error_is_told_and_has_its_code(
    kind: type[errors.SandboxError], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ending(kind("It broke.", "Mend it.")) == code
    assert capsys.readouterr().err == "error: It broke.\nMend it.\n"


def test_an_interrupt_has_its_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert ending(KeyboardInterrupt()) == 130
    assert capsys.readouterr().err == "interrupted\n"


@pytest.mark.parametrize("making", MAKING)
def test_an_interrupt_while_modules_are_loaded_is_no_mistake_of_ours(making: str) -> None:
    source = LOADING.replace("WORK", making)
    ended = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, check=False, timeout=60
    )
    assert (ended.returncode, ended.stderr) == (130, "interrupted\n")


def test_a_text_about_interrupts_is_none() -> None:
    source = LOADING.replace("WORK", "raise ValueError('no KeyboardInterrupt')")
    ended = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, check=False, timeout=60
    )
    assert (ended.returncode, "a mistake in sandbox itself" in ended.stderr) == (3, True)
    Path(ended.stderr.strip().rpartition(" ")[2].rstrip(".")).unlink()


def test_a_closed_pipe_is_no_pass(capfd: pytest.CaptureFixture[str]) -> None:
    kept = os.dup(sys.__stdout__.fileno()) if sys.__stdout__ else -1
    try:
        assert ending(BrokenPipeError()) == PIPE_CLOSED
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def test_what_is_unexpected_is_not_hidden() -> None:
    def verb() -> None:
        raise ZeroDivisionError("by chance")

    with pytest.raises(ZeroDivisionError) as found:
        reported(verb)()
    report = crash_report(found.value)
    assert "ZeroDivisionError: by chance" in report
    assert f"Python {sys.version.split()[0]}" in report
    said = told(found.value)
    assert "a mistake in sandbox itself: ZeroDivisionError: by chance" in said.message
    kept = Path(said.next_step.rpartition(" ")[2].rstrip("."))
    assert kept.read_text() == report + "\n"
    kept.unlink()


def test_what_this_machine_refuses_is_a_sentence() -> None:
    refused = told(OSError(errno.EMFILE, "Too many open files"))
    assert (refused.message, refused.next_step) == (
        "Too many open files.", "Raise the limit of open files (`ulimit -n`)."
    )  # fmt: skip
    assert told(OSError(errno.EIO, "x", "/a")).message == "/a: Input/output error."
    assert told(OSError(errno.ENOSPC, "x", 3)).message == "No space left on device."


def test_what_nobody_expects_of_a_machine_keeps_its_traceback() -> None:
    said = told(BrokenPipeError(errno.EPIPE, "Broken pipe"))
    assert "a mistake in sandbox itself: BrokenPipeError" in said.message
    Path(said.next_step.rpartition(" ")[2].rstrip(".")).unlink()


def test_a_verb_keeps_its_name_and_help() -> None:
    commands = typer.main.get_command(application()).commands  # type: ignore[attr-defined]
    assert tuple(commands) == (*VERBS, *GROUPS)
    for name, command in commands.items():
        assert command.help
        alone = typer.main.get_command(application([name, "x"])).commands  # type: ignore[attr-defined]
        assert (list(alone), alone[name].help) == ([name], command.help)


def test_a_word_that_is_not_a_verb_is_looked_for_among_all() -> None:
    ended = CliRunner().invoke(application(["rnu"]), ["rnu"])
    assert ended.exit_code == 2
    assert "No such command 'rnu'" in ended.output


def signalled(number: int, more: str) -> subprocess.CompletedProcess[bytes]:
    source = SIGNALLED.format(number=number, more=more)
    return subprocess.run([sys.executable, "-c", source], capture_output=True, check=False)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_second_signal_breaks_off_nothing_and_the_third_does(number: int) -> None:
    twice = signalled(number, "")
    assert (twice.returncode, twice.stdout) == (7, b"put away\n")
    assert b"once more" in twice.stderr
    thrice = signalled(number, f"os.kill(os.getpid(), {number:d})")
    assert (thrice.returncode, thrice.stdout) == (130, b"put away\n")


LOST = """
import os, signal, time, weakref
from sandbox.cli.interrupts import Interrupts

class Thing:
    def __del__(self):
        if {deleted}:
            os.kill(os.getpid(), signal.{name})
            time.sleep(0.05)

def gone(reference):
    if not {deleted}:
        os.kill(os.getpid(), signal.{name})
        time.sleep(0.05)

Interrupts().install()
try:
    thing = Thing()
    reference = weakref.ref(thing, gone)
    del thing
    print("went on", flush=True)
    time.sleep(20)
except KeyboardInterrupt:
    print("put away")
"""


@pytest.mark.parametrize("deleted", [True, False])
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_is_not_lost_where_nothing_can_be_raised(name: str, deleted: bool) -> None:
    source = LOST.format(name=name, deleted=deleted)
    ended = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, check=False, timeout=15
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.endswith("put away\n")  # perhaps in the middle of the line before


def test_other_exceptions_that_nothing_can_take_are_printed() -> None:
    source = (
        "from sandbox.cli.interrupts import Interrupts\n"
        "class Thing:\n    def __del__(self): 1 / 0\n"
        "Interrupts().install(); thing = Thing(); del thing; print('went on')"
    )
    ended = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, check=True
    )
    assert (ended.stdout, "ZeroDivisionError" in ended.stderr) == ("went on\n", True)


def test_a_signal_that_is_to_be_ignored_stays_so() -> None:
    source = (
        "import signal; from sandbox.cli.interrupts import Interrupts\n"
        "signal.signal(signal.SIGHUP, signal.SIG_IGN); Interrupts().install()\n"
        "assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN"
    )
    subprocess.run([sys.executable, "-c", source], check=True)


def test_a_terminal_that_nobody_has_is_not_believed() -> None:
    ended = subprocess.run(
        [SANDBOX, "runs", "--runs"],
        env={**os.environ, "COLUMNS": "9" * 20},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "requires an argument" in ended.stderr
