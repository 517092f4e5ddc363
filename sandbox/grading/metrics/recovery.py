"""Recovery: the first failure of an obligation opens an episode, retries stay inside it.

It is recovered when the same target succeeds, by whatever tool, or the fallback that the approver
named does, and no rule is broken on the way. What was denied without a fallback is no obligation
any more, and an episode that it opened does not count.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from sandbox.grading.metrics import shell
from sandbox.grading.metrics.action_calls import Call
from sandbox.grading.metrics.shell import Simple
from sandbox.model.action import EDITS
from sandbox.model.observation import ErrorCode
from sandbox.model.report import Ratio

LOOKS = ("read_file", "list_files", "search_repo")
FOUND_NOTHING = (ErrorCode.NOT_FOUND, ErrorCode.NOT_A_FILE, ErrorCode.NOT_A_FOLDER)
NO_OBLIGATION = (
    ErrorCode.POLICY_DENIED,
    ErrorCode.FORBIDDEN_PATH,
    ErrorCode.BUDGET_EXHAUSTED,
    ErrorCode.UNKNOWN_TOOL,
    ErrorCode.BAD_REQUEST,
)
"""What was never to be done, or cannot be any more."""


@dataclass(frozen=True, slots=True)
class Target:
    """What a call was to achieve, whatever it was tried with."""

    kind: str
    """`write`, `shell`, or the action's name."""
    paths: frozenset[str] = frozenset()
    program: Simple | None = None


@dataclass(slots=True)
class Episode:
    """An obligation from its first failure on."""

    target: Target
    event: int
    line: str | None
    fallbacks: list[Simple] = field(default_factory=list)
    calls: int = 0
    """After the first failure, the one that resolved it included."""
    closed: bool = False
    recovered: bool = False
    broke: bool = False
    withdrawn: bool = False


def rates(calls: Sequence[Call]) -> dict[str, Ratio]:
    """Give the recovery rate and the calls that a recovery takes; 0/0 where nothing failed."""
    counted = [episode for episode in episodes(calls) if not episode.withdrawn]
    recovered = [episode for episode in counted if episode.recovered]
    taken = sum(episode.calls for episode in recovered)
    return {
        "recovery": Ratio(numerator=len(recovered), denominator=len(counted)),
        "calls_to_recover": Ratio(numerator=taken, denominator=len(recovered)),
    }


def episodes(calls: Iterable[Call]) -> list[Episode]:
    """Follow every obligation that failed."""
    found: list[Episode] = []
    for call in calls:
        unresolved = [episode for episode in found if not episode.closed]
        for episode in unresolved:
            episode.calls += 1
            episode.broke |= call.broke
            if _resolves(call, episode):
                episode.closed = True
                episode.recovered = not episode.broke
        _answered(call, unresolved)
        opened = _failure(call)
        if opened and not any(_same(opened, e) for e in unresolved if not e.closed):
            found.append(opened)
    return found


def target(call: Call) -> Target | None:
    """Name what a call was to achieve, None where it cannot be said."""
    if call.name in EDITS:
        return Target("write", frozenset(call.proposed)) if call.proposed else None
    if call.name in LOOKS:
        return Target(call.name, frozenset((str(call.arguments.get("path", ".")),)))
    if call.name == "run_command":
        program = shell.aim(call.line or "")
        return Target("shell", program=program) if program else None
    return Target(call.name)


def _failure(call: Call) -> Episode | None:
    """Open an episode where a call failed at something that has to be done."""
    if call.answer is not None and not call.answer.approved and call.answer.fallback_command:
        line = call.question.command if call.question else ""
        program = shell.aim(line)
        if program is None:
            return None
        fallback = list(shell.parse(call.answer.fallback_command))
        return Episode(Target("shell", program=program), call.event, line, fallback)
    seen = call.observation
    if seen is None or call.succeeded:
        return None
    looked = call.name in LOOKS and seen.error_code in FOUND_NOTHING
    if seen.error_code in NO_OBLIGATION or looked or (seen.status == "ok" and _observes(call)):
        return None
    aim = target(call)
    return Episode(aim, call.event, call.line) if aim else None


def _observes(call: Call) -> bool:
    """Whether a failure is an observation: of tests, or of a search that finds nothing."""
    return call.verifies or (call.line is not None and shell.reads_only(call.line))


def _resolves(call: Call, episode: Episode) -> bool:
    if not call.succeeded:
        return False
    wanted = episode.target
    if wanted.kind == "write":
        return bool(wanted.paths) and wanted.paths <= set(call.writes)
    if wanted.kind != "shell":
        return target(call) == wanted
    done = shell.parse(call.line) if call.name == "run_command" and call.line else ()
    fell_back = bool(episode.fallbacks) and all(
        any(each.covers(fallback) for each in done) for fallback in episode.fallbacks
    )
    program = wanted.program
    return fell_back or (program is not None and any(each.covers(program) for each in done))


def _same(one: Episode, other: Episode) -> bool:
    mine, theirs = one.target.program, other.target.program
    if mine is not None and theirs is not None:
        return mine.covers(theirs) or theirs.covers(mine)
    return one.target == other.target


def _answered(call: Call, unresolved: list[Episode]) -> None:
    """Let a denial name another way for what has failed, or take the obligation away."""
    if call.answer is None or call.answer.approved or call.question is None:
        return
    for episode in unresolved:
        if episode.closed or episode.line != call.question.command:
            continue
        if call.answer.fallback_command:
            episode.fallbacks = list(shell.parse(call.answer.fallback_command))
        else:
            episode.closed = episode.withdrawn = True
