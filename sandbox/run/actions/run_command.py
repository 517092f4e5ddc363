"""`run_command`: a shell line."""

from functools import partial

from sandbox.model.action import RunCommand
from sandbox.model.observation import CommandResult, ErrorCode, Observation
from sandbox.model.session import Completed, FileKind
from sandbox.rules.policy.subject import Subject
from sandbox.run.actions.outcome import Performed, Refusal, done
from sandbox.run.actions.prepared import Prepared
from sandbox.run.actions.target import Target
from sandbox.run.actions.workspace import Workspace

BASH = "/bin/bash"


def prepare(action: RunCommand, workspace: Workspace) -> Prepared:
    """Look its folder up."""
    folder = Target.of(action.cwd, workspace)
    subject = Subject(action.name, command=action.command, cwd=folder.text)
    return Prepared(subject, partial(_run, action, folder))


def _run(action: RunCommand, folder: Target, workspace: Workspace) -> Performed:
    """Run it by bash in a folder of the worktree."""
    cwd = folder.path()
    if cwd != b"." and workspace.entry(cwd, action.cwd).kind is not FileKind.DIRECTORY:
        raise Refusal(ErrorCode.NOT_A_FOLDER, f"cwd: {action.cwd} is not a folder.")
    longest = workspace.task.limits.command_seconds
    completed = workspace.run(
        (BASH, "-c", shell_line(action.command)),
        cwd=cwd,
        stdin=action.stdin.encode(),
        seconds=min(action.timeout_seconds or longest, longest),
    )
    return report(result_of(completed), completed)


def shell_line(command: str) -> str:
    """Give a shell line back; Refusal where no program could be given it."""
    if "\0" in command:
        raise Refusal(ErrorCode.BAD_ARGUMENTS, "A command cannot hold a NUL character.")
    return command


def result_of(completed: Completed) -> CommandResult:
    """Describe how a command ended."""
    return CommandResult(
        exit_code=completed.exit_code,
        signal=completed.signal,
        stdout=completed.stdout.decode("utf-8", "replace"),
        stderr=completed.stderr.decode("utf-8", "replace"),
        stdout_truncated=completed.stdout_bytes > len(completed.stdout),
        stderr_truncated=completed.stderr_bytes > len(completed.stderr),
        duration_seconds=round(completed.duration, 6),
        timed_out=completed.timed_out,
        out_of_memory=completed.out_of_memory,
        left_running=completed.survivors,
        cleared=completed.cleared,
        ended=completed.ended,
    )


def report(result: CommandResult, completed: Completed) -> Performed:
    """Report a command; one that ran out of time is an error that keeps its result."""
    if not completed.timed_out:
        return done(result)
    return Performed(
        Observation(
            status="error",
            error_code=ErrorCode.TIMEOUT,
            message=f"It was killed after {completed.duration:.1f} seconds, with all it started.",
            result=result.model_dump(mode="json"),
        )
    )
