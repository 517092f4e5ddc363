"""What verbs print with `--json`: documents of one type each, whose schemas are published.

Imported when a verb prints JSON, for the types come from all rooms.
"""

import json
from typing import Any

import typer
from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from sandbox.cli.output_records import (
    Explanation,
    Made,
    Mined,
    Pinned,
    PresetStanding,
    Removed,
    ReplayedRun,
    Rerecorded,
    StoredSeed,
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
    "baseline list": list[Pinned],
    "baseline pin": Pinned,
    "build": list[BuiltImage],
    "call": Reply,
    "check": list[findings.Report],
    "close": RunGrade,
    "diff": ChangeSet,
    "doctor": Diagnosis,
    "gate": list[Finding],
    "gc": Removed,
    "generate": list[Generated],
    "harden": list[Tried],
    "harvest": list[Made],
    "grade": RunGrade,
    "import harbor": list[Imported],
    "import recording": list[Imported],
    "import swebench": list[Imported],
    "import terminal-bench": list[Imported],
    "judge": Judgement,
    "new": Made,
    "open": Briefing,
    "estrange": Made,
    "plant": Made,
    "policy explain": Explanation,
    "record": Rerecorded,
    "replay": list[ReplayedRun],
    "report": Report,
    "resume": list[JobResult],
    "runs": list[RunRecord],
    "trace": Entry,
    "validate": Validated,
}
"""By verb; of `trace` each line."""

KINDS: dict[str, dict[str, Any]] = {
    "compare": {"agents": Comparison, "baseline": Drift},
    "mine": {"mined": Mined, "checked": list[StoredSeed]},
    "run": {"single": RunGrade, "experiment": list[JobResult]},
    "show": {"task": Task, "run": RunGrade, "unfinished": RunRecord},
    "tasks": {"all": list[TaskRow], "suite": list[Pin]},
}
"""Of verbs that print one of several, by verb and kind; the command line says which kind it is."""

ALL = TYPES | {f"{verb} {kind}": it for verb, each in KINDS.items() for kind, it in each.items()}


def write(name: str, value: object) -> None:
    """Print the document of a verb, or of a verb's kind, with nothing that steers a terminal."""
    adapter = TypeAdapter(ALL[name])
    text = adapter.dump_json(value, indent=1).decode()
    typer.echo(CONTROL.sub(lambda found: json.dumps(found[0])[1:-1], text))


def schema() -> dict[str, Any]:
    """Give the JSON Schemas of all documents, by verb and by kind, as `docs/output.schema.json`."""
    adapters = [(name, "serialization", TypeAdapter(kind)) for name, kind in ALL.items()]
    found, shared = TypeAdapter.json_schemas(
        adapters,  # type: ignore[arg-type]  # a literal in a list is no literal
        schema_generator=GenerateJsonSchema,
    )
    one = {name: found[name, "serialization"] for name in ALL}
    any_of = {verb: {"anyOf": [one[f"{verb} {kind}"] for kind in KINDS[verb]]} for verb in KINDS}
    return {
        "$schema": GenerateJsonSchema.schema_dialect,
        "title": "What the verbs of sandbox print with --json",
        "type": "object",
        "properties": dict(sorted((one | any_of).items())),
        "$defs": shared["$defs"],
    }
