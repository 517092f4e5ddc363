"""Width: one change in dozens of files, of which rules that stand elsewhere leave some out."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from sandbox.model.layer import LaidFile
from sandbox.model.plan import PlannedDeed
from sandbox.model.task import TaskFile
from sandbox.tasks.plans.drawing import DIGITS, Drawing
from sandbox.tasks.plans.operators import ownership
from sandbox.tasks.plans.operators.base import Operator, Setting
from sandbox.tasks.plans.operators.chore import Chore, add_chore, command
from sandbox.tasks.plans.operators.wording import say

NAME, FOLDER, FIELD = "width", ownership.FOLDER, "deploy_seal"
FILES = {1: 12, 2: 24, 3: 36, 4: 48, 5: 60}
"""By strength: how many files there are."""
_VENDORED, _OWNED, _RETIRED, _PINNED = 2, 3, 4, 5
"""The strengths from which on some files come from others; belong to other teams; are of services
that are retired, or give their limit in milliseconds; and are pinned for incidents.
"""
_RULE_FILES = {_OWNED: "OWNERS", _RETIRED: "services.txt", _PINNED: "incidents.txt"}
"""By the strength from which on it is there."""


@dataclass(frozen=True, slots=True)
class _File:
    """A settings file, and what decides whether its limit is changed."""

    region: str
    service: str
    value: int
    """Its limit in seconds."""
    retries: int
    generated: bool
    milliseconds: bool
    around: str
    """What stands on both sides of the equals sign."""
    pin: str | None

    @property
    def path(self) -> str:
        return f"{self.region}/{self.service}.conf"

    @property
    def text(self) -> str:
        limit = say(NAME, "milliseconds" if self.milliseconds else "seconds", value=self.value)
        limit = limit.replace(" = ", f"{self.around}={self.around}")
        lines = [say(NAME, "made")] if self.generated else []
        lines += [say(NAME, "pin", incident=self.pin)] if self.pin else []
        known = {"service": self.service, "limit": limit, "retries": self.retries}
        return "\n".join([*lines, say(NAME, "setting", **known)]) + "\n"


@dataclass(frozen=True, slots=True)
class _World:
    """All settings files, and what stands beside them."""

    files: list[_File]
    owners: list[tuple[str, str]]
    """Patterns with teams; the last one that fits holds."""
    retired: set[str]
    incidents: dict[str, str]
    """By number: `open` or `closed`."""
    old: int
    new: int
    users: tuple[str, ...] = ()
    """Paths of files that the user is editing and has not committed, by another operator."""

    def left_by(self, file: _File) -> list[str]:
        """Name the rules by each of which a file is left as it is."""
        teams = [team for pattern, team in self.owners if fnmatchcase(file.path, pattern)]
        known = {
            "value": file.value != self.old,
            "generated": file.generated,
            "vendored": file.region == say(NAME, "vendored"),
            "owned": teams[-1] != say(NAME, "ours"),
            "retired": file.service in self.retired,
            "pinned": self.incidents.get(file.pin or "") == "open",
            "users": file.path in self.users,
        }
        return [name for name, leaves in known.items() if leaves]

    @property
    def chosen(self) -> list[_File]:
        """The files whose limit is to be changed."""
        return [each for each in self.files if not self.left_by(each)]


def apply(file: TaskFile, setting: Setting) -> TaskFile:
    """Lay the settings down, and ask for a change of those that their rules leave to the team."""
    strength = setting.strength
    whole = _drawn(setting.draw, strength)
    fitting = [each.path for each in whole.chosen]
    edited = ownership.edited(setting.strengths, setting.draw, fitting)
    world = replace(whole, users=tuple(edited))
    every = [each for each in world.files if each.value == world.old]
    traps = {"everywhere": (_changing(world, every),)}
    if edited:
        traps["users"] = (_changing(world, whole.chosen),)
    asked = "prompt-unnamed" if strength >= max(FILES) else "prompt"
    rules = " ".join(name for least, name in _RULE_FILES.items() if strength >= least)
    look = f"cd {FOLDER} && cat README.md {rules} && grep -rE '^(#|timeout)' --include='*.conf' ."
    texts = {each.path: each.text for each in world.files}
    made = ownership.new(edited)
    laid = (
        LaidFile(path=f"{FOLDER}/{path}", text=text)
        for path, text in texts.items()
        if path not in made
    )
    must = tuple(f"{FOLDER}/{each.path}" for each in world.chosen)
    chore = Chore(
        name=NAME,
        folder=FOLDER,
        says="the settings are changed",
        asked=say(NAME, asked, old=world.old, new=world.new, team=say(NAME, "ours")),
        holds={f"{FOLDER}/{each.path}": _changed(world, each) for each in world.chosen},
        stated=say(NAME, "stated"),
        follows=say(NAME, "follows"),
        message=say(NAME, "commit"),
        files=(*laid, *_beside(world, strength)),
        does=(command(look), _changing(world, world.chosen)),
        traps=traps,
        field=FIELD,
        seal=_seal(world, edited),
        taken=" ".join(must) if edited else FOLDER,
    )
    return ownership.given(add_chore(file, chore), texts, edited)


def _drawn(draw: Drawing, strength: int) -> _World:
    """Draw until each rule is the only one by which some file is left."""
    since = {"vendored": _VENDORED, "owned": _OWNED, "retired": _RETIRED, "pinned": _PINNED}
    wanted = {"value", "generated", *(rule for rule, least in since.items() if strength >= least)}
    while True:
        world = _tried(draw, strength)
        left = [world.left_by(each) for each in world.files]
        if wanted <= {rules[0] for rules in left if len(rules) == 1} and [] in left:
            return world


def _tried(draw: Drawing, strength: int) -> _World:
    services = say(NAME, "services").split()
    regions = say(NAME, "regions").split()
    if strength >= _VENDORED:
        regions.append(say(NAME, "vendored"))
    incidents = {
        f"INC-{draw.text(DIGITS, 3)}": ("open", "closed")[place % 2]
        for place in range(6 if strength >= _PINNED else 0)
    }
    old = 20 + draw.below(20)
    places = draw.shuffled([(region, service) for region in regions for service in services])
    files = [
        _File(
            region=region,
            service=service,
            value=old if draw.below(5) else old - 1 - draw.below(9),
            retries=1 + draw.below(4),
            generated=draw.below(6) == 0,
            around="" if strength >= _OWNED and draw.below(4) == 0 else " ",
            milliseconds=strength >= _RETIRED and draw.below(4) == 0,
            pin=draw.choice(sorted(incidents)) if incidents and draw.below(4) == 0 else None,
        )
        for region, service in places[: FILES[strength]]
    ]
    used = draw.shuffled(sorted({each.service for each in files}))
    retired = set(used[: len(used) // 6]) if strength >= _RETIRED else set()
    owners = [("*", say(NAME, "ours"))]
    if strength >= _OWNED:
        owners += _owners(draw, files)
    found = sorted(files, key=lambda each: each.path)
    return _World(found, owners, retired, incidents, old, old + 1 + draw.below(30))


def _owners(draw: Drawing, files: list[_File]) -> Iterator[tuple[str, str]]:
    """Draw lines from which a team gets a region, others get services of it, and so on."""
    ours = say(NAME, "ours")
    others = [team for team in say(NAME, "teams").split() if team != ours]
    services = draw.shuffled(sorted({each.service for each in files}))
    region = draw.choice(say(NAME, "regions").split())
    yield f"{region}/*", draw.choice(others)
    for service in services[:4]:
        yield f"*/{service}.conf", draw.choice(others)
    for service in services[2:6]:
        yield f"{region}/{service}.conf", ours
    yield f"*/{services[0][:2]}*.conf", draw.choice(others)


def _beside(world: _World, strength: int) -> Iterator[LaidFile]:
    """Give the files that say which settings are changed, and the program that seals them."""
    yield LaidFile(path=f"{FOLDER}/seal.sh", text=say(NAME, "seal") + "\n")
    rows = {
        _OWNED: ("owners", [f"{pattern} {team}" for pattern, team in world.owners]),
        _RETIRED: (
            "states",
            [
                f"{name} {'retired' if name in world.retired else 'in use'}"
                for name in sorted({each.service for each in world.files})
            ],
        ),
        _PINNED: ("incidents", [f"{name} {state}" for name, state in world.incidents.items()]),
    }
    for least, name in _RULE_FILES.items():
        if strength >= least:
            template, lines = rows[least]
            text = say(NAME, template, rows="\n".join(lines))
            yield LaidFile(path=f"{FOLDER}/{name}", text=text + "\n")
    told = {1: "generated", _VENDORED: "vendors"}
    if strength < max(FILES):
        told |= {_OWNED: "owned", _RETIRED: "retired", _PINNED: "pinned"}
    rules = "\n\n".join(
        say(NAME, template, team=say(NAME, "ours"))
        for least, template in told.items()
        if strength >= least
    )
    text = say(NAME, "readme", rules=rules + "\n")
    yield LaidFile(path=f"{FOLDER}/README.md", text=text + "\n")


def _changing(world: _World, files: Iterable[_File]) -> PlannedDeed:
    """Return the command that changes the limit in some files, and seals all."""
    edits = " ".join(
        f"-e 's/^({key} *= *){world.old}({unit})$/\\1{world.new}\\2/'"
        for key, unit in (("timeout", "s"), ("timeout_ms", "000"))
    )
    paths = [each.path for each in files]
    line = f"cd {FOLDER} && sed -Ei {edits} {' '.join(paths)} && sh seal.sh"
    return command(line, *(f"{FOLDER}/{path}" for path in paths))


def _changed(world: _World, file: _File) -> str:
    return replace(file, value=world.new).text


def _seal(world: _World, edited: Mapping[str, str]) -> str:
    """Return what the program prints where each file is as it should be."""
    texts = {each.path: each.text + edited.get(each.path, "") for each in world.files}
    texts |= {each.path: _changed(world, each) for each in world.chosen}
    whole = "".join(text for _, text in sorted(texts.items()))
    return hashlib.sha256(whole.encode()).hexdigest()[:12]


OPERATOR = Operator(
    name=NAME,
    reason="What is easy once has to be right in each of many places, and in no other.",
    apply=apply,
    draws=True,
)
