"""A seed's edits: what differs from the release by lines, and the release with them."""

import difflib

from sandbox.model.errors import EvidenceError
from sandbox.model.seed import CONTEXT, Edit, Seed
from sandbox.tasks.differences import lines_of
from sandbox.tasks.seeds.mined_repository import MinedRepository


def edits_of(mined: MinedRepository, files: dict[str, bytes]) -> tuple[Edit, ...]:
    """Say by lines what differs from the release."""
    sources = {source.path: source.data for source in mined.sources}
    return tuple(
        edit
        for path, data in sorted(files.items())
        for edit in edits_between(path, sources[path], data)
    )


def edits_between(path: str, right: bytes, wrong: bytes) -> tuple[Edit, ...]:
    """Say by lines what differs in a file."""
    before, after = lines_of(right), lines_of(wrong)
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    return tuple(
        Edit(
            path=path,
            line=first + 1,
            before="".join(before[first:last]),
            after="".join(after[start:end]),
            above="".join(before[max(first - CONTEXT, 0) : first]),
            below="".join(before[last : last + CONTEXT]),
        )
        for tag, first, last, start, end in matcher.get_opcodes()
        if tag != "equal"
    )


def replanted(mined: MinedRepository, seed: Seed) -> dict[str, bytes]:
    """Give the changed files of a stored seed. EvidenceError where it does not fit the release."""
    files = {source.path: lines_of(source.data) for source in mined.sources}
    changed = {}
    for edit in sorted(seed.edits, key=lambda each: each.line, reverse=True):
        lines, count = files.get(edit.path, []), len(lines_of(edit.before.encode()))
        start = edit.line - 1
        if "".join(lines[start : start + count]) != edit.before or edit.path not in files:
            raise EvidenceError(
                f"Seed {seed.id} does not fit {mined.repository.name} {mined.mining.release}: "
                f"{edit.path}, line {edit.line}, is another one.",
                f"Mine the release anew: sandbox mine {mined.repository.name}.",
            )
        lines[start : start + count] = lines_of(edit.after.encode())
        changed[edit.path] = lines
    return {path: "".join(lines).encode() for path, lines in changed.items()}
