"""What a task's image gives away: every layer unpacked, every git object read."""

import io
import json
import re
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import IO

from sandbox.container.engines.base import Engine
from sandbox.model.errors import ImageError
from sandbox.model.scratch import Scratch
from sandbox.tasks import repos
from sandbox.tasks.images.image_secrets import Secrets, telling_lines
from sandbox.tasks.repos.git_commands import CommandError, Git

_WHITEOUT = ".wh."
"""How a layer says that a file of a lower one is gone."""
_LARGEST_FILE = 4 << 20
"""Bytes; larger files are compared as a whole, not line by line."""
_OBJECTS_AT_ONCE = 500
_PACKAGES = re.compile(r"^(?:usr|opt/venv|opt/tool-servers)/|(?:^|/)node_modules/")
"""Where files of other projects lie."""


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
            for line, text in (secret.lines | secret.test_lines).items()
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
        if len(data) <= _LARGEST_FILE and not _PACKAGES.search(member.name):
            yield from _found(data, secret.test_lines, where)


def _repository_leaks(folder: Path, where: str, secret: Secrets) -> Iterator[str]:
    yield from (f"{where}: {text}" for text in repos.leaks(folder, secret.files))
    try:
        for name, content in _objects(Git(folder)):
            for lines in (secret.lines, secret.test_lines):
                yield from _found(content, lines, f"{where}: git object {name}")
    except CommandError as error:
        yield f"{where}: git cannot read it: {error}"


def _objects(git: Git) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of each object that holds text; some at once, for git starts slowly.

    What git prints of each is a line `name kind size`, then so many bytes, then a newline
    (git-cat-file, "Batch output").
    """
    listed = git.run("cat-file", "--batch-all-objects", "--batch-check=%(objecttype) %(objectname)")
    rows = (line.split() for line in listed.splitlines())
    names = [name for kind, name in rows if kind != "tree"]
    for start in range(0, len(names), _OBJECTS_AT_ONCE):
        wanted = "\n".join(names[start : start + _OBJECTS_AT_ONCE])
        told = git.run("cat-file", "--batch", stdin=wanted.encode())
        rest = io.BytesIO(told.encode(errors="surrogateescape"))
        while header := rest.readline():
            name, _, size = header.split()
            yield name.decode(), rest.read(int(size))
            rest.readline()


def _found(data: bytes, lines: Mapping[bytes, str], where: str) -> Iterator[str]:
    for line in set(telling_lines(data)) & lines.keys():
        yield f"{where} holds {lines[line]}: {line.decode(errors='replace')}"
