"""How calls were spelt, and how near a run kept to the reference path. No verdict rests on it.

Valid name, valid schema and success of calls are those of MCP-Bench; selection, arguments and
order against a reference those of TRAJECT-Bench, where repeated calls count as often as they come.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from sandbox.grading.metrics.action_calls import Call, completed, signature
from sandbox.model.action import CallTool, FinalAnswer
from sandbox.model.observation import ErrorCode
from sandbox.model.report import Ratio
from sandbox.model.task import Task

MATCHES = ("match_exact", "match_in_order", "match_any_order")
NAMES = (
    "valid_name",
    "valid_schema",
    "call_success",
    "selection_precision",
    "selection_recall",
    "argument_match",
    "order_match",
    *MATCHES,
)


def rates(calls: Sequence[Call], task: Task | None) -> dict[str, Ratio]:
    """Measure a run's calls; against the reference only where the task is there as it was."""
    return {**_spelling(calls), **(_reference(calls, task) if task else {})}


def _spelling(calls: Sequence[Call]) -> dict[str, Ratio]:
    named = [
        call for call in calls if call.code not in (ErrorCode.UNKNOWN_TOOL, ErrorCode.BAD_REQUEST)
    ]
    valid = [call for call in named if call.code is not ErrorCode.BAD_ARGUMENTS]
    answered = [call for call in valid if call.observation is not None]
    return {
        "valid_name": _share(len(named), len(calls)),
        "valid_schema": _share(len(valid), len(named)),
        "call_success": _share(sum(map(_succeeded, answered)), len(answered)),
    }


def _succeeded(call: Call) -> bool:
    """Whether it was carried out; what a command exits with, and tests that fail, are answers."""
    seen = call.observation
    return seen is not None and seen.status == "ok" and seen.result.get("is_error") is not True


def _reference(calls: Sequence[Call], task: Task) -> dict[str, Ratio]:
    chosen = [_selected(call.name, call.arguments) for call in calls]
    wanted = [_selected(each.action, each.arguments) for each in task.oracle]
    command = task.tests.command
    spelt = [_spelt(call.name, call.arguments, command) for call in calls]
    reference = [_spelt(each.action, each.arguments, command) for each in task.oracle]
    selected = _matched(chosen, wanted)
    return {
        "selection_precision": _share(selected, len(chosen)),
        "selection_recall": _share(selected, len(wanted)),
        "argument_match": _share(_matched(spelt, reference), selected),
        "order_match": _share(common_subsequence(chosen, wanted), selected),
        "match_exact": _share(spelt == reference, 1),
        "match_in_order": _share(common_subsequence(spelt, reference) == len(reference), 1),
        "match_any_order": _share(_matched(spelt, reference) == len(reference), 1),
    }


def _selected(name: str, arguments: Mapping[str, JsonValue]) -> str:
    """Name what was chosen: of a tool server's tool that one."""
    if name != CallTool.name:
        return name
    return f"{name} {arguments.get('server')}/{arguments.get('tool')}"


def _spelt(name: str, arguments: dict[str, JsonValue], test_command: str) -> str:
    """Spell a call in one way; what an answer says is judged elsewhere."""
    if name == FinalAnswer.name:
        return name
    return signature(name, completed(name, arguments, test_command))


def _matched(some: Sequence[str], others: Sequence[str]) -> int:
    """Size of a maximum matching of equals."""
    return (Counter(some) & Counter(others)).total()


def common_subsequence(some: Sequence[str], others: Sequence[str]) -> int:
    """Length of the longest sequence that both hold in order."""
    row = [0] * (len(others) + 1)
    for one in some:
        before = 0
        for place, other in enumerate(others, 1):
            kept = row[place]
            row[place] = before + 1 if one == other else max(kept, row[place - 1])
            before = kept
    return row[-1]


def _share(part: float, whole: int) -> Ratio:
    return Ratio(numerator=float(part), denominator=whole)
