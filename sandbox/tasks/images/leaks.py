"""What a task's image gives away: every layer unpacked, every git object read.

Looked for are the files of the task that only grading may see, the lines that a solution consists
of, and every file of a release that the repository does not show as upstream wrote it.
"""

import json
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from sandbox.container.engines.base import Engine
from sandbox.model.errors import ImageError
from sandbox.model.repository import Release
from sandbox.model.scratch import Scratch
from sandbox.tasks import repos
from sandbox.tasks.images.recipe import OnLine
from sandbox.tasks.images.task_image import world_files
from sandbox.tasks.library import LoadedTask, files_below
from sandbox.tasks.repos import archive as archives
from sandbox.tasks.repos.git_commands import CommandError, Git
from sandbox.tasks.sources import Sources

_SHORTEST_LINE = 20
"""Characters from which on a line is telling."""
_WHITEOUT = ".wh."
"""How a layer says that a file of a lower one is gone."""
_LARGEST_FILE = 4 << 20
"""Bytes; larger files are compared as a whole, not line by line."""


@dataclass(frozen=True, slots=True)
class Secrets:
    """What must not be found, each with what it is."""

    lines: Mapping[bytes, str]
    """Single lines, stripped."""
    files: Mapping[str, str]
    """By git's object id, which a plain file has too."""


def secrets(loaded: LoadedTask, sources: Sources, on_line: OnLine) -> Secrets:
    """Return what the image of a task must not hold."""
    task, folder, repository = loaded.task, loaded.folder, loaded.repository
    shown = {
        line
        for release in _shown(loaded)
        for file in archives.read(sources.fetch(release.source, on_line))
        for line in _lines(file.data)
    }
    hidden = _solution(loaded)
    world = set(world_files(task.world, folder)) - {folder / d.patch for d in task.world.defects}
    for path in world:
        shown |= set(_lines(path.read_bytes()))
    own = [path for path in files_below(folder) if path not in world]
    for path in own:
        if task.tests.hidden and path.is_relative_to(folder / task.tests.hidden):
            hidden |= dict.fromkeys(_lines(path.read_bytes()), f"a line of {path.name}")
    # A defect takes these out of all that is shown, hence they are no part of it.
    shown -= set(_undone(loaded))
    lines = {line: text for line, text in hidden.items() if line not in shown}
    files = repos.hidden_blobs(repository, task.world, folder, sources, on_line)
    files |= {
        repos.blob_id(path.read_bytes()): path.name for path in own if path.stat().st_size > 0
    }
    return Secrets(lines, files)


def _shown(loaded: LoadedTask) -> Iterator[Release]:
    for release in loaded.repository.releases:
        yield release
        if release.version == loaded.task.world.release:
            return


def leaks(engine: Engine, tag: str, secret: Secrets) -> list[str]:
    """Return a sentence for each leak of an image; none if it is tight."""
    with Scratch("leaks") as folder:
        engine.save(tag, folder / "image.tar")
        with tarfile.open(folder / "image.tar") as image:
            return list(_image_leaks(image, folder / "repositories", secret))


def _image_leaks(image: tarfile.TarFile, repositories: Path, secret: Secrets) -> Iterator[str]:
    for entry in json.loads(_content(image, "manifest.json").read()):
        texts = _texts(json.loads(_content(image, entry["Config"]).read()))
        yield from (
            f"the configuration holds {text}: {line.decode(errors='replace')}"
            for line, text in secret.lines.items()
            if line in texts
        )
        for number, layer in enumerate(entry["Layers"]):
            with tarfile.open(fileobj=_content(image, layer)) as archive:
                yield from _layer_leaks(archive, f"layer {number}", secret)
                # One over the other, and nothing taken away: what a later layer deletes counts.
                for member in archive:
                    if _is_git(member.name):
                        _unpack(archive, member, repositories)
    for directory in sorted(repositories.rglob(".git")):
        where = f"/{directory.parent.relative_to(repositories)}"
        yield from _repository_leaks(directory.parent, where, secret)


