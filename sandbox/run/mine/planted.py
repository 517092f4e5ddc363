"""A defect as it is planted: the files' new contents, and the figures."""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterator

from sandbox.container.candidate import Candidate, CandidateFile
from sandbox.model.seed import Seed, SeedFigures
from sandbox.run.mine.draw import Defect
from sandbox.tasks.seeds.call_graph import CallGraph
from sandbox.tasks.seeds.edits import edits_of
from sandbox.tasks.seeds.languages import Part, Source, parsed
from sandbox.tasks.seeds.mined_repository import MinedRepository
from sandbox.tasks.seeds.older_lines import older_lines

FEW = 2
NEAR = 2
BESIDE = {"above", "below"}
"""Of an edit: what a seed is not named by."""


def planted(mined: MinedRepository, defect: Defect) -> dict[str, bytes] | None:
    """Give the changed files; None where a file's syntax would be wrong, or nothing differs."""
    sources = {source.path: source for source in mined.sources}
    by_file = defaultdict(list)
    for mutation in defect:
        by_file[mutation.path].append(mutation)
    found = {}
    for path, mutations in by_file.items():
        data = sources[path].data
        for mutation in sorted(mutations, key=lambda each: each.changes[0].start, reverse=True):
            data = mutation.applied(data)
        read = parsed(path, data)
        if read is None or data == sources[path].data or read.faults > sources[path].faults:
            return None
        found[path] = data
    return found


def candidate(files: dict[str, bytes]) -> Candidate:
    """Give changed files as what is laid into a container."""
    changed = {path: CandidateFile(data, executable=False) for path, data in files.items()}
    return Candidate(changed, (), {})


def seed_of(
    mined: MinedRepository, defect: Defect, files: dict[str, bytes], failing: list[str], of: int
) -> Seed:
    """Describe a defect that some tests notice."""
    edits = edits_of(mined, files)
    kinds = tuple(mutation.kind for mutation in defect)
    told = "".join(edit.model_dump_json(exclude=BESIDE) for edit in edits)
    digest = hashlib.sha256(told.encode()).hexdigest()
    functions = {mutation.function for mutation in defect if mutation.function}
    distance, named = _from_tests(mined, functions, failing)
    changed = sum(max(edit.before.count("\n"), edit.after.count("\n"), 1) for edit in edits)
    far = distance is None or distance > NEAR
    hidden = (not named, far) if functions else ()
    rank = sum((*hidden, len(defect) > 1, len(files) > 1, len(failing) <= FEW))
    return Seed(
        id=f"{kinds[0] if len(kinds) == 1 else 'several'}-{digest[:8]}",
        kinds=kinds,
        edits=edits,
        older=older_lines(mined, edits),
        fail_to_pass=tuple(failing),
        sanitized=mined.folder.sanitized,
        figures=SeedFigures(
            files=len(files),
            lines=changed,
            places=len(defect),
            failing=len(failing),
            of=of,
            distance=distance,
            named=named,
            rank=rank,
        ),
    )


def _from_tests(
    mined: MinedRepository, functions: set[str], failing: list[str]
) -> tuple[int | None, bool]:
    """Say how far the nearest changed function is from a failing test, and whether one names it."""
    graph = CallGraph((*mined.sources, *mined.tests))
    distances, named = [], False
    for source, within in _texts(mined.tests, failing):
        calls = source.calls(within)
        distances += [graph.distance(calls, function) for function in functions]
        text = within.text if within else source.data.decode("utf-8", "replace")
        named = named or any(re.search(rf"\b{re.escape(each)}\b", text) for each in functions)
    return min((each for each in distances if each is not None), default=None), named


def _texts(tests: tuple[Source, ...], failing: list[str]) -> Iterator[tuple[Source, Part | None]]:
    """Yield each failing test's function, or its file where no function has its name."""
    files = {source.path: source for source in tests}
    seen = set()
    for test in failing:
        path, _, name = test.partition("::")
        function = name.partition("[")[0].rpartition("::")[2]
        if (path, function) in seen or path not in files:
            continue
        seen.add((path, function))
        source = files[path]
        bodies = [body for known, body in source.definitions if known == function]
        yield source, bodies[0] if bodies else None
