"""Runs as a log of Inspect (https://inspect.aisi.org.uk/eval-logs.html), for its viewer and tools.

One log has the runs of one agent on one task, which are its epochs. Needs `sandbox[inspect]`.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from importlib.metadata import version
from pathlib import Path

from inspect_ai.event import ApprovalEvent, Event, InfoEvent, ModelEvent, ScoreEvent, ToolEvent
from inspect_ai.log import (
    EvalConfig,
    EvalDataset,
    EvalError,
    EvalLog,
    EvalMetric,
    EvalResults,
    EvalSample,
    EvalScore,
    EvalSpec,
    EvalStats,
    write_eval_log,
)
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageTool,
    ChatMessageUser,
    GenerateConfig,
    ModelOutput,
    ModelUsage,
)
from inspect_ai.scorer import CORRECT, INCORRECT, Score
from inspect_ai.tool import ToolCall, ToolCallError, ToolInfo, ToolParams

from sandbox.agents.tools import Tool, tools
from sandbox.agents.turns import Turn, content, turns
from sandbox.model import usage as usages
from sandbox.model.briefing import brief
from sandbox.model.event import ApprovalDecided, Entry
from sandbox.model.observation import ErrorCode, Observation
from sandbox.model.verdict import Verdict
from sandbox.run.exports.stored_run import StoredRun

SCORER = "verdict"
TOOL_ERRORS = {
    ErrorCode.TIMEOUT: "timeout",
    ErrorCode.PERMISSION_DENIED: "permission",
    ErrorCode.NOT_FOUND: "file_not_found",
    ErrorCode.NOT_A_FILE: "is_a_directory",
    ErrorCode.BAD_ARGUMENTS: "parsing",
    ErrorCode.BAD_REQUEST: "parsing",
    ErrorCode.APPROVAL_REQUIRED: "approval",
    ErrorCode.APPROVAL_DENIED: "approval",
    ErrorCode.POLICY_DENIED: "approval",
    ErrorCode.BUDGET_EXHAUSTED: "limit",
    ErrorCode.TOO_LARGE: "output_limit",
    ErrorCode.CANCELLED: "cancelled",
}
"""What Inspect calls them; it calls others `unknown`."""
KEPT = ("type", "properties", "required")


def write(runs: Sequence[StoredRun], folder: Path) -> list[Path]:
    """Write a log for each agent and task into a folder; give their paths."""
    groups: dict[tuple[str, str, str], list[StoredRun]] = {}
    for run in sorted(runs, key=lambda run: (run.record.started, run.record.id)):
        key = run.record.task, run.record.task_digest, run.record.acting
        groups.setdefault(key, []).append(run)
    written = []
    for group in groups.values():
        log = _log(group)
        path = folder / _name(log)
        write_eval_log(log, str(path), format="eval")
        written.append(path)
    return written


def _name(log: EvalLog) -> str:
    """Name it as Inspect does, so that its viewer lists it by time and task."""
    moment = log.eval.created.replace(":", "-")
    return f"{moment}_{log.eval.task.replace('/', '-')}_{log.eval.task_id}.eval"


def _log(runs: Sequence[StoredRun]) -> EvalLog:
    first = runs[0]
    record = first.record
    samples = [_sample(run, epoch) for epoch, run in enumerate(runs, 1)]
    scored = [sample for sample in samples if sample.scores]
    passed = sum(run.record.verdict is Verdict.PASSED for run in runs)
    return EvalLog(
        status="success",
        eval=EvalSpec(
            created=record.started,
            task=record.task,
            task_id=record.id.partition("-")[0],
            run_id=record.experiment or record.id,
            task_version=record.task_digest[:12],
            dataset=EvalDataset(name=record.task, samples=1, sample_ids=[record.task]),
            model=_model(first),
            config=EvalConfig(epochs=len(runs)),
            packages={"inspect_ai": version("inspect_ai"), "sandbox": record.sandbox_version},
            metadata={"agent": record.acting, "command": record.actor.command},
        ),
        results=EvalResults(
            total_samples=len(runs),
            completed_samples=len(scored),
            scores=[
                EvalScore(
                    name=SCORER,
                    scorer=SCORER,
                    scored_samples=len(scored),
                    unscored_samples=len(samples) - len(scored),
                    metrics={
                        "accuracy": EvalMetric(
                            name="accuracy", value=passed / len(scored) if scored else 0.0
                        )
                    },
                )
            ],
        ),
        stats=EvalStats(
            started_at=record.started, completed_at=runs[-1].record.ended or record.started
        ),
        samples=samples,
    )


def _model(run: StoredRun) -> str:
    return f"sandbox/{run.model or run.record.agent}"


def _sample(run: StoredRun, epoch: int) -> EvalSample:
    record = run.record
    messages: list[ChatMessage] = [ChatMessageUser(content=run.prompt)]
    events: list[Event] = []
    known = _tools(run)
    for turn in turns(run.entries):
        events += _turn(run, turn, known, messages)
    score = _score(run)
    if score is not None:
        events.append(ScoreEvent(score=score, scorer=SCORER, timestamp=_ended(run)))
    used = record.end.usage if record.end else None
    return EvalSample(
        id=record.task,
        epoch=epoch,
        input=run.prompt,
        target="passed",
        messages=messages,
        output=ModelOutput(model=_model(run)),
        scores={SCORER: score} if score else None,
        events=events,
        model_usage={_model(run): _usage(used)} if used else {},
        started_at=record.started,
        completed_at=record.ended,
        total_time=record.end.seconds if record.end else None,
        turn_count=record.end.turns if record.end else None,
        uuid=record.id,
        metadata={"run": record.id, "facet": run.task.facet.value, "coverage": record.coverage},
        error=None if score else _error(run),
    )


def _turn(
    run: StoredRun, turn: Turn, known: list[ToolInfo], messages: list[ChatMessage]
) -> Iterator[Event]:
    """Add a turn to the messages, and give its events: one of the model, one of the tool."""
    call = ToolCall(id=turn.call, function=turn.action.name, arguments=dict(turn.action.arguments))
    answer = ChatMessageAssistant(
        content=turn.said("message"), tool_calls=[call], model=_model(run)
    )
    used = turn.action.usage
    moment = datetime.fromisoformat(turn.began.wall_time)
    yield ModelEvent(
        model=_model(run),
        input=list(messages),
        tools=known,
        tool_choice="auto",
        config=GenerateConfig(),
        output=ModelOutput(
            model=_model(run),
            choices=[ChatCompletionChoice(message=answer, stop_reason="tool_calls")],
            usage=_usage(used) if used else None,
        ),
        timestamp=moment,
        working_start=turn.began.elapsed,
        completed=moment,
    )
    messages.append(answer)
    for entry in turn.between:
        yield _beside(entry, call)
    if turn.observation is None or turn.ended is None:
        return
    text = content(turn.observation, turn.heard)
    error = _tool_error(turn.observation)
    messages.append(
        ChatMessageTool(
            content=text, tool_call_id=turn.call, function=turn.action.name, error=error
        )
    )
    yield ToolEvent(
        id=turn.call,
        function=turn.action.name,
        arguments=dict(turn.action.arguments),
        result=text,
        error=error,
        failed=error is not None or None,
        timestamp=moment,
        working_start=turn.began.elapsed,
        completed=datetime.fromisoformat(turn.ended.wall_time),
        working_time=turn.seconds,
    )


def _tools(run: StoredRun) -> list[ToolInfo]:
    return [
        ToolInfo(
            name=tool.name,
            description=tool.description,
            parameters=parameters(tool),
        )
        for tool in tools(brief(run.task, run.record.id, ""))
    ]


def parameters(tool: Tool) -> ToolParams:
    """Give what Inspect keeps of the schema of a tool's arguments."""
    return ToolParams.model_validate(
        {key: tool.parameters[key] for key in KEPT if key in tool.parameters}
    )


