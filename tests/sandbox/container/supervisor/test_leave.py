"""How programs end is known below a command, too: by the kernel, or by what they ask for."""

import signal
import sys
from pathlib import Path

from sandbox.model.session import ExecOutcome
from tests.sandbox.container.supervisor.watched import Watched

IN_A_THREAD = """
import os, threading
threading.Thread(target=os._exit, args=(6,)).start()
threading.Event().wait()
"""


def ends_of(each: Watched, name: str) -> list[int | None]:
    names = dict(zip([one.number for one in each.recorder.all], each.recorder.names, strict=True))
    ends = each.recorder.ends.items()
    return [end.exit_code for number, end in ends if names[number] == name]


def test_each_part_of_a_line_has_its_own(each: Watched) -> None:
    each.shell("/bin/bash -c 'exit 4' | /bin/cat; /bin/false || /bin/true; exit 259")
    assert ends_of(each, "bash") == [4]
    assert ends_of(each, "cat") == [0]
    assert ends_of(each, "false") == [1]
    assert ends_of(each, "true") == [0]
    assert ends_of(each, "sh") == [3]


def in_python(each: Watched, code: str) -> tuple[int | None, list[int | None]]:
    """How a Python below a shell ended: as the shell was told, and as we were."""
    each.recorder.all.clear()
    each.recorder.ends.clear()
    done = each.run("/bin/sh", "-c", '"$0" -c "$1"; exit $?', sys.executable, code)
    return done.exit_code, ends_of(each, Path(sys.executable).name)


def test_what_another_thread_asks_for_counts(each: Watched) -> None:
    assert in_python(each, IN_A_THREAD) == (6, [6])


def test_who_is_killed_has_no_code(each: Watched) -> None:
    each.shell("/bin/bash -c 'kill -9 $$'; exit 0")
    end = each.recorder.end("bash")
    assert end.exit_code is None
    known = (ExecOutcome.EXITED, signal.SIGKILL)
    assert (end.outcome, end.signal) == (
        known if each.tells_signals else (ExecOutcome.UNKNOWN, None)
    )


def test_the_commands_own_signal_is_known(each: Watched) -> None:
    done = each.shell("kill -9 $$")
    assert done.signal == signal.SIGKILL
    assert each.recorder.end("sh").signal == signal.SIGKILL
