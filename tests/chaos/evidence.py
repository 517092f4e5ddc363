"""Harm to what is stored of a run."""

import json
import random
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from typer.testing import CliRunner

from sandbox.cli.app import application
from sandbox.model.run_folder import RunFolder
from sandbox.model.store import Store
from tests.chaos.fault import Kind

VERBS = (
    ("report", "--json"),
    ("show", "last"),
    ("trace", "last"),
    ("diff", "last"),
    ("grade", "last"),
)


ONE_AT_A_TIME = threading.Lock()
"""The command line in this process has one standard output."""


def flip(chance: random.Random, path: Path) -> None:
    """Change a bit."""
    data = bytearray(path.read_bytes())
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes(data)


def cut(chance: random.Random, path: Path) -> None:
    """Lose the end."""
    data = path.read_bytes()
    path.write_bytes(data[: chance.randrange(len(data))])


def insert(chance: random.Random, path: Path) -> None:
    """Have more than was stored."""
    data = path.read_bytes()
    at = chance.randrange(len(data))
    path.write_bytes(data[:at] + chance.randbytes(chance.randint(1, 40)) + data[at:])


def lose(_: random.Random, path: Path) -> None:
    """Have none."""
    path.unlink()


def folder(_: random.Random, path: Path) -> None:
    """Have a folder there."""
    path.unlink()
    path.mkdir()


def mixed(chance: random.Random, path: Path) -> None:
    """Have another file's content."""
    others = [each for each in path.parent.iterdir() if each.is_file() and each != path]
    path.write_bytes(chance.choice(sorted(others)).read_bytes())


def reworded(chance: random.Random, path: Path) -> None:
    """Say the other verdict."""
    words = [b"passed", b"failed"]
    chance.shuffle(words)
    data = path.read_bytes()
    path.write_bytes(data.replace(words[0], words[1]) if words[0] in data else data + b" ")


HARMS: tuple[Callable[[random.Random, Path], None], ...] = (
    flip, cut, insert, lose, folder, mixed, reworded
)  # fmt: skip


def kind(stored: Sequence[RunFolder], verbs: int = len(VERBS)) -> Kind:
    """Damage copies of stored runs, each with the verdict that is true of it.

    After each `report` is asked, and so many verbs in all, of which the others are drawn.
    """

    def strike(chance: random.Random, place: Path) -> tuple[str, Sequence[str]]:
        whole = chance.choice(stored)
        store = Store(place / "runs")
        made = store.create(whole.record())
        made.let_go()
        made.release()
        shutil.copytree(whole.path, made.path, dirs_exist_ok=True)
        files = sorted(
            each for each in made.path.iterdir() if each.is_file() and each.stat().st_size
        )
        path, harm = chance.choice(files), chance.choice(HARMS)
        harm(chance, path)
        asked = [VERBS[0], *chance.sample(VERBS[1:], verbs - 1)]
        sealed = {each.name for each in (*whole.evidence, whole.grade)}
        return f"{harm.__name__} {path.name}", list(
            _wrong(asked, store, whole, path.name in sealed)
        )

    return Kind("stored file damaged", strike)


def _wrong(
    asked: Sequence[Sequence[str]], store: Store, whole: RunFolder, sealed: bool
) -> Iterator[str]:
    true = whole.record().verdict
    with ONE_AT_A_TIME:
        for words in asked:
            ended = CliRunner().invoke(application(), [*words, "--runs", str(store.root)])
            if ended.exception is not None and not isinstance(ended.exception, SystemExit):
                yield f"{words[0]}: {type(ended.exception).__name__}: {ended.exception}"
            elif ended.exit_code == 1 and true != "failed":
                yield f"{words[0]}: exit 1 on a run that is {true}"
            elif words[0] == "report" and ended.exit_code == 0:
                for run in json.loads(ended.stdout)["runs"]:
                    yield from _miscounted(run["verdict"], str(true), sealed=sealed)


def _miscounted(verdict: str | None, true: str, *, sealed: bool) -> Iterator[str]:
    if verdict not in (true, "invalid", "error", None):
        yield f"counted as {verdict} in place of {true}"
    if sealed and verdict == "passed":
        yield "altered evidence counts as passed"
