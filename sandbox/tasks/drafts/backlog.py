"""Several seeds of one repository as one task: a backlog of tickets, some of them no faults.

Each seed lies in a file of its own, so that its fix fits whichever others are mended already.
"""

import hashlib
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import RootModel

from sandbox.model import documents
from sandbox.model.case import CommandSubject
from sandbox.model.seed import Seed
from sandbox.model.world import Defect
from sandbox.tasks.drafts import recorded_case, seed_defects, seed_patches
from sandbox.tasks.drafts.seed_folder import SeedFolder
from sandbox.tasks.template import filled_text

LEAST, MOST = 3, 6
"""Faults of one backlog."""
SUMS, CHECKSUMS = "docs/checksums.txt", "checksums"
"""The file of a ticket that has to come last, and the case that looks at it."""


class Entries(RootModel[dict[str, str]]):
    """What the tickets say, by kind."""


@dataclass(frozen=True, slots=True)
class Backlog:
    """The seeds of one task, in the order of their files, and one whose fault is not there."""

    seeds: tuple[Seed, ...]
    mended_already: Seed

    @property
    def joined(self) -> Seed:
        """All its faults as one."""
        first = self.seeds[0]
        return first.model_copy(
            update={
                "edits": tuple(edit for seed in self.seeds for edit in seed.edits),
                "fail_to_pass": tuple(
                    sorted(test for seed in self.seeds for test in seed.fail_to_pass)
                ),
                "calls": tuple(script for seed in self.seeds for script in seed.calls),
            }
        )


def chosen(of: SeedFolder, seed: Seed, kept: Collection[str]) -> Backlog | None:
    """Choose the seeds that go with one, by its digest; None where there are too few.

    `kept` are the tests that pass without a defect.
    """
    if not _is_apart(seed, ()):
        return None
    known = [each for each in of.seeds.seeds if not each.sanitized and each.id != seed.id]
    others = sorted(known, key=lambda other: _digest(f"{seed.id} {other.id}"))
    found: list[Seed] = []
    for each in (seed, *others):
        if len(found) < MOST and _is_apart(each, found):
            found.append(each)
    already = next((each for each in others if _passes(each, found, kept)), None)
    if already is None and _passes(found[-1], found[:-1], kept):
        already = found.pop()
    if already is None or len(found) < LEAST:
        return None
    return Backlog(tuple(sorted(found, key=_path)), already)


def _is_apart(seed: Seed, found: Sequence[Seed]) -> bool:
    """Whether a fault lies in one file, and neither that nor a test of its is another one's."""
    alone = len({edit.path for edit in seed.edits}) == 1 and not seed.sanitized
    return (
        alone and _path(seed) not in map(_path, found) and _tests(found).isdisjoint(_tests([seed]))
    )


def _passes(seed: Seed, found: Sequence[Seed], kept: Collection[str]) -> bool:
    """Whether the tests of a seed that is not there pass with the others."""
    return _tests([seed]) <= set(kept) - _tests(found)


def _tests(seeds: Sequence[Seed]) -> set[str]:
    return {test for seed in seeds for test in seed.fail_to_pass}


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def _path(seed: Seed) -> str:
    return seed.edits[0].path


def planted(of: SeedFolder, backlog: Backlog) -> Iterator[tuple[Defect, str]]:
    """Yield each defect with its patch, each seed's in files of its own."""
    for number, seed in enumerate(backlog.seeds, 1):
        for defect, text in seed_defects.planted(of, seed):
            name = f"{number}-{defect.patch}"
            yield defect.model_copy(update={"patch": name}), text


def fixes(backlog: Backlog) -> dict[str, str]:
    """Give the patch of each ticket, by the name of its file."""
    return {
        _fix(number): seed_patches.patch(seed.edits, back=True)
        for number, seed in enumerate(backlog.seeds, 1)
    }


