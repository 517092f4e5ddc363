"""A task of Harbor or Terminal-Bench as one of ours: image below ours, tests, oracle."""

import base64
import io
import re
import shlex
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from sandbox.model import documents, yaml_tree
from sandbox.model.artifact import ArtifactKind
from sandbox.model.container import Container, Network
from sandbox.model.glob import is_plain
from sandbox.model.places import REPOSITORY, TASK
from sandbox.model.repository import Repository
from sandbox.model.task import TaskFile
from sandbox.tasks.authoring import requirements
from sandbox.tasks.authoring.origin import Origin
from sandbox.tasks.authoring.pinning import pinned
from sandbox.tasks.authoring.requirements import Asked
from sandbox.tasks.images import foreign as images
from sandbox.tasks.imports import folders
from sandbox.tasks.imports.foreign_task import Foreign, Kind
from sandbox.tasks.sources import Sources
from sandbox.tasks.sources.cache import GIVEN
from sandbox.tasks.template import filled, read

TEMPLATE = Path(__file__).with_name("container.yaml")
NAME, CONTEXT, RELEASE = "task", "environment", "base"
MADE = "2000-01-01T00:00:00+00:00"
"""When the one commit was made, of which its author says nothing."""
PART = 100_000
"""Characters of one command of the oracle; the kernel takes 131,072 of an argument."""
TITLE = 100
TURNS, PROCESSES = 1000, 1024
"""Limits that these formats do not have, and no agent should meet."""
UNPACKED, PACKED = "/tmp/solution", "/tmp/solution.b64"  # noqa: S108 - in the container


def named(foreign: Foreign) -> str:
    """Give the name of its repository here."""
    return re.sub(r"[^a-z0-9.]+", "-", foreign.name.lower()).strip("-.") or "task"


def lay_context(foreign: Foreign, folder: Path, network: Network, *, ours: bool) -> Container:
    """Write what its image is built of below the task's folder; `ours` takes our base for it."""
    folders.lay(foreign.context, folder / CONTEXT)
    text = documents.read(folder / CONTEXT / "Dockerfile")
    reference = images.from_of(text)
    row = images.standing_for(reference) if ours else None
    return Container(
        context=CONTEXT,
        base=row.image if row else "",
        workdir=foreign.workdir,
        packages=foreign.fetches.distribution,
        variables=foreign.variables,
        network=network,
    )


def finish(
    foreign: Foreign,
    kind: Kind,
    container: Container,
    folder: Path,
    checkout: Path,
    sources: Sources,
) -> None:
    """Write the repository of a checkout, an archive, and the task, with what its tests fetch."""
    (folder.parent / GIVEN).mkdir(parents=True)
    name = folder.parent.name
    kept = folder.parent / GIVEN / f"{name}-{RELEASE}.tar.gz"
    kept.write_bytes(checkout.read_bytes())
    source = pinned(ArtifactKind.FILE, name, RELEASE, kept, sources)
    place = (checkout.parent, sources)
    asked = Asked(foreign.fetches.python)
    needed = requirements.found(Origin("git", name, None), RELEASE, asked, place, lambda _: None)
    pins = [each.model_dump(mode="json", exclude_defaults=True) for each in (source, *needed)]
    repository = {
        "name": name,
        "summary": f"The working directory of {foreign.name}.",
        "license": "unknown",
        "home": "unknown",
        "author": {"name": "An author", "email": "author@example.org"},
        "releases": [{"version": RELEASE, "date": MADE, "source": pins[0]}],
        "requirements": pins[1:],
    }
    text = yaml_tree.text(repository)
    documents.parse(text, folder.parent / REPOSITORY, Repository)
    (folder.parent / REPOSITORY).write_text(f"# Made by `sandbox import {kind}`.\n{text}")
    task = yaml_tree.text(_task(foreign, kind, container, f"{name}/{NAME}"))
    documents.parse(task, folder / TASK, TaskFile)
    (folder / TASK).write_text(f"# Imported from the folder {foreign.name}.\n{task}")
    folders.lay(foreign.tests, folder / "hidden")


def name_files(folder: Path, paths: Iterable[str]) -> None:
    """Let configuration cross over: the task's scope names each file, from the worktree on."""
    path = folder / TASK
    tree, _ = yaml_tree.compose(path.read_text())
    data = tree.data()
    assert isinstance(data, dict)  # noqa: S101 - it was written here
    plain = [each for each in paths if is_plain(each)]
    data["scope"]["may"] = [*plain, *data["scope"]["may"]]
    head = path.read_text().partition("\n")[0]
    path.write_text(f"{head}\n{yaml_tree.text(data)}")


def _task(foreign: Foreign, kind: Kind, container: Container, name: str) -> Mapping[str, object]:
    tree = filled(
        read(TEMPLATE),
        {
            "task": name,
            "title": foreign.instruction.splitlines()[0].strip("# ")[:TITLE] or foreign.name,
            "kind": kind,
            "told": foreign.instruction,
            "workdir": container.workdir,
        },
    )
    tree["world"]["container"] = container.model_dump(mode="json", exclude_defaults=True)
    script = {"entry": foreign.entry, "result": foreign.result}
    tree["tests"]["script"] = {**script, "variables": foreign.test_variables}
    limits = foreign.limits
    tree["tests"]["timeout_seconds"] = limits.test_seconds
    tree["limits"] = {
        "turns": TURNS,
        "processes": PROCESSES,
        "disk_bytes": limits.disk_bytes,
        "seconds": limits.agent_seconds,
        "command_seconds": limits.agent_seconds,
        "silence_seconds": limits.agent_seconds,
        "memory_bytes": limits.memory_bytes,
        "cpus": limits.cpus,
    }
    tree["plan"]["segments"][0]["does"] = list(_solving(foreign))
    return tree


def _solving(foreign: Foreign) -> Iterator[dict[str, object]]:
    """Bring its solution into the container and run it, as its author's harness does."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for path, file in foreign.solution.items():
            member = tarfile.TarInfo(path)
            member.size, member.mode = len(file.content), 0o755
            archive.addfile(member, io.BytesIO(file.content))
    text = base64.b64encode(packed.getvalue()).decode()
    for start in range(0, len(text), PART):
        part = text[start : start + PART]
        yield _command(f"printf %s '{part}' >> {PACKED}")
    given = [f"{name}={value}" for name, value in foreign.solution_variables.items()]
    with_them = f"env {shlex.join(given)} " if given else ""
    yield _command(
        f"mkdir {UNPACKED} && base64 -d {PACKED} | tar -xz -C {UNPACKED} && "
        f"cd {foreign.workdir} && {with_them}bash {UNPACKED}/{foreign.solve}"
    )


def _command(line: str) -> dict[str, object]:
    return {"action": "run_command", "arguments": {"command": line}}
