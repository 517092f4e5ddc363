"""A draft of a task out of recorded commands: world, oracle, and a check for each changed path."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from sandbox.container.candidate import Candidate, CandidateFile
from sandbox.model import documents, yaml_tree
from sandbox.model.errors import UsageError
from sandbox.model.listing import some
from sandbox.model.places import TASK
from sandbox.model.repository import Repository
from sandbox.model.shell import reader
from sandbox.model.task import Refused, ScriptedAction, TaskFile
from sandbox.tasks.authoring import layout
from sandbox.tasks.sources import Sources
from sandbox.tasks.template import filled, read

TEMPLATE = Path(__file__).with_name("recording.yaml")
CHECK, COMMANDS = "hidden/check.sh", "commands.yaml"
TOLD = "Say here what has to be done. Recorded were these commands: {commands}."
NOTHING_YET = "nothing-yet"
"""The check of a draft that has not been repeated."""
TITLE, SHOWN = 100, 5
MOST_BYTES = 32 << 20
"""Of all contents that are compared."""
NO_TESTS = "echo 'There are no tests here that you could run; write your own.'; exit 1"

STATE = "/tmp/.recorded"  # noqa: S108 - in the container
KEEP = f"""cat > {STATE} <<'KEEP'
[ -e {STATE}.state ] && . {STATE}.state
trap '{{ declare -f; export -p; umask -p; printf "cd %q\\n" "$PWD"; }} > {STATE}.state' EXIT
KEEP"""
"""Written first where a command leaves folder or variables to the next ones, as one shell does."""
LEAVES_BEHIND = frozenset(
    ("cd", "pushd", "popd", "export", "declare", "source", ".", "unset", "umask", "function")
)


@dataclass(frozen=True, slots=True)
class Basis:
    """The world in which commands are repeated."""

    repository: Repository
    release: str
    image: str
    command: str
    """What `run_tests` runs."""


@dataclass(frozen=True, slots=True)
class Draft:
    """What the task's folder will say."""

    task: str
    basis: Basis
    told: str
    commands: tuple[str, ...]
    candidate: Candidate | None = None
    """What the commands left; None where they have not been repeated yet."""
    unsteady: frozenset[str] = frozenset()
    """Paths whose content is another each time."""
    named: tuple[str, ...] = ()
    """Configuration that crosses into grading because the scope names it."""
    committed: bool = False
    """Whether all of it was committed."""
    commits: bool = False
    """Whether something was."""
    changed: Mapping[int, Sequence[str]] = field(default_factory=dict)
    """Paths by the place of the command that changed them."""

    def actions(self, places: Sequence[int] | None = None) -> tuple[ScriptedAction, ...]:
        """Give the commands at some places, or all, as actions, with the answer behind them."""
        lines = [each for at, each in enumerate(self.commands) if places is None or at in places]
        if any(map(_leaves_something, self.commands)):
            lines = [KEEP, *(f". {STATE}\n{each}" for each in lines)]
        done = [_action("run_command", {"command": each}) for each in lines]
        return (*done, _action("final_answer", {"fields": {}}))

    def halves(self) -> dict[str, tuple[ScriptedAction, ...]]:
        """Give what has to fail: all commands but half of those that changed something."""
        changing = sorted(self.changed)
        if len(changing) < 2:
            return {}
        middle = len(changing) // 2
        every = set(range(len(self.commands)))
        return {
            "first-half": self.actions(sorted(every - {*changing[middle:]})),
            "second-half": self.actions(sorted(every - {*changing[:middle]})),
        }


def basis(repository: Repository, release: str | None, sources: Sources) -> Basis:
    """Look at a release, the newest where none is named; UsageError for one that is not there."""
    known = {each.version: each for each in repository.releases}
    if release is not None and release not in known:
        raise UsageError(
            f"{repository.name} has no release {release}.", f"It has {', '.join(known)}."
        )
    chosen = known[release] if release else repository.releases[-1]
    path = sources.fetch_all([chosen.source], lambda _: None)[chosen.source]
    seen = layout.told(path, chosen.source.kind)
    return Basis(repository, chosen.version, seen.image, seen.command or NO_TESTS)


