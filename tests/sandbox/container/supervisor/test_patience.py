"""A supervisor that is stopped holds nobody up for ever; one that is merely busy is waited for."""

import signal
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from sandbox.container.supervisor import client
from sandbox.container.supervisor import patience as patience_module
from sandbox.container.supervisor.client import Supervisor
from sandbox.container.supervisor.patience import Patience, Silence
from sandbox.model.errors import SessionLostError
from sandbox.model.session import WatchedFiles
from tests.sandbox.container.supervisor.local import SELF, Local, Start, command


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "ANSWER_SECONDS", 0.5)
    monkeypatch.setattr(client, "GRACE_SECONDS", 0.5)
    monkeypatch.setattr(client, "QUIET_SECONDS", 0.3)


@pytest.fixture
def stopped(start: Start, impatient: None) -> Iterator[Local]:
    local = start()
    assert local.run("true").exit_code == 0
    local.process.send_signal(signal.SIGSTOP)
    yield local
    local.process.send_signal(signal.SIGCONT)


def test_a_stopped_supervisor_loses_the_session_within_the_commands_limit_and_a_grace(
    stopped: Local,
) -> None:
    with pytest.raises(SessionLostError, match="said nothing for"):
        stopped.run("sleep", "0.1", timeout=0.2)
    with pytest.raises(SessionLostError, match="said nothing for"):
        stopped.supervisor.usage()


def test_a_stopped_supervisor_is_not_waited_for_until_a_long_limit_is_over(
    start: Start, impatient: None
) -> None:
    local = start()
    process = local.supervisor.start(command("sleep", "600", timeout=500.0))
    local.process.send_signal(signal.SIGSTOP)
    with pytest.raises(SessionLostError, match="said nothing for"):
        process.wait()
    local.process.send_signal(signal.SIGCONT)


QUESTIONS: dict[str, Callable[[Supervisor], object]] = {
    "usage": Supervisor.usage,
    "kill_all": Supervisor.kill_all,
    "settle": Supervisor.settle,
    "start": lambda supervisor: supervisor.start(command("sleep", "9")),
    "converse": lambda supervisor: supervisor.converse(command("cat")),
    "run": lambda supervisor: supervisor.run(command("sleep", "9", timeout=None)),
    "read": lambda supervisor: supervisor.read("/etc/passwd"),
    "write": lambda supervisor: supervisor.write("/tmp/never", b"x", user=SELF),
    "remove": lambda supervisor: supervisor.remove("/tmp/never", user=SELF),
    "stat": lambda supervisor: supervisor.stat("/tmp"),
    "list": lambda supervisor: supervisor.list("/tmp"),
    "manifest": lambda supervisor: supervisor.manifest(["/tmp"]),
    "watch": lambda supervisor: supervisor.watch(WatchedFiles(["/tmp"])),
    "listen": lambda supervisor: supervisor.listen(0, lambda _: None),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", QUESTIONS)
def test_every_question_to_a_stopped_supervisor_comes_to_an_end(stopped: Local, what: str) -> None:
    with pytest.raises(SessionLostError, match="said nothing for"):
        QUESTIONS[what](stopped.supervisor)


def test_the_end_of_a_listener_comes_where_the_supervisor_is_stopped(
    start: Start, impatient: None
) -> None:
    local = start()
    listener = local.supervisor.listen(0, lambda _: None)
    local.process.send_signal(signal.SIGSTOP)
    began = time.monotonic()
    listener.close()
    assert time.monotonic() - began < 20
    local.process.send_signal(signal.SIGCONT)


@pytest.mark.slow
@pytest.mark.usefixtures("impatient")
def test_a_command_without_a_limit_is_waited_for_while_the_supervisor_answers(
    start: Start,
) -> None:
    assert start().run("sleep", "1.7", timeout=None).exit_code == 0


@pytest.mark.parametrize("way", ["start", "converse"])
def test_the_wait_for_what_was_started_comes_to_an_end(
    start: Start, impatient: None, way: str
) -> None:
    local = start()
    limit = 0.2 if way == "start" else None
    process = getattr(local.supervisor, way)(command("sleep", "60", timeout=limit))
    local.process.send_signal(signal.SIGSTOP)
    if way == "converse":
        process.kill()
    with pytest.raises(SessionLostError, match="said nothing for"):
        process.wait()
    local.process.send_signal(signal.SIGCONT)


def test_who_waits_in_another_thread_is_told_too(stopped: Local) -> None:
    told: list[BaseException] = []

    def ask() -> None:
        try:
            stopped.run("sleep", "60", timeout=50.0)
        except SessionLostError as error:
            told.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    with pytest.raises(SessionLostError):
        stopped.supervisor.usage()
    thread.join(10)
    assert len(told) == 1


@pytest.mark.slow
@pytest.mark.usefixtures("impatient")
def test_a_command_that_is_silent_within_its_limit_is_waited_for(start: Start) -> None:
    assert start().run("sleep", "1.2", timeout=20.0).exit_code == 0


def test_a_word_now_and_then_is_enough() -> None:
    patience, said = Patience(), iter((True, True, True, False))

    def arrived(_: float) -> bool:
        time.sleep(0.05)
        if next(said, False):
            patience.heard()
        return False

    began = time.monotonic()
    with pytest.raises(Silence):
        patience.wait(arrived, 0.12)
    assert time.monotonic() - began > 0.2


def test_who_wants_the_end_waits_a_short_while_only(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patience_module, "HURRY_SECONDS", 0.5)
    local = start()
    assert local.run("true").exit_code == 0
    local.process.send_signal(signal.SIGSTOP)
    hurry = threading.Timer(0.3, local.supervisor.hurry)
    hurry.start()
    with pytest.raises(SessionLostError, match="said nothing for"):
        local.run("sleep", "100", timeout=300.0)
    local.process.send_signal(signal.SIGCONT)


def test_a_silence_from_before_is_not_held_against_who_is_hurried() -> None:
    patience, began = Patience(), time.monotonic()
    patience._heard = began - 100
    patience.hurry()
    patience.wait(lambda _: time.monotonic() - began > 0.05, 60.0)