def _beside(entry: Entry, call: ToolCall) -> Event:
    event = entry.event
    moment = datetime.fromisoformat(entry.wall_time)
    if isinstance(event, ApprovalDecided):
        return ApprovalEvent(
            message=event.question.scope,
            call=call,
            approver="sandbox",
            decision="approve" if event.answer.approved else "reject",
            explanation=event.answer.reason,
            timestamp=moment,
            working_start=entry.elapsed,
        )
    return InfoEvent(
        source=event.kind,
        data=event.model_dump(mode="json", exclude_none=True),
        timestamp=moment,
        working_start=entry.elapsed,
    )


def _score(run: StoredRun) -> Score | None:
    """Give the verdict as a score; None where the run says nothing of the agent."""
    verdict = run.record.verdict
    if verdict not in (Verdict.PASSED, Verdict.FAILED, Verdict.INVALID) or run.grade is None:
        return None
    return Score(
        value=CORRECT if verdict is Verdict.PASSED else INCORRECT,
        answer=verdict.value,
        explanation="\n".join(run.reasons) or None,
        metadata={grade.grader: grade.model_dump(mode="json") for grade in run.grade.grades},
    )


def _error(run: StoredRun) -> EvalError:
    message = run.record.problem or "The run was not graded."
    return EvalError(message=message, traceback=message, traceback_ansi=message)


def _ended(run: StoredRun) -> datetime:
    return datetime.fromisoformat(run.record.ended or run.record.started)


def _usage(used: usages.ModelUsage) -> ModelUsage:
    return ModelUsage(
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        total_tokens=used.input_tokens + used.output_tokens,
        input_tokens_cache_read=used.cached_tokens,
        total_cost=used.cost,
    )


def _tool_error(seen: Observation) -> ToolCallError | None:
    if seen.status == "ok":
        return None
    kind = TOOL_ERRORS.get(seen.error_code, "unknown") if seen.error_code else "unknown"
    return ToolCallError(kind, seen.message or "")
