"""What verbs print with `--json`: one document each, of a type whose schema is published.

Imported when a verb prints JSON, for the types come from all rooms.
"""

import json
from typing import Any, get_args

import typer
from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from sandbox.cli.output_records import (
    Explanation,
    PresetStanding,
    Removed,
    ReplayedRun,
    TaskRow,
    Validated,
)
from sandbox.cli.terminal import CONTROL
from sandbox.container.engines.diagnosis import Diagnosis
from sandbox.model.audit import Sign
from sandbox.model.baseline import Drift
from sandbox.model.briefing import Briefing, Reply
from sandbox.model.change import ChangeSet
from sandbox.model.client import GateReport
from sandbox.model.event import Entry
from sandbox.model.gate import Finding
from sandbox.model.grade import RunGrade
from sandbox.model.imported import Imported
from sandbox.model.job import JobResult
from sandbox.model.judgement import Judgement
from sandbox.model.report import Comparison, Report
from sandbox.model.run import RunRecord
from sandbox.model.task import Task
from sandbox.rules.checker import findings
from sandbox.tasks.images import BuiltImage
from sandbox.tasks.suites.generator import Generated
from sandbox.tasks.suites.hardening import Tried
from sandbox.tasks.suites.suite import Pin

TYPES: dict[str, Any] = {
    "agents check": GateReport,
    "agents list": list[PresetStanding],
    "audit": list[Sign],
    "build": list[BuiltImage],
    "call": Reply,
    "check": list[findings.Report],
    "close": RunGrade,
    "compare": Comparison | Drift,
    "diff": ChangeSet,
    "doctor": Diagnosis,
    "gate": list[Finding],
    "gc": Removed,
    "generate": list[Generated],
    "harden": list[Tried],
    "grade": RunGrade,
    "import harbor": list[Imported],
    "import swebench": list[Imported],
    "import terminal-bench": list[Imported],
    "judge": Judgement,
    "open": Briefing,
    "policy explain": Explanation,
    "replay": list[ReplayedRun],
    "report": Report,
    "resume": list[JobResult],
    "run": RunGrade | list[JobResult],
    "runs": list[RunRecord],
    "show": Task | RunGrade | RunRecord,
    "tasks": list[TaskRow] | list[Pin],
    "trace": Entry,
    "validate": Validated,
}
"""By verb; of `trace` each line."""


def write(verb: str, value: object) -> None:
    """Print a verb's document, in which nothing could steer a terminal."""
    adapter = TypeAdapter(_of(verb, value))
    text = adapter.dump_json(value, indent=1).decode()
    typer.echo(CONTROL.sub(lambda found: json.dumps(found[0])[1:-1], text))


def schema() -> dict[str, Any]:
    """Give the JSON Schema of every verb's document, by verb, as `docs/output.schema.json`."""
    adapters = [(verb, "serialization", TypeAdapter(kind)) for verb, kind in TYPES.items()]
    found, shared = TypeAdapter.json_schemas(
        adapters,  # type: ignore[arg-type]  # a literal in a list is no literal
        schema_generator=GenerateJsonSchema,
    )
    return {
        "$schema": GenerateJsonSchema.schema_dialect,
        "title": "What the verbs of sandbox print with --json",
        "type": "object",
        "properties": {verb: found[verb, "serialization"] for verb in TYPES},
        "$defs": shared["$defs"],
    }


def _of(verb: str, value: object) -> Any:  # noqa: ANN401 - a type
    """Of several types the one that a value has, so that each is written by its own."""
    kinds = get_args(TYPES[verb]) if isinstance(value, list) is False else ()
    fitting = [kind for kind in kinds if isinstance(kind, type) and isinstance(value, kind)]
    return fitting[0] if fitting else TYPES[verb]
