"""`search_repo`: lines that match, found by the container's own grep."""

from functools import partial

from sandbox.model import path_text as paths
from sandbox.model.action import SearchRepository
from sandbox.model.observation import ErrorCode, Match, Matches
from sandbox.model.session import MEBIBYTE
from sandbox.rules.policy.subject import Subject
from sandbox.run.actions.outcome import Performed, Refusal, done
from sandbox.run.actions.prepared import Prepared
from sandbox.run.actions.target import Target
from sandbox.run.actions.workspace import Workspace

MATCHES = 1000
LINE_LENGTH = 1000
"""Characters of a line that are shown."""

_OVERHEAD = 50


def prepare(action: SearchRepository, workspace: Workspace) -> Prepared:
    """Look the place up."""
    target = Target.of(action.path, workspace)
    return Prepared(Subject(action.name, paths=(target.text,)), partial(_search, action, target))


def _search(action: SearchRepository, target: Target, workspace: Workspace) -> Performed:
    """Search text files; those that the agent may not read are passed over."""
    if "\0" in action.pattern + (action.glob or ""):
        raise Refusal(ErrorCode.BAD_ARGUMENTS, "A pattern cannot hold a NUL character.")
    folder = target.path()
    workspace.entry(folder, action.path)
    completed = workspace.run(_arguments(action, folder), limit=MEBIBYTE)
    if completed.timed_out:
        raise Refusal(ErrorCode.TIMEOUT, "The search took too long; search a smaller folder.")
    stderr = completed.stderr.decode("utf-8", "replace").strip()
    if completed.exit_code not in (0, 1) and stderr:
        raise Refusal(ErrorCode.BAD_ARGUMENTS, f"The pattern cannot be used: {stderr}")
    whole = completed.stdout_bytes == len(completed.stdout)
    found, all_shown = _matches(completed.stdout, workspace.task.limits.observation_bytes)
    return done(Matches(matches=found, truncated=not (whole and all_shown)))


def _arguments(action: SearchRepository, folder: bytes) -> tuple[str | bytes, ...]:
    """`-Z` ends names with NUL, so that any name can be told from what follows it."""
    options = ["-F" if action.fixed else "-E", "--exclude-dir=.git", f"--max-count={MATCHES + 1}"]
    if action.ignore_case:
        options.append("-i")
    if action.glob is not None:
        options.append(f"--include={action.glob}")
    where = () if folder == b"." else (folder,)
    return ("grep", "-rnIHZs", "--devices=skip", *options, "-e", action.pattern, "--", *where)


def _matches(output: bytes, limit: int) -> tuple[tuple[Match, ...], bool]:
    """Read grep's output: `name NUL number : line`; and whether all of it is in."""
    found: list[Match] = []
    left = limit
    place = 0
    while (end := output.find(b"\0", place)) >= 0:
        stop = output.find(b"\n", end)
        if stop < 0:
            break
        number, _, line = output[end + 1 : stop].partition(b":")
        shown = line.decode("utf-8", "replace")[:LINE_LENGTH]
        path = paths.text(output[place:end])
        left -= len(shown.encode()) + len(path.encode()) + _OVERHEAD
        if left < 0 or len(found) == MATCHES:
            return tuple(found), False
        found.append(Match(path=path, line=int(number), text=shown))
        place = stop + 1
    return tuple(found), True
