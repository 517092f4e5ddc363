"""What the image of a task must not hold.

The files of the task that only grading may see, the lines that a solution consists of, and every
file of a release that the repository does not show as upstream wrote it.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sandbox.model.patch_text import parse
from sandbox.model.renaming import Renaming
from sandbox.tasks import repos
from sandbox.tasks.images.recipe import OnLine
from sandbox.tasks.images.task_image import world_files
from sandbox.tasks.library import LoadedTask, files_below
from sandbox.tasks.repos import archive as archives
from sandbox.tasks.sources import Sources

_SHORTEST_LINE = 20
"""Characters from which on a line is telling."""


@dataclass(frozen=True, slots=True)
class Secrets:
    """What must not be found, each with what it is."""

    lines: dict[bytes, str]
    """Single lines of a solution, stripped."""
    test_lines: dict[bytes, str]
    """Those of hidden tests: many tests of other projects hold the same, so packages may."""
    files: dict[str, str]
    """By git's object id, which a plain file has too."""


def secrets(loaded: LoadedTask, sources: Sources, on_line: OnLine) -> Secrets:
    """Return what the image of a task must not hold; raises as `Sources.fetch` does."""
    task, folder = loaded.task, loaded.folder
    tests: dict[bytes, str] = {}
    world = set(world_files(task.world, folder))
    patches = {folder / defect.patch for defect in task.world.defects}
    own = [path for path in files_below(folder) if path not in world - patches]
    for path in own:
        if task.tests.hidden and path.is_relative_to(folder / task.tests.hidden):
            tests |= dict.fromkeys(telling_lines(path.read_bytes()), f"a line of {path.name}")
    shown = {*_in_releases(loaded, sources, on_line), *_in_world(loaded, world - patches)}
    solution = {line: text for line, text in _solution(loaded).items() if line not in shown}
    tests = {line: text for line, text in tests.items() if line not in shown}
    files = repos.hidden_blobs(loaded.repository, task.world, folder, sources, on_line)
    files |= {
        repos.blob_id(path.read_bytes()): path.name for path in own if path.stat().st_size > 0
    }
    return Secrets(solution, tests, files)


def telling_lines(data: bytes) -> Iterator[bytes]:
    """Yield the lines that are long enough to give something away, stripped."""
    for line in data.splitlines():
        stripped = line.strip()
        if len(stripped) >= _SHORTEST_LINE:
            yield stripped


def _in_releases(loaded: LoadedTask, sources: Sources, on_line: OnLine) -> Iterator[bytes]:
    """Yield the lines of each release that is shown, as they are with the defects in it.

    A line that a defect takes out at one place may stand at others: then it gives nothing away.
    """
    world, since, before = loaded.task.world, set[str](), set[str]()
    renaming = Renaming(loaded.repository.words)
    for release in loaded.repository.releases:
        since.add(release.version)
        archive = sources.fetch(release.source, on_line)
        files = archives.read(archive, renaming)
        lines = Counter(line for file in files for line in telling_lines(file.data))
        for defect in world.defects:
            if defect.since in since and defect.until not in before:
                right, wrong = _before_and_after(loaded.folder / defect.patch)
                lines.subtract(right)
                lines.update(wrong)
        yield from (line for line, count in lines.items() if count > 0)
        if release.version == world.release:
            return
        before.add(release.version)


def _in_world(loaded: LoadedTask, files: set[Path]) -> Iterator[bytes]:
    worktree = loaded.task.world.worktree
    named = (worktree.stash, worktree.staged, worktree.unstaged)
    patches = {loaded.folder / name for name in named if name}
    for path in files:
        if path in patches:
            yield from _before_and_after(path)[1]
        else:
            yield from telling_lines(path.read_bytes())


def _before_and_after(patch: Path) -> tuple[Counter[bytes], Counter[bytes]]:
    """Count the telling lines of a patch's places, as they are without it and with it."""
    hunks = [hunk for file in parse(patch.read_bytes()) for hunk in file.hunks]
    before = b"".join(line for hunk in hunks for line in hunk.old)
    after = b"".join(line for hunk in hunks for line in hunk.new)
    return Counter(telling_lines(before)), Counter(telling_lines(after))


def _solution(loaded: LoadedTask) -> dict[bytes, str]:
    """Return the lines that undo the defects, and those that the oracle writes."""
    found: dict[bytes, str] = {}
    for defect in loaded.task.world.defects:
        before, after = _before_and_after(loaded.folder / defect.patch)
        found |= dict.fromkeys(before - after, "a line of the fix")
    for action in loaded.task.oracle:
        patch, content = action.arguments.get("patch"), action.arguments.get("content")
        if isinstance(patch, str):
            added = (line[1:] for line in patch.splitlines() if _is_added(line))
            lines = telling_lines("\n".join(added).encode())
            found |= dict.fromkeys(lines, "a line of the oracle's fix")
        if isinstance(content, str):
            lines = telling_lines(content.encode())
            found |= dict.fromkeys(lines, "a line that the oracle writes")
    return found


def _is_added(line: str) -> bool:
    return line.startswith("+") and not line.startswith("+++ ")
