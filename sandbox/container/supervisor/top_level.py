"""What is told of a command where nobody sees the execs below it: the command itself."""

import os
from errno import EPERM

from sandbox.container.supervisor.protocol import encode
from sandbox.model.session import Command, Completed, Exec, ExecEnd, ExecOutcome


def execution(command: Command, pid: int = 0) -> Exec:
    """The command as an exec of its program."""
    arguments = tuple(encode(word) for word in command.argv)
    return Exec(
        number=0,
        tag=command.tag,
        program=arguments[0] if arguments else b"",
        resolved=b"",
        arguments=arguments,
        argument_count=len(arguments),
        truncated=False,
        cwd=encode(command.cwd),
        pid=pid,
        parent=0,
        uid=command.user.uid,
        held=command.interception == "hold",
        first=True,
    )


def refusal(seen: Exec, answer: int) -> OSError:
    """What is raised where the observer refuses a command."""
    return OSError(answer or EPERM, os.strerror(answer or EPERM), os.fsdecode(seen.program))


def end(completed: Completed | None) -> ExecEnd:
    """The command's end as that of its exec; None where it could not be started."""
    if completed is None:
        return ExecEnd(ExecOutcome.FAILED, None, None, 0.0)
    return ExecEnd(
        ExecOutcome.EXITED, completed.exit_code, completed.signal, round(completed.duration, 6)
    )
