"""How a client on this machine stands: its version, and its last passage of the safety gate."""

import os
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from sandbox.agents.clients.installation import Installation, version
from sandbox.agents.clients.preset import Preset
from sandbox.agents.clients.preset_files import digest
from sandbox.model.client import ClientRecord, GateReport


def report(preset: Preset, found: str, cache: Path) -> GateReport | None:
    """Return the last report on a version under the preset as it is; None where there is none."""
    try:
        stored = GateReport.model_validate_json(_place(preset, found, cache).read_bytes())
    except (OSError, ValidationError):
        return None
    return stored if stored.preset_digest == digest(preset) else None


def keep(preset: Preset, made: GateReport, cache: Path) -> Path:
    """Store a report; return its file."""
    place = _place(preset, made.version, cache)
    place.parent.mkdir(parents=True, exist_ok=True)
    early = place.with_name(f".{place.name}.{os.getpid()}")
    early.write_text(made.model_dump_json(indent=1) + "\n", encoding="utf-8")
    early.replace(place)
    return place


def identify(preset: Preset, installation: Installation, cache: Path) -> ClientRecord:
    """Ask a client for its version, and say what speaks against trusting it."""
    found = version(preset, installation)
    known = preset.package.version
    last = report(preset, found, cache)
    gate: Literal["passed", "failed", "never"]
    gate = "never" if last is None else "passed" if last.passed else "failed"
    warnings = []
    if found != known:
        warnings.append(f"{preset.title} is {found}; its preset was written for {known}.")
    if gate != "passed":
        word = "never passed" if gate == "never" else "failed"
        warnings.append(
            f"{preset.title} {found} {word} the safety gate: sandbox agents check {preset.name}."
        )
    return ClientRecord(
        preset=preset.name,
        version=found,
        known_version=known,
        gate=gate,
        warnings=tuple(warnings),
    )


def _place(preset: Preset, found: str, cache: Path) -> Path:
    safe = "".join(each if each.isalnum() or each in ".-+" else "_" for each in found)
    return cache / "clients" / "checks" / f"{preset.name}-{safe}.json"
