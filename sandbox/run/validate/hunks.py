"""A candidate without one part of its change, for each part."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from sandbox.container.candidate import Candidate, CandidateFile
from sandbox.model.change import Change, ChangeSet
from sandbox.model.session import FileKind
from sandbox.model.task import Task

CONTEXT = 3
"""Lines between changes that still belong together, as in a unified diff."""

LARGEST = 1 << 20
"""Bytes of a file that is looked at by lines."""

Lines = list[bytes]


@dataclass(frozen=True, slots=True)
class Hunk:
    """A part of a candidate's change that can be left out."""

    path: str
    """Relative to the worktree."""
    number: int
    """From 1, among those of the file."""
    text: str
    """The lines that it takes out and puts in."""
    without: CandidateFile | None
    """The file without it; None where nothing is left of the file's change."""

    @property
    def name(self) -> str:
        """How a report calls it."""
        return f"hunk {self.number} of {self.path}"


def hunks(
    candidate: Candidate, changes: ChangeSet, worktree: str, original: Callable[[str], bytes | None]
) -> Iterator[Hunk]:
    """Give each hunk of a candidate; a file that comes, goes or is very large is one hunk.

    `original` gives the image's content of a path, None where there is none.
    """
    for path, file in candidate.files.items():
        before = original(path)
        if before is None or max(len(before), len(file.content)) > LARGEST:
            yield Hunk(path, 1, file.content.decode("utf-8", "replace"), None)
        else:
            yield from _of_file(path, before, file)
    for change in changes.changes:
        path = change.path.removeprefix(f"{worktree}/")
        if path in candidate.deleted and path not in candidate.files and _was_file(change):
            yield Hunk(path, 1, "", None)


def leave_out(candidate: Candidate, hunk: Hunk) -> Candidate:
    """Give the candidate without a hunk."""
    files = {path: file for path, file in candidate.files.items() if path != hunk.path}
    if hunk.without is not None:
        files[hunk.path] = hunk.without
        return replace(candidate, files=files)
    folders = (hunk.path, *_above(hunk.path))
    deleted = tuple(path for path in candidate.deleted if path not in folders)
    return replace(candidate, files=files, deleted=deleted)


def changes_without(changes: ChangeSet, hunk: Hunk, worktree: str) -> ChangeSet:
    """Give the change set as if the hunk had never been written; git's state stays as it is."""
    name = f"{worktree}/{hunk.path}"
    kept: list[Change] = []
    for change in changes.changes:
        if change.path != name:
            kept.append(change)
        elif hunk.without is not None and change.after is not None:
            content = hunk.without.content
            digest = hashlib.sha256(content).hexdigest()
            after = change.after.model_copy(update={"digest": digest, "size": len(content)})
            kept.append(change.model_copy(update={"after": after}))
    above = {f"{worktree}/{folder}" for folder in _above(hunk.path)}
    paths = [change.path for change in kept if change.path not in above]
    empty = {
        change.path
        for change in kept
        if change.path in above
        and change.before is None
        and not any(path.startswith(f"{change.path}/") for path in paths)
    }
    return changes.model_copy(
        update={"changes": tuple(change for change in kept if change.path not in empty)}
    )


def redundant(task: Task, hunk: Hunk) -> str:
    """Give the reason for which the task says that a hunk is not needed; empty where it is."""
    for declared in task.redundant:
        if declared.path == hunk.path and declared.holds in hunk.text:
            return declared.reason
    return ""


def undeclared(task: Task, found: list[Hunk]) -> Iterator[str]:
    """Say which declarations of redundant hunks fit none."""
    for declared in task.redundant:
        fits = (hunk.path == declared.path and declared.holds in hunk.text for hunk in found)
        if not any(fits):
            yield f"no hunk of {declared.path} holds {declared.holds!r}"


def _of_file(path: str, before: bytes, file: CandidateFile) -> Iterator[Hunk]:
    old, new = before.splitlines(keepends=True), file.content.splitlines(keepends=True)
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    codes = list(matcher.get_opcodes())  # a copy: grouping trims the matcher's own
    groups = [
        [code for code in group if code[0] != "equal"]
        for group in matcher.get_grouped_opcodes(CONTEXT)
    ]
    groups = [group for group in groups if group]
    if not groups:  # its mode alone
        yield Hunk(path, 1, "", None)
    for number, group in enumerate(groups, 1):
        lines: Lines = []
        text: Lines = []
        for code in codes:
            _, old_start, old_end, new_start, new_end = code
            if code in group:
                text += old[old_start:old_end] + new[new_start:new_end]
                lines += old[old_start:old_end]
            else:
                lines += new[new_start:new_end]
        content = b"".join(lines)
        without = None if content == before else CandidateFile(content, file.executable)
        yield Hunk(path, number, b"".join(text).decode("utf-8", "replace"), without)


def _was_file(change: Change) -> bool:
    return change.before is not None and change.before.kind is not FileKind.DIRECTORY


def _above(path: str) -> Iterator[str]:
    while path := path.rpartition("/")[0]:
        yield path
