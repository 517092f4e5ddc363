"""What scripts give in the worktree without its defect: played before a candidate is laid there.

Nothing of this can be read afterwards: the files are put back, and the users who played, who could
write nothing into the worktree, leave no folder behind.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from sandbox.container.engines.base import Session
from sandbox.grading.cases import servants
from sandbox.grading.cases.calls import Asked
from sandbox.grading.cases.comparing import RAISED, Expected, same
from sandbox.grading.cases.scripts import play
from sandbox.grading.cases.standing import Standing
from sandbox.grading.files import Files
from sandbox.grading.testers import Testers
from sandbox.model import path_text as paths
from sandbox.model.errors import DocumentError
from sandbox.model.patch_hunks import patched
from sandbox.model.patch_text import PatchError, parse
from sandbox.model.session import AGENT, ROOT, Command

HASH_SEED, HASH_SEEDS = "PYTHONHASHSEED", ("0", "1")
"""What depends on the order of a set differs between these, and is not asked for."""
SECONDS = 20.0
"""For one script."""


def expected(
    session: Session,
    worktree: str,
    patch: Path,
    groups: Sequence[Sequence[Asked]],
    seconds: float = SECONDS,
) -> list[list[Expected | None]]:
    """Play groups of scripts, each in a process of its own; None where nothing is certain.

    A script that takes more `seconds` gives nothing certain. DocumentError where the patch does
    not fit the worktree.
    """
    testers = Testers(session)
    before = _mend(session, worktree, patch)
    told = certain(session, worktree, testers, groups, seconds=seconds)
    session.kill_all()
    session.run(Command(("/bin/rm", "-rf", "--", *testers.emptied()), user=ROOT))
    before.put_back()
    return told


def _mend(session: Session, worktree: str, patch: Path) -> Files:
    """Apply a patch, as `apply_patch` does; give the files as they were."""
    try:
        files = parse(patch.read_bytes())
        before = Files.of(session, worktree, [paths.text(file.new or b"") for file in files])
        mended = {
            path: (patched(held[0] if held else b"", file.hunks), held[1] if held else 0o644)
            for file, (path, held) in zip(files, before.content.items(), strict=True)
        }
    except PatchError as error:
        raise DocumentError(
            f"{patch} does not fit the worktree of a fresh session: {error}"
        ) from error
    for path, (content, mode) in mended.items():
        session.write(paths.raw(path), content, beneath=worktree, mode=mode, user=AGENT)
    return before


def certain(
    session: Session,
    worktree: str,
    testers: Testers,
    groups: Sequence[Sequence[Asked]],
    hash_seeds: Sequence[str] = HASH_SEEDS,
    seconds: float = SECONDS,
) -> list[list[Expected | None]]:
    """Play groups of scripts in the worktree as it is, each in a process of its own.

    A script that takes more `seconds` gives nothing certain.
    """
    with servants.laid(session) as folder, ThreadPoolExecutor(len(groups)) as pool:
        ground = _Ground(session, worktree, testers, folder, seconds)
        told = [list(pool.map(partial(ground.played, seed), groups)) for seed in hash_seeds]
    return [
        [_certain(each, answers) for each, *answers in zip(group, *plays, strict=True)]
        for group, *plays in zip(groups, *told, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class _Ground:
    """Where scripts are played, and with whose programs."""

    session: Session
    worktree: str
    testers: Testers
    servants: str
    seconds: float

    def played(self, seed: str, asked: Sequence[Asked]) -> list[list[Any] | None]:
        """Play scripts as a user of their own, who can change nothing of the worktree."""
        standing = Standing.apart(self.session, self.worktree, self.testers.new())
        standing = replace(standing, environment={**standing.environment, HASH_SEED: seed})
        return play([each.lines for each in asked], standing, self.servants, self.seconds)


def _certain(asked: Asked, answers: Sequence[list[Any] | None]) -> Expected | None:
    """Give what lines have to give, up to one of which that is not certain.

    With other values than those that were recorded an error is not certain: nobody says that they
    are allowed.
    """
    ended = [each for each in answers if each is not None]
    if len(ended) < len(answers):
        return None
    told: list[Any] = []
    for first, *others in zip(*ended, strict=True):
        if not all(same(first, other) for other in others):
            break
        if not asked.recorded and RAISED in _keys(first):
            break
        told.append(first)
    return Expected(told, lines=asked.lines[: len(told)]) if told else None


def _keys(answer: Any) -> list[str]:  # noqa: ANN401 - JSON of `runners/wire.py`
    return [key for key, _ in answer["dict"]] if isinstance(answer, dict) else []
