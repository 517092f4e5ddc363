"""Names in a task file that are like nothing there is: refused at once, with the nearest ones.

What is near to nothing may be meant; the checks that run a task find it (`docs/validate.md`).
"""

import difflib
import re
from collections.abc import Iterable, Iterator, Set
from pathlib import Path

from sandbox.model import patch_text
from sandbox.model.action import ACTIONS
from sandbox.model.atom import Atom, Predicate
from sandbox.model.final import Computed
from sandbox.model.glob import Globs, is_plain
from sandbox.model.statement import HISTORY
from sandbox.model.task import ScriptedAction, TaskFile

Place = tuple[str | int, ...]
Asked = tuple[Place, str, Iterable[str]]
"""Where an action stands, its name, and those of its arguments."""

PROMPT, POLICY = "prompt", "policy"
ALMOST = 0.92
"""How alike two paths have to be to be one path, once misspelt."""
ALMOST_FOLDER = 0.9
"""The same of folders, whose names are shorter."""


def problems(file: TaskFile) -> Iterator[tuple[Place, str]]:
    """Say what is spelt wrong, each with its place in the file."""
    milestones = [milestone.id for milestone in file.milestones]
    for place, name, arguments in _actions(file):
        if name not in ACTIONS:
            yield place, _unknown("action", name, ACTIONS)
            continue
        known = sorted(ACTIONS[name].model_fields)
        for argument in arguments:
            if argument not in known:
                said = _unknown("argument", argument, known)
                yield (*place, "arguments", argument), f"{name}: {said}"
    for number, rule in enumerate(file.rules):
        for atom in rule.atoms:
            yield from ((("rules", number), said) for said in _of_atom(atom))
    for number, milestone in enumerate(file.milestones):
        for atom in filter(None, (milestone.reached, milestone.undone)):
            yield from ((("milestones", number), said) for said in _of_atom(atom))
    for at, computed in _computed(file):
        for atom in _decide(computed):
            yield from ((at, said) for said in _of_atom(atom))
    for place, name in _milestones(file):
        if name not in milestones:
            yield place, _unknown("milestone", name, milestones)
    yield from _never_changed(file)


def _computed(file: TaskFile) -> Iterator[tuple[Place, Computed]]:
    """Give what the facts of a run decide, with its place in the file."""
    for name, field in file.final.items():
        if field.computed is not None:
            yield ("final", name), field.computed
    for name, computed in file.trailers.items():
        yield ("trailers", name), computed
    for path, lines in file.reports.items():
        for name, computed in lines.items():
            yield ("reports", path, name), computed


def _decide(computed: Computed) -> Iterator[Atom]:
    """Give the steps from which something is computed, with what is looked up in them."""
    if computed.atom is None:
        return
    looked_up = () if computed.looked_up is None else (computed.looked_up.field,)
    where = {**computed.atom.where, **dict.fromkeys(looked_up, Predicate(exists=True))}
    yield computed.atom.model_copy(update={"where": where})


def _of_atom(atom: Atom) -> Iterator[str]:
    """Say which action, and which argument of it, an atom names that there is not."""
    if atom.action is None:
        return
    meant = [action for name, action in ACTIONS.items() if Globs((atom.action,)).match(name)]
    if not meant:
        yield _unknown("action", atom.action, ACTIONS)
        return
    known = sorted({argument for action in meant for argument in action.model_fields})
    fields = [name.split(".") for name in atom.where]
    asked = [*atom.arguments, *(field[1] for field in fields if field[0] == "arguments")]
    for argument in asked:
        if argument not in known:
            yield f"{atom.action}: {_unknown('argument', argument, known)}"


def unmatched(file: TaskFile, folder: Path, released: Set[str]) -> Iterator[str]:
    """Say which globs and test ids match no file of the release, but are almost like one that does.

    What the task lays out or its plan changes is there as well, and `generated` may name anything.
    """
    there = released | _laid_paths(file, folder)
    for field, glob in dict.fromkeys(_globs(file)):
        plain = is_plain(glob)
        wanted = glob if plain else re.split(r"/?[^/]*[*?\[{]", glob, maxsplit=1)[0]
        if not wanted or wanted.startswith(("/", "~")) or wanted in there:
            continue
        below = f"{wanted}/"
        if any(path.startswith(below) for path in there):
            continue
        known = there if plain else {str(each) for path in there for each in Path(path).parents}
        cutoff = ALMOST if plain else ALMOST_FOLDER
        near = difflib.get_close_matches(wanted, known, n=1, cutoff=cutoff)
        if near and Path(near[0]).suffix == Path(wanted).suffix:
            yield f"{field}: nothing is called {wanted}; did you mean {near[0]}?"


def files_missing(file: TaskFile, folder: Path, released: Set[str]) -> Iterator[str]:
    """Say which files that tests and words are said to be in neither release nor task has."""
    there = released | _laid_paths(file, folder)
    stated = (each.stated_in for each in (*file.statements, *file.rules))
    for path in dict.fromkeys(stated):
        if path not in (PROMPT, POLICY, HISTORY) and path not in there:
            yield f"stated_in: neither the release nor the task has a file {path}"
    # Where no tests are hidden, those of a seed may be laid by the miner, and those of a recording
    # are about files that the run makes. Ids in other languages need not begin with a file.
    listed = file.tests.fail_to_pass + file.tests.pass_to_pass if file.tests.hidden else ()
    for path in dict.fromkeys(test.partition("::")[0] for test in listed):
        if path.endswith(".py") and path not in there:
            yield f"tests of {path} are listed, and neither the release nor the task has that file"