def filling(backlog: Backlog, common: Mapping[str, Any], entries: Path) -> dict[str, Any]:
    """Say what stands for the places of a draft that only a backlog has."""
    says = documents.load(entries, Entries).root
    letters, _, first = str(common["ticket"]).rpartition("-")
    count = len(backlog.seeds)
    order = sorted(range(count + 3), key=lambda place: _digest(f"{common['task']} {place}"))
    tickets = [f"{letters}-{int(first) + place}" for place in order]
    *mended, nothing, waiting, sums = tickets
    written = {
        **{
            ticket: _fails(says, ticket, each)
            for ticket, each in zip(mended, backlog.seeds, strict=True)
        },
        nothing: _fails(says, nothing, backlog.mended_already),
        waiting: filled_text(says["waits"], {"ticket": waiting}),
        sums: filled_text(says["sums"], {"ticket": sums}),
    }
    paths = [_path(seed) for seed in backlog.seeds]
    lines = [*map(_commit, mended, paths), _commit(sums, SUMS)]
    return {
        "entries": "\n".join(written[ticket] for ticket in sorted(written, key=_number)).rstrip(),
        "mended": mended,
        "nothing": [nothing],
        "waiting": [waiting],
        "refs": "|".join([*mended, sums]),
        "refslisted": ", ".join([*mended, sums]),
        "sources": [*common["wanted"], *common["others"]],
        "faulty": [*common["wanted"], *paths],
        "delivered": [*common["others"], SUMS],
        "messages": [
            {"path": path, "matches": rf"(?s).*\nRefs: {ticket}\n?"}
            for ticket, path in zip([*mended, sums], [*paths, SUMS], strict=True)
        ],
        "noticed": [
            *common["tested"],
            *(f"must {path}" for path in (*common["wanted"], *paths)),
        ],
        "pathslisted": ", ".join(paths),
        "files": common["graded"],
        "together": [*paths, SUMS],
        "mends": [_mend(number, path) for number, path in enumerate(paths, 1)],
        "again": [{"again": f"mend-{number}"} for number in range(1, count + 1)],
        "commits": [*_commits([*paths, SUMS], lines)],
        "unhooked": [*_unhooked([*paths, SUMS], lines)],
        "commitlines": " && ".join(lines),
    }


def add_case(task: dict[str, Any], cases: dict[str, Any], sources: Sequence[str]) -> None:
    """Have a task graded by its checksums as well, beside the cases that there are.

    They are of the files of code that differ from the last commit, or are new, in the container
    into which the candidate's files are laid, and none of its commits.
    """
    globs = shlex.join(f":(glob){glob}" for glob in sources)
    changed = f"git -c safe.directory='*' ls-files -z -m -o --exclude-standard -- {globs}"
    line = f"{changed} | LC_ALL=C sort -z | xargs -0 sha256sum -- | cmp - {SUMS}"
    subject = CommandSubject(kind="command", argv=("sh", "-c", line))
    cases.setdefault("subjects", {})[CHECKSUMS] = subject.model_dump(mode="json")
    case = {
        "id": CHECKSUMS,
        "subject": CHECKSUMS,
        "expect": {"value": {"exit_code": 0}},
        "finite": "They are those of what is committed.",
    }
    cases.setdefault("cases", []).append(case)
    declared = task["tests"].setdefault("cases", {"file": recorded_case.FILE, "fail_to_pass": []})
    declared["fail_to_pass"] = [*declared["fail_to_pass"], CHECKSUMS]


def _fails(says: dict[str, str], ticket: str, seed: Seed) -> str:
    test, *more = seed.fail_to_pass
    files = " and ".join(dict.fromkeys(each.partition("::")[0] for each in more))
    others = filled_text(says["others"], {"count": len(more), "files": files})
    return filled_text(
        says["fails"], {"ticket": ticket, "test": test, "others": others if more else ""}
    )


def _number(ticket: str) -> int:
    return int(ticket.rpartition("-")[2])


def _fix(number: int) -> str:
    return f"oracle/fix-{number}.patch"


def _mend(number: int, path: str) -> dict[str, Any]:
    return {
        "label": f"mend-{number}",
        "action": "apply_patch",
        "files": {"patch": _fix(number)},
        "changes": [path],
    }


def _commit(ticket: str, path: str) -> str:
    staged = f"git add {SUMS} && " if path == SUMS else ""
    message = f'-m "code: mend what tests notice" -m "Refs: {ticket}"'
    return f"{staged}git commit -q {message} -- {shlex.quote(path)}"


def _unhooked(paths: Sequence[str], lines: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the same with the hooks moved away meanwhile, in one line."""
    for path in paths:
        yield {"event": "committed", "arguments": {"hooked": False, "paths": [path]}}
    away, back = "mv .git/hooks /tmp/kept", "ended=$?; mv /tmp/kept .git/hooks; exit $ended"
    yield {
        "action": "run_command",
        "arguments": {"command": f"{away} && {' && '.join(lines)}; {back}"},
        "result": {"exit_code": 0},
    }


def _commits(paths: Sequence[str], lines: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield what the commits of a backlog are, with what each brings about."""
    for number, (path, line) in enumerate(zip(paths, lines, strict=True), 1):
        yield {"event": "committed", "arguments": {"hooked": True, "paths": [path]}}
        yield {
            "label": "commit" if number == 1 else f"commit-{number}",
            "action": "run_command",
            "arguments": {"command": line},
            "result": {"exit_code": 0},
        }
