"""What a project's tests need, as a registry's client tells it."""

import json
from pathlib import Path

import pytest

from sandbox.tasks.authoring import origin, requirements
from sandbox.tasks.authoring.requirements import Asked
from sandbox.tasks.sources import Sources

NPM = """#!/bin/sh
# Answers as npm does: a lock file, or a packed package.
for last; do :; done
if [ "$1" = pack ]; then
    folder=${3#--pack-destination=}
    echo "$2" > "$folder/$(echo "$2" | tr -d @ | tr / -).tgz"
else
    cp "$LOCK" package-lock.json
fi
"""


def optional(version: str, system: str, cpu: str, *libc: str) -> dict[str, object]:
    kinds = {"libc": list(libc)} if libc else {}
    return {"version": version, "optional": True, "os": [system], "cpu": [cpu], **kinds}


LOCK: dict[str, dict[str, object]] = {
    "": {},
    "node_modules/tool": {"version": "2.0.0"},
    "node_modules/other/node_modules/tool": {"version": "1.0.0"},
    "node_modules/other": {"version": "1.0.0", "os": ["linux", "darwin"]},
    "node_modules/asked-of-others": {"version": "1.0.0", "peer": True},
    "node_modules/watcher": {"version": "1.0.0", "optional": True, "os": ["darwin"]},
    "node_modules/@tool/linux-x64": optional("2.0.0", "linux", "x64", "glibc"),
    "node_modules/@tool/linux-x64-musl": optional("2.0.0", "linux", "x64", "musl"),
    "node_modules/@tool/linux-arm64": optional("2.0.0", "linux", "arm64"),
    "node_modules/@tool/linux-s390x": optional("2.0.0", "linux", "s390x"),
    "node_modules/@tool/darwin-arm64": optional("2.0.0", "darwin", "arm64"),
}


def test_of_packages_for_many_machines_ours_are_pinned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bin" / "npm"
    program.parent.mkdir()
    program.write_text(NPM)
    program.chmod(0o755)
    lock = tmp_path / "lock.json"
    lock.write_text(json.dumps({"packages": LOCK}))
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    monkeypatch.setenv("LOCK", str(lock))
    folder = tmp_path / "work"
    folder.mkdir()
    place = (folder, Sources(tmp_path / "cache"))
    found = requirements.found(
        origin.parse("npm:project"), "1.0.0", Asked(("tool@2",)), place, lambda _: None
    )
    assert [(each.name, each.version, each.machine) for each in found] == [
        ("@tool/linux-arm64", "2.0.0", "aarch64"),
        ("@tool/linux-x64", "2.0.0", "x86_64"),
        ("other", "1.0.0", None),
        ("tool", "1.0.0", None),
        ("tool", "2.0.0", None),
    ]
