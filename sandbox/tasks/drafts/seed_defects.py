"""A seed's defect as a task weaves it into its releases: into all that have its lines."""

from collections import defaultdict
from collections.abc import Iterator

from sandbox.model.seed import CONTEXT, Edit, OlderLines, Seed
from sandbox.model.world import Defect
from sandbox.tasks.drafts import seed_patches
from sandbox.tasks.drafts.seed_folder import SeedFolder

NAME = "defect.patch"

Span = tuple[str, str | None]
"""The first release and the last, None for that of the task."""


def planted(of: SeedFolder, seed: Seed) -> list[tuple[Defect, str]]:
    """Give each patch and the releases that it is woven into, from the oldest on."""
    edits = defaultdict[Span, list[Edit]](list)
    for path in sorted({edit.path for edit in seed.edits}):
        own = [edit for edit in seed.edits if edit.path == path]
        for span, woven in _of_file(of, seed, own, path):
            edits[span] += woven
    versions = [release.version for release in of.repository.releases]
    spans = sorted(edits, key=lambda span: (versions.index(span[0]), span[1] is None))
    return [
        (
            Defect(patch=_name(span) if len(spans) > 1 else NAME, since=span[0], until=span[1]),
            seed_patches.patch(edits[span], back=False),
        )
        for span in spans
    ]


def _of_file(
    of: SeedFolder, seed: Seed, edits: list[Edit], path: str
) -> Iterator[tuple[Span, list[Edit]]]:
    """Give the releases, and the edits as they are there; what follows each other is one patch."""
    older = [lines for lines in seed.older if lines.path == path]
    last = older.pop(0) if older and _is_same(older[0]) else None
    for lines in older:
        woven = seed_patches.narrowed(edits, lines.context)
        renamed = [edit.model_copy(update={"path": lines.was or path}) for edit in woven]
        yield (lines.since, lines.until), renamed
    yield (of.mining.release if last is None else last.since, None), edits


def _is_same(lines: OlderLines) -> bool:
    """Whether the patch of the seed's own release fits as it is."""
    return not lines.was and lines.context == CONTEXT


def _name(span: Span) -> str:
    since, until = span
    return f"defect-{since}.patch" if until is None else f"defect-{since}-{until}.patch"