def _globs(file: TaskFile) -> Iterator[tuple[str, str]]:
    scope = file.scope
    for name in ("never", "user", "must", "may"):
        yield from ((f"scope.{name}", glob) for glob in getattr(scope, name))
    for rule in file.rules:
        for atom in rule.atoms:
            named = [each for each in (*atom.changed, atom.reads) if each is not None]
            yield from ((f"rule {rule.id}", glob) for glob in named)
    for milestone in file.milestones:
        reached = milestone.reached
        named = [each for each in (*reached.changed, reached.reads) if each is not None]
        yield from ((f"milestone {milestone.id}", glob) for glob in named)
    for test in file.tests.fail_to_pass + file.tests.pass_to_pass:
        yield f"test {test}", test.partition("::")[0]


def paths(file: TaskFile, folder: Path) -> Iterator[str]:
    """Say which paths of rules and statements the task does not know, but one almost like them."""
    known = _known_paths(file, folder)
    places = [statement.stated_in for statement in file.statements]
    places += [rule.stated_in for rule in file.rules]
    asked = [("stated_in", place) for place in places if place not in (PROMPT, POLICY, HISTORY)]
    for rule in file.rules:
        for atom in rule.atoms:
            named = {"changes": atom.changed, "reads": (atom.reads,), "tests": atom.tests or ()}
            asked += [
                (f"rule {rule.id}: {field}", path)
                for field, paths in named.items()
                for path in paths
                if path is not None and is_plain(path)
            ]
    for field, path in dict.fromkeys(asked):
        near = difflib.get_close_matches(path, known, n=1, cutoff=ALMOST)
        if path not in known and near and Path(near[0]).suffix == Path(path).suffix:
            yield f"{field}: the task knows no {path}; did you mean {near[0]}?"


def _known_paths(file: TaskFile, folder: Path) -> set[str]:
    """Give the paths that a task names, and those of the files that it lays out."""
    return {
        *(glob for glob in (*file.scope.must, *file.scope.may) if is_plain(glob)),
        *_laid_paths(file, folder),
    }


def _laid_paths(file: TaskFile, folder: Path) -> set[str]:
    """Give the paths that a plan changes, and those of the files that a task lays out."""
    known: set[str] = set(file.tests.own)
    for deed in file.plan.deeds if file.plan else ():
        known |= {*deed.changes, str(deed.arguments.get("path", ""))}
    for each in (*(overlay.folder for overlay in file.world.overlays), file.tests.hidden):
        below = folder / each if each else folder / "nothing"
        known |= {path.relative_to(below).as_posix() for path in below.rglob("*")}
    return known


def changed_paths(file: TaskFile, folder: Path) -> frozenset[str]:
    """Give the paths that are not as released: laid out, changed by the plan, or by a patch."""
    worktree = file.world.worktree
    patches = [defect.patch for defect in file.world.defects]
    patches += [each for each in (worktree.stash, worktree.staged, worktree.unstaged) if each]
    found = {
        path
        for patch in patches
        for path in patch_text.names((folder / patch).read_text("utf-8", "replace"))
    }
    return frozenset(found | _laid_paths(file, folder))


def _actions(file: TaskFile) -> Iterator[Asked]:
    scripts: list[tuple[Place, tuple[ScriptedAction, ...]]] = [(("oracle",), file.oracle)]
    for name, script in file.other_oracles.items():
        if not isinstance(script, str):
            scripts.append((("other_oracles", name), script))
    for place, script in scripts:
        for number, action in enumerate(script):
            yield (*place, number), action.action, action.arguments
    for number, segment in enumerate(file.plan.segments if file.plan else ()):
        for index, deed in enumerate(segment.does):
            if deed.action is not None:
                place = ("plan", "segments", number, "does", index)
                yield place, deed.action, (*deed.arguments, *deed.files)


def _milestones(file: TaskFile) -> Iterator[tuple[Place, str]]:
    plan = file.plan
    for number, segment in enumerate(plan.segments if plan else ()):
        if segment.milestone is not None:
            yield ("plan", "segments", number), segment.milestone
    for number, way in enumerate(plan.ways if plan else ()):
        if way.milestone is not None:
            yield ("plan", "ways", number), way.milestone


def _never_changed(file: TaskFile) -> Iterator[tuple[Place, str]]:
    """Yield what has to change, without a wildcard, where the plan changes a path like it."""
    known = Globs((*file.scope.must, *file.scope.may))
    deeds = file.plan.deeds if file.plan else ()
    changed = {path for deed in deeds for path in deed.changes if not known.match(path)}
    for number, glob in enumerate(file.scope.must):
        if is_plain(glob):
            near = difflib.get_close_matches(glob, changed, n=1, cutoff=0.85)
            if near:
                yield ("scope", "must", number), f"the plan changes {near[0]}, not {glob}"


def _unknown(what: str, name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(known), n=3)
    if near:
        return f"unknown {what} {name!r}; did you mean {' or '.join(near)}?"
    return f"unknown {what} {name!r}; known here: {', '.join(sorted(known)) or 'none'}"