def _content(archive: tarfile.TarFile, name: str | tarfile.TarInfo) -> IO[bytes]:
    """Open a file of an archive; a link to another of its files is followed."""
    file = archive.extractfile(name)
    if file is None:
        raise ImageError(f"The image as it was saved has no {name}.")
    return file


def _unpack(archive: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> None:
    """Write a folder or a regular file; `extractall` knows no filter before Python 3.11.4."""
    path = PurePosixPath(member.name)
    if path.is_absolute() or ".." in path.parts:
        raise ImageError(f"A layer holds the path {member.name}, which leads out of it.")
    target = folder / path
    if member.isdir():
        target.mkdir(parents=True, exist_ok=True)
    elif member.isreg():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(_content(archive, member).read())


def _is_git(name: str) -> bool:
    path = PurePosixPath(name)
    return ".git" in path.parts and not path.name.startswith(_WHITEOUT)


def _texts(value: object) -> bytes:
    """Return every text of a JSON value, one per line, so that no escape hides one."""
    match value:
        case dict():
            return b"\n".join(_texts(part) for pair in value.items() for part in pair)
        case list():
            return b"\n".join(map(_texts, value))
        case _:
            return str(value).encode()


def _layer_leaks(archive: tarfile.TarFile, layer: str, secret: Secrets) -> Iterator[str]:
    for member in archive:
        if not member.isreg() or member.size == 0:
            continue
        file = archive.extractfile(member)
        data = file.read() if file else b""
        where = f"{layer}: /{member.name}"
        if text := secret.files.get(repos.blob_id(data)):
            yield f"{where} is {text}"
        if len(data) <= _LARGEST_FILE:
            yield from _found(data, secret.lines, where)


def _repository_leaks(folder: Path, where: str, secret: Secrets) -> Iterator[str]:
    yield from (f"{where}: {text}" for text in repos.leaks(folder, secret.files))
    git = Git(folder)
    try:
        listed = git.run(
            "cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)"
        )
        for line in listed.splitlines():
            name, kind = line.split()
            if kind != "tree":
                content = git.run("cat-file", kind, name).encode(errors="surrogateescape")
                yield from _found(content, secret.lines, f"{where}: git object {name}")
    except CommandError as error:
        yield f"{where}: git cannot read it: {error}"


def _found(data: bytes, lines: Mapping[bytes, str], where: str) -> Iterator[str]:
    for line in set(_lines(data)) & lines.keys():
        yield f"{where} holds {lines[line]}: {line.decode(errors='replace')}"


def _lines(data: bytes) -> Iterator[bytes]:
    for line in data.splitlines():
        stripped = line.strip()
        if len(stripped) >= _SHORTEST_LINE:
            yield stripped


def _solution(loaded: LoadedTask) -> dict[bytes, str]:
    """Return the lines that undo the defects, and those that the oracle writes."""
    found = dict.fromkeys(_undone(loaded), "a line of the fix")
    for action in loaded.task.oracle:
        patch, content = action.arguments.get("patch"), action.arguments.get("content")
        if isinstance(patch, str):
            added = (line[1:] for line in patch.splitlines() if _is_added(line))
            found |= dict.fromkeys(_lines("\n".join(added).encode()), "a line of the oracle's fix")
        if isinstance(content, str):
            found |= dict.fromkeys(_lines(content.encode()), "a line that the oracle writes")
    return found


def _is_added(line: str) -> bool:
    return line.startswith("+") and not line.startswith("+++ ")


def _undone(loaded: LoadedTask) -> Iterator[bytes]:
    for defect in loaded.task.world.defects:
        patch = (loaded.folder / defect.patch).read_bytes()
        removed = [
            line[1:]
            for line in patch.splitlines()
            if line.startswith(b"-") and not line.startswith(b"---")
        ]
        yield from _lines(b"\n".join(removed))
