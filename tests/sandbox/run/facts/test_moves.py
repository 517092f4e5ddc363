"""What the user does while the run goes on."""

import hashlib

import pytest
from pydantic import ValidationError

from sandbox.model import fact
from sandbox.model.atom import Atom
from sandbox.model.fact import Changed, Fact, WorldMoved
from sandbox.model.layer import LaidFile, Layer, Move
from sandbox.rules.monitors.context import Context
from sandbox.run.facts.moves import Moves

FILE = "label.txt"
FILES = (LaidFile(path=FILE, text="0\n"),)
ONE = Move(id="one", after=Atom(changes="src/*.py"), files={FILE: "1\n"})
TWO = Move(id="two", after=Atom(kind="tested", exit_code=0), files={FILE: "2\n"})
LAYER = Layer(files=FILES, moves=(ONE, TWO))


class Disk:
    """Where moves write."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {FILE: b"0\n"}
        self.refuses = False

    def read(self, path: str, *, beneath: str, limit: int, follow: bool) -> bytes:
        assert (beneath, follow) == ("/w", False)
        return self.files[path][:limit]

    def write(self, path: str, data: bytes, *, beneath: str, follow: bool) -> None:
        assert (beneath, follow) == ("/w", False)
        if self.refuses:
            raise NotADirectoryError(path)
        self.files[path] = data


def changed(path: str) -> Changed:
    return Changed(path=path, digest="1", before="0")


def ran_tests(code: int) -> Fact:
    return fact.Tested(
        argv=("pytest",), cwd="/w", paths=(".",), exit_code=code, sound=True, tree="0"
    )


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def follow(*facts: Fact) -> tuple[Disk, Moves, list[WorldMoved]]:
    disk = Disk()
    moves = Moves(disk, LAYER, "/w", Context(worktree="/w"))  # type: ignore[arg-type]
    made = [moves.follow(each) for each in facts]
    return disk, moves, [one for one in made if one is not None]


def test_each_comes_once_and_after_the_one_before_it() -> None:
    disk, _, made = follow(ran_tests(0), changed("README.md"))
    assert (disk.files, made) == ({FILE: b"0\n"}, [])
    disk, _, made = follow(ran_tests(0), changed("src/a.py"), ran_tests(1), changed("src/a.py"))
    assert disk.files == {FILE: b"1\n"}
    assert made == [WorldMoved(move="one", files={FILE: digest("1\n")})]
    disk, _, made = follow(changed("src/a.py"), ran_tests(0), ran_tests(0), changed("src/a.py"))
    assert disk.files == {FILE: b"2\n"}
    assert [each.move for each in made] == ["one", "two"]


def test_what_it_writes_is_known_again_once_and_nothing_else() -> None:
    _, moves, _ = follow(changed("src/a.py"))
    assert not moves.made(FILE, digest("0\n"))
    assert not moves.made("other", digest("1\n"))
    assert moves.made(FILE, digest("1\n"))
    assert not moves.made(FILE, digest("1\n"))


def test_a_place_that_cannot_be_written_stops_nothing() -> None:
    disk = Disk()
    disk.refuses = True
    moves = Moves(disk, LAYER, "/w", Context(worktree="/w"))  # type: ignore[arg-type]
    assert moves.follow(changed("src/a.py")) == WorldMoved(move="one", files={})


def test_what_somebody_else_has_done_to_the_file_is_not_covered_up() -> None:
    disk = Disk()
    disk.files[FILE] = b"0\n and more"
    moves = Moves(disk, LAYER, "/w", Context(worktree="/w"))  # type: ignore[arg-type]
    assert moves.follow(changed("src/a.py")) == WorldMoved(move="one", files={})
    assert disk.files[FILE] == b"0\n and more"


@pytest.mark.parametrize(
    ("move", "says"),
    [
        ({"after": {"action": "run_tests"}, "files": {FILE: ""}}, "a move follows a fact"),
        ({"after": {"kind": "exec"}, "files": {FILE: ""}}, "a move follows a fact"),
        ({"after": {"changes": "a"}, "files": {"../a": ""}}, "leaves its place"),
        ({"after": {"changes": "a"}, "files": {"src/a.py": ""}}, "not a file of the user's"),
        (
            {"after": {"kind": "committed", "bind": {"x": "arguments.id"}}, "files": {FILE: ""}},
            "no variables",
        ),
        (
            {"after": {"kind": "committed", "arguments": {"nosuch": "x"}}, "files": {FILE: ""}},
            "committed has no field 'nosuch'",
        ),
    ],
)
def test_moves_that_make_no_sense_are_refused(move: dict[str, object], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        Layer.model_validate({"files": FILES, "moves": ({"id": "x", **move},)})
