"""The layout of a draft: a task file with places to fill in, and the files that go with it.

It may be `like` another one, of which it has everything but what it gives itself: mappings
are joined, so are lists whose members have an `id` (or, of statements, `says`); all else is
replaced. A new member goes to the end, or `ahead_of` another one; what is null is left out, and so
is a member with `left_out`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sandbox.model.places import TASK
from sandbox.tasks.template import read

DRAFTS = Path(__file__).parent
LIKE, AHEAD, LEFT_OUT = "like", "ahead_of", "left_out"
NEEDS, WORDS = "needs", "words"
"""What not every seed has, and what the places of a prompt say that differ between drafts."""
MIRROR, NESTED, PROJECT = "mirror.yaml", "nested.md", "project"
"""Of a draft: its packages by image, the instructions beside the code, and what is committed."""
ENTRIES = "entries.yaml"
"""Of a draft of several seeds: what its tickets say."""


@dataclass(frozen=True, slots=True)
class Layout:
    """What a seed becomes."""

    task: dict[str, Any]
    """The task file, not filled in."""
    files: dict[str, Path]
    """By names in the task's folder, where what is copied lies."""
    nested: Path | None
    mirror: Path | None
    needs: str = ""
    """`folder`: the fault lies in one; `pytest`: its tests are counted as pytest counts them;
    `python`: the image is that of Python; `several`: there are others in other files."""
    words: dict[str, str] = field(default_factory=dict)
    """By place of the prompt."""
    entries: Path | None = None

    @property
    def committed(self) -> str:
        """The folder of what is committed over the release."""
        return str(self.task["world"]["overlays"][0]["folder"])


def names() -> list[str]:
    """All drafts, in order."""
    return sorted(path.parent.name for path in DRAFTS.glob(f"*/{TASK}"))


def load(name: str) -> Layout:
    """Read a draft, with all that it is like."""
    return load_at(DRAFTS / name)


def load_at(folder: Path) -> Layout:
    """Read what lies in a folder that may be like a draft."""
    task = read(folder / TASK)
    like, needs, words = task.pop(LIKE, None), task.pop(NEEDS, ""), task.pop(WORDS, {})
    base = load(like) if like else Layout({}, {}, None, None)
    own = {path.relative_to(folder).as_posix(): path for path in _files(folder)}
    nested, mirror = own.pop(NESTED, base.nested), own.pop(MIRROR, base.mirror)
    entries = own.pop(ENTRIES, base.entries)
    del own[TASK]
    files, said = {**base.files, **own}, {**base.words, **words}
    return Layout(_joined(base.task, task), files, nested, mirror, needs, said, entries)


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file())


def _joined(base: Any, own: Any) -> Any:  # noqa: ANN401 - YAML
    if isinstance(base, dict) and isinstance(own, dict):
        joined = {key: _joined(base[key], own[key]) for key in base.keys() & own.keys()}
        return {key: each for key, each in {**base, **own, **joined}.items() if each is not None}
    if isinstance(base, list) and isinstance(own, list) and _key(base) and _key(own):
        return _joined_members(base, own, _key(base))
    return own


def _key(members: list[Any]) -> str:
    """Say by what the members of a list are known; empty where by nothing."""
    for key in ("id", "says"):
        if members and all(isinstance(each, dict) and key in each for each in members):
            return key
    return ""


def _joined_members(base: list[Any], own: list[Any], key: str) -> list[Any]:
    found = {each[key]: each for each in base}
    order = list(found)
    for each in own:
        if each.get(LEFT_OUT):
            order.remove(each[key])
            continue
        before = each.pop(AHEAD, None)
        if each[key] in found:
            found[each[key]] = _joined(found[each[key]], each)
            continue
        found[each[key]] = each
        order.insert(order.index(before) if before else len(order), each[key])
    return [found[name] for name in order]
