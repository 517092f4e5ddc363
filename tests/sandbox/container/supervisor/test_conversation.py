"""Commands that are spoken with while they run."""

import os

import pytest

from sandbox.container.supervisor.conversation import RemoteConversation
from tests.sandbox.container.supervisor.local import Local, command


def hear(conversation: RemoteConversation, size: int) -> bytes:
    heard = b""
    while len(heard) < size:
        data = conversation.receive(30)
        assert data, "it ended"
        heard += data
    return heard


def test_each_line_is_answered_before_the_next_is_said(local: Local) -> None:
    conversation = local.supervisor.converse(command("cat"))
    for line in (b"one\n", b"two\n", "drei ü\n".encode()):
        conversation.send(line)
        assert hear(conversation, len(line)) == line
    conversation.kill()
    assert conversation.receive() == b""
    assert conversation.receive() == b""
    assert conversation.wait().killed


@pytest.mark.parametrize("size", [262_144, 262_145, 3_000_000])
def test_messages_of_any_size_arrive(local: Local, size: int) -> None:
    conversation = local.supervisor.converse(command("cat", stdout_limit=size))
    data = os.urandom(size)
    conversation.send(data)
    assert hear(conversation, size) == data
    conversation.kill()


def test_who_says_nothing_and_who_hears_nothing_is_noticed(local: Local) -> None:
    conversation = local.supervisor.converse(command("sleep", "60"))
    with pytest.raises(TimeoutError):
        conversation.receive(0.01)
    with pytest.raises(TimeoutError):
        conversation.send(bytes(1_000_000), 0.05)
    conversation.kill()
    assert conversation.wait(30).killed


def test_one_that_has_ended_is_told(local: Local) -> None:
    conversation = local.supervisor.converse(command("/bin/sh", "-c", "echo bye; exit 3"))
    assert hear(conversation, 4) == b"bye\n"
    assert conversation.receive(30) == b""
    assert conversation.wait(30).exit_code == 3
    with pytest.raises(BrokenPipeError):
        conversation.send(b"on\n")


def test_one_that_closes_its_ears_goes_on(local: Local) -> None:
    line = "exec 0<&-; echo deaf; sleep 0.2; echo end"
    conversation = local.supervisor.converse(command("/bin/sh", "-c", line))
    assert hear(conversation, 5) == b"deaf\n"
    conversation.send(bytes(1_000_000), 30)
    assert hear(conversation, 4) == b"end\n"
    assert conversation.wait(30).exit_code == 0


def test_a_program_that_is_missing_is_an_error(local: Local) -> None:
    with pytest.raises(FileNotFoundError):
        local.supervisor.converse(command("no-such-program"))


def test_what_is_beyond_the_cap_is_not_heard(local: Local) -> None:
    conversation = local.supervisor.converse(command("yes", stdout_limit=10))
    assert hear(conversation, 10) == b"y\n" * 5
    with pytest.raises(TimeoutError):
        conversation.receive(0.05)
    conversation.kill()
    assert conversation.wait(30).killed
