"""A run as an agent trajectory of the Agent Trajectory Interchange Format, version 1.8.

Harbor reads and writes it: https://www.harborframework.com/docs/agents/trajectory-format. What the
format has no field for (approvals, exit codes, durations, facts) stands in `extra`.
"""

from pydantic import JsonValue

from sandbox.agents.turns import Turn, content, turns
from sandbox.model.event import Entry
from sandbox.model.observation import Observation
from sandbox.model.usage import ModelUsage
from sandbox.run.exports.stored_run import StoredRun

VERSION = "ATIF-v1.8"
UNKNOWN = "unknown"
Values = dict[str, JsonValue]


def trajectory(run: StoredRun) -> Values:
    """Give the run as the format's root object."""
    record = run.record
    steps: list[JsonValue] = [
        {
            "step_id": 1,
            "timestamp": record.started,
            "source": "user",
            "message": run.prompt,
        },
        *(_step(turn, number) for number, turn in enumerate(turns(run.entries), 2)),
    ]
    found: Values = {
        "schema_version": VERSION,
        "session_id": record.id,
        "trajectory_id": record.id,
        "agent": _agent(run),
        "steps": steps,
        "final_metrics": {
            **_totals(record.end.usage if record.end else None),
            "total_steps": len(steps),
        },
        "extra": _extra(run),
    }
    return found


def _agent(run: StoredRun) -> Values:
    record = run.record
    agent: Values = {
        "name": record.agent,
        "version": record.version or UNKNOWN,
        "tool_definitions": list(run.tools()),
        "extra": {
            "command": record.actor.command,
            "mode": record.mode,
            "inside": record.inside,
            "tags": dict(record.actor.tags),
        },
    }
    if run.model:
        agent["model_name"] = run.model
    return agent


def _step(turn: Turn, number: int) -> Values:
    decision = turn.action.decision
    call: Values = {
        "tool_call_id": turn.call,
        "function_name": turn.action.name,
        "arguments": turn.action.arguments,
        "extra": {
            "decision": decision.model_dump(mode="json") if decision else None,
            "repairs": list(turn.action.repairs),
        },
    }
    step: Values = {
        "step_id": number,
        "timestamp": turn.began.wall_time,
        "source": "agent",
        "message": turn.said("message"),
        "tool_calls": [call],
        "extra": {"events": [_event(entry) for entry in turn.between]},
    }
    if thought := turn.said("thought"):
        step["reasoning_content"] = thought
    if turn.observation is not None:
        step["observation"] = {"results": [_result(turn, turn.observation)]}
    if turn.action.usage is not None:
        step["metrics"] = _used(turn.action.usage)
    return step


def _result(turn: Turn, seen: Observation) -> Values:
    return {
        "source_call_id": turn.call,
        "content": content(seen, turn.heard),
        "extra": {"status": seen.status, "error_code": seen.error_code, "seconds": turn.seconds},
    }


def _event(entry: Entry) -> Values:
    return {"elapsed": entry.elapsed, **entry.event.model_dump(mode="json", exclude_none=True)}


def _used(usage: ModelUsage) -> Values:
    found: Values = {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "cached_tokens": usage.cached_tokens,
    }
    if usage.cost is not None:
        found["cost_usd"] = usage.cost
    return found


def _totals(usage: ModelUsage | None) -> Values:
    return {f"total_{name}": value for name, value in _used(usage).items()} if usage else {}


def _extra(run: StoredRun) -> Values:
    record = run.record
    return {
        "sandbox_version": record.sandbox_version,
        "task": record.task,
        "task_digest": record.task_digest,
        "facet": run.task.facet.value,
        "verdict": record.verdict,
        "reasons": list(run.reasons),
        "grades": {grade.grader: grade.verdict for grade in run.grade.grades} if run.grade else {},
        "end": record.end.model_dump(mode="json") if record.end else None,
        "coverage": record.coverage,
        "ended": record.ended,
        "events": [_event(entry) for entry in run.entries if entry.action_id is None],
    }