def write(draft: Draft, folder: Path) -> None:
    """Write a draft's files; what an earlier state of it left is written over."""
    checks = dict(_checks(draft))
    texts: dict[str, bytes] = {CHECK: _script(draft, checks).encode()}
    for number, file in _expected(draft).values():
        texts[f"hidden/expected/{number}"] = file.content
    if sum(map(len, texts.values())) > MOST_BYTES:
        raise UsageError(
            f"The commands wrote more than {MOST_BYTES} bytes, too much to be compared.",
            "Record less at once.",
        )
    tree = filled(read(TEMPLATE), _filling(draft, list(checks)))
    tree["plan"]["segments"][0]["does"] = [
        each.model_dump(mode="json", exclude_defaults=True) for each in draft.actions()[:-1]
    ]
    halves = draft.halves()
    if halves:
        tree["refused"] = {
            name: Refused(script=f"{name}.yaml").model_dump(mode="json", exclude_defaults=True)
            for name in halves
        }
    for name, actions in halves.items():
        listed = [each.model_dump(mode="json", exclude_defaults=True) for each in actions]
        texts[f"{name}.yaml"] = yaml_tree.text(listed).encode()
    told = [
        {"command": line, "changes": list(draft.changed.get(at, ()))}
        for at, line in enumerate(draft.commands)
    ]
    texts[COMMANDS] = yaml_tree.text(told).encode()
    text = yaml_tree.text(tree)
    documents.parse(text, folder / TASK, TaskFile)
    texts[TASK] = f"# A draft, made by `sandbox import recording`.\n{text}".encode()
    for name, data in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


def _leaves_something(line: str) -> bool:
    return any(not each.words or each.words[0] in LEAVES_BEHIND for each in reader.commands(line))


def _action(name: str, arguments: dict[str, object]) -> ScriptedAction:
    return ScriptedAction.model_validate({"action": name, "arguments": arguments})


def _filling(draft: Draft, checks: list[str]) -> dict[str, str | list[str]]:
    told = draft.told or TOLD.format(commands=some(draft.commands, SHOWN))
    changed = [*_files(draft), *_gone(draft)]
    return {
        "task": draft.task,
        "title": told.strip().splitlines()[0][:TITLE],
        "image": draft.basis.image,
        "told": told,
        "paths": ", ".join(f"`{path}`" for path in sorted(changed)) or "none yet",
        "committed": " Commit them." if draft.committed else "",
        "release": draft.basis.release,
        "may": [*draft.named, "**"],
        "commits": "required" if draft.committed else "allowed" if draft.commits else "none",
        "command": draft.basis.command,
        "checks": checks or [NOTHING_YET],
    }


def _files(draft: Draft) -> dict[str, CandidateFile]:
    return draft.candidate.files if draft.candidate else {}


def _gone(draft: Draft) -> tuple[str, ...]:
    return draft.candidate.deleted if draft.candidate else ()


def _expected(draft: Draft) -> dict[str, tuple[int, CandidateFile]]:
    """Number the files whose content is compared, by path."""
    steady = [path for path in sorted(_files(draft)) if path not in draft.unsteady]
    return {path: (number, _files(draft)[path]) for number, path in enumerate(steady, 1)}


def _checks(draft: Draft) -> Iterator[tuple[str, str]]:
    """Yield each check's name, and the shell's condition that it stands for."""
    expected = _expected(draft)
    for path, file in sorted(_files(draft).items()):
        place = shlex.quote(f"./{path}")
        same = f'cmp -s "$TEST_DIR/expected/{expected[path][0]}"' if path in expected else "test -f"
        test = "test -x" if file.executable else "test ! -x"
        yield quote(path), f"{same} {place} && {test} {place}"
    for path in sorted(_gone(draft)):
        place = shlex.quote(f"./{path}")
        yield quote(path), f"test ! -e {place} && test ! -L {place}"


def _script(draft: Draft, checks: Mapping[str, str]) -> str:
    rows = [
        "# A check for each path that the recorded commands changed.",
        f"# Made for {draft.task} by `sandbox import recording`.",
        'echo "=== short test summary info ==="',
        *(
            f"if {condition}; then echo PASSED {name}; else echo FAILED {name}; fi"
            for name, condition in checks.items()
        ),
    ]
    if not checks:
        rows.append(f"echo FAILED {NOTHING_YET}")
    return "\n".join(rows) + "\n"
