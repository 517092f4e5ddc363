"""No commit of a task shows what its seed takes away, as far back as it stands there."""

from dataclasses import replace
from pathlib import Path

import pytest

from sandbox.model import places
from sandbox.model.seed import Edit, OlderLines
from sandbox.tasks import library, repos
from sandbox.tasks.drafts import seed_folder
from sandbox.tasks.images import package_clients
from sandbox.tasks.seeds import mined_repository
from sandbox.tasks.seeds.mined_repository import MinedRepository
from sandbox.tasks.seeds.older_lines import older_lines
from sandbox.tasks.sources import Sources
from tests.sandbox.tasks.repos.gadget import git

EDIT = Edit(path="a.py", line=4, before="x\n", after="y\n", above="1\n2\n3\n", below="4\n5\n6\n")
WHOLE = "1\n2\n3\nx\n4\n5\n6\n"


@pytest.fixture(scope="module")
def sources() -> Sources:
    return Sources(places.cache(), package_clients.provide)


@pytest.fixture(scope="module")
def mined(sources: Sources) -> MinedRepository:
    return mined_repository.load("inflection", sources, print)


def found(mined: MinedRepository, *older: dict[str, str], edit: Edit = EDIT) -> list[OlderLines]:
    """Give what stands in releases `9`, `8` and so on before the last."""
    releases = tuple(
        (str(9 - number), {path: text.encode() for path, text in files.items()})
        for number, files in enumerate(older)
    )
    return [*older_lines(replace(mined, older=releases), (edit,))]


def lines(since: str, until: str, **more: object) -> OlderLines:
    data = {"path": "a.py", "since": since, "until": until, **more}
    return OlderLines.model_validate(data)


def test_lines_are_followed_as_far_back_as_they_stand(mined: MinedRepository) -> None:
    other = {"a.py": "1\n2\n3\nz\n4\n5\n6\n"}
    assert found(mined, {"a.py": WHOLE}, {"a.py": f"0\n{WHOLE}"}, other, {"a.py": WHOLE}) == [
        lines("8", "9")
    ]
    assert found(mined, other) == found(mined) == []


def test_fewer_lines_around_are_enough_but_not_none(mined: MinedRepository) -> None:
    near, nothing = {"a.py": "3\nx\n4\n"}, {"a.py": "x\n"}
    assert found(mined, {"a.py": WHOLE}, near, nothing) == [
        lines("9", "9"),
        lines("8", "8", context=1),
    ]


def test_lines_are_whole_lines(mined: MinedRepository) -> None:
    blank = EDIT.model_copy(update={"above": "1\n\n3\n"})
    assert found(mined, {"a.py": "1\n3\nx\n4\n5\n6\n"}, edit=blank) == [lines("9", "9", context=1)]


def test_what_stands_there_twice_is_nobodys_place(mined: MinedRepository) -> None:
    assert found(mined, {"a.py": WHOLE + WHOLE}) == []


def test_a_file_is_found_under_its_former_name(mined: MinedRepository) -> None:
    assert found(mined, {"b.py": WHOLE, "c.py": "else"}, {"b.py": WHOLE}) == [
        lines("8", "9", was="b.py")
    ]
    assert found(mined, {"b.py": WHOLE, "c.py": WHOLE}) == []
    assert found(mined, {"a.py": "else", "b.py": WHOLE}) == []


@pytest.mark.parametrize(
    ("name", "draft"), [("inflection", "ticket"), ("toolz", "bare"), ("humanize", "bare")]
)
def test_no_commit_shows_the_lines_that_were_taken(
    name: str, draft: str, sources: Sources, tmp_path: Path
) -> None:
    of = seed_folder.load(name)
    first = of.repository.releases[0].version
    seeds = [seed for seed in of.seeds.seeds if {each.since for each in seed.older} == {first}]
    for number, seed in enumerate(seeds[:4]):
        loaded = library.load(f"{name}/{draft}-{seed.id[-8:]}")
        built = repos.build(
            loaded.repository,
            loaded.task.world,
            loaded.folder,
            sources,
            tmp_path / str(number),
            print,
        )
        shown = git(built.folder, "log", "-p", "--format=", "--unified=99999")
        for edit in seed.edits:
            around = edit.above.splitlines()[-1:], edit.below.splitlines()[:1]
            for text, there in ((edit.before, False), (edit.after, True)):
                wanted = [*around[0], *text.splitlines(), *around[1]]
                stands = any("\n".join(sign + line for line in wanted) in shown for sign in "+ ")
                assert stands is there, (seed.id, edit.path, edit.line)
