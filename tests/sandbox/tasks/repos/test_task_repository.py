"""What a built repository holds, and what is said where none can be built."""

import os
import shutil
from pathlib import Path

import pytest

from sandbox.model.errors import RepositoryError
from sandbox.model.repository import Repository
from sandbox.model.world import Defect, Worktree, World
from sandbox.tasks import repos
from tests.sandbox.tasks.repos.gadget import AUTHOR, DEFECT, VERSIONS, WORLD, build, git


def snapshot(folder: Path) -> dict[str, tuple[int, bytes, float]]:
    return {
        str(path.relative_to(folder)): (
            path.stat().st_mode,
            path.read_bytes() if path.is_file() else b"",
            path.stat().st_mtime,
        )
        for path in folder.rglob("*")
    }


def test_history_has_releases_tags_dates_and_one_author(
    repository: Repository, task: Path, tmp_path: Path
) -> None:
    built = build(repository, WORLD, task, tmp_path / "new")
    log = git(built.folder, "log", "--format=%aI|%cI|%s|%D").splitlines()
    dates = ("2002-03-04T05:06:07+00:00", "2002-02-03T04:05:06+02:00", "2001-02-03T04:05:06+02:00")
    assert log == [
        f"{dates[0]}|{dates[0]}|Add instructions|HEAD -> main",
        f"{dates[1]}|{dates[1]}|Release 1.1|tag: 1.1",
        f"{dates[2]}|{dates[2]}|Release 1.0|tag: 1.0",
    ]
    people = set(git(built.folder, "log", "--format=%an <%ae>%n%cn <%ce>").splitlines())
    assert people == {"Ann Author <ann@example.org>"}
    assert built.head == git(built.folder, "rev-parse", "main").strip()
    assert {name: git(built.folder, "rev-parse", name).strip() for name in built.tags} == built.tags


def test_commits_hold_what_upstreams_checkout_would(
    repository: Repository, task: Path, tmp_path: Path
) -> None:
    built = build(repository, WORLD, task, tmp_path / "new")
    assert git(
        built.folder, "ls-tree", "-r", "--format=%(objectmode) %(path)", "1.1"
    ).splitlines() == [
        "100644 .gitignore",
        "100644 README",
        "100644 crlf.txt",
        "100644 kept.log",
        "100644 only-in-1.1",
        "100755 run.sh",
        "100644 src/formula.py",
    ]
    assert "only-in-1.0" in git(built.folder, "ls-tree", "--name-only", "1.0")
    assert git(built.folder, "cat-file", "-s", "1.1:crlf.txt").strip() == "6"
    assert (built.folder / "src/_version.py").read_text() == "version = '1.1'\n"


def test_a_defect_is_in_history_from_its_release_on(
    repository: Repository, task: Path, tmp_path: Path
) -> None:
    built = build(repository, WORLD, task, tmp_path / "new")
    assert git(built.folder, "show", "1.0:src/formula.py") == "# formula\nreturn 1\n"
    assert git(built.folder, "show", "1.1:src/formula.py") == "# formula\nreturn 99\n"
    assert git(built.folder, "log", "--all", "--oneline", "-S", "return 11") == ""


def test_work_in_progress_is_as_the_user_left_it(
    repository: Repository, task: Path, tmp_path: Path
) -> None:
    folder = build(repository, WORLD, task, tmp_path / "new").folder
    assert git(folder, "status", "--porcelain", "--ignored", "-uall").splitlines() == [
        "MM README",
        "?? todo.txt",
        "!! notes/my.log",
        "!! src/_version.py",
    ]
    assert "+staged" in git(folder, "diff", "--cached")
    assert "+edited" in git(folder, "diff")
    assert (folder / ".git/hooks/pre-commit").stat().st_mode & 0o777 == 0o755


def test_the_stash_has_one_entry_and_nothing_else_of_it_shows(
    repository: Repository, task: Path, tmp_path: Path
) -> None:
    with_stash = WORLD.worktree.model_copy(update={"stash": "staged.patch"})
    world = WORLD.model_copy(update={"worktree": with_stash})
    one = build(repository, world, task, tmp_path / "one")
    plain = build(repository, WORLD, task, tmp_path / "plain")
    assert git(one.folder, "stash", "list").splitlines() == [
        f"stash@{{0}}: WIP on main: {one.head[:7]} Add instructions"
    ]
    assert "+staged" in git(one.folder, "stash", "show", "--patch")
    status = ("status", "--porcelain", "--ignored", "-uall")
    assert git(one.folder, *status) == git(plain.folder, *status)
    assert one.head == plain.head
    assert repos.leaks(one.folder, {}) == []
    # git has refreshed the index of the first one by now.
    two, three = (build(repository, world, task, tmp_path / name) for name in ("two", "three"))
    assert snapshot(two.folder) == snapshot(three.folder)


def test_the_same_inputs_give_the_same_bytes(
    repository: Repository, task: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = build(repository, WORLD, task, tmp_path / "one")
    home = tmp_path / "home"
    template = home / "template/hooks"
    template.mkdir(parents=True)
    (template / "post-commit").write_text("#!/bin/sh\ntouch ../ran\n")
    (home / ".gitconfig").write_text(
        f"[init]\n\ttemplateDir = {template.parent}\n\tdefaultBranch = trunk\n[core]\n"
        "\tautocrlf = true\n\tlogAllRefUpdates = always\n[commit]\n\tgpgSign = true\n"
        "[user]\n\tname = Somebody\n[index]\n\tversion = 4\n"
    )
    for name, value in {
        "HOME": str(home),
        "TZ": "Asia/Tokyo",
        "GIT_DIR": str(tmp_path / "elsewhere"),
        "GIT_INDEX_FILE": str(tmp_path / "index"),
        "GIT_AUTHOR_NAME": "Somebody",
        "GIT_CONFIG_GLOBAL": str(home / ".gitconfig"),
        "GIT_TEMPLATE_DIR": str(template.parent),
    }.items():
        monkeypatch.setenv(name, value)
    shutil.rmtree(tmp_path / "cache/histories")
    previous = os.umask(0o077)
    try:
        two = build(repository, WORLD, task, tmp_path / "two")
    finally:
        os.umask(previous)
    assert one.head == two.head
    assert snapshot(one.folder) == snapshot(two.folder)


def test_releases_without_a_defect_are_committed_once_for_all_tasks(
    repository: Repository, task: Path, tmp_path: Path
) -> None:
    histories = tmp_path / "cache/histories"
    last = repository.releases[-1].version
    late = World(release=last, defects=(Defect(patch="later.patch", since=last),))
    one = build(repository, late, task, tmp_path / "one")
    (kept,) = histories.iterdir()
    made = {path: path.stat().st_mtime_ns for path in kept.rglob("*")}
    two = build(repository, late, task, tmp_path / "two")
    assert snapshot(one.folder) == snapshot(two.folder)
    plain = build(repository, World(release=last), task, tmp_path / "plain")
    assert {path: path.stat().st_mtime_ns for path in kept.rglob("*")} == made
    assert [*histories.iterdir()] == [kept]
    before = repository.releases[-2].version
    assert one.tags[before] == plain.tags[before]
    assert one.tags[last] != plain.tags[last]


def test_a_defect_is_in_each_release_from_the_first_to_the_last_that_it_is_said_to_be_in(
    repository: Repository, task: Path, tmp_path: Path
) -> None:
    defects = (
        Defect(patch="defect.patch", since="1.1", until="1.1"),
        Defect(patch="later.patch", since="2.0"),
    )
    folder = build(repository, World(release="2.0", defects=defects), task, tmp_path / "new").folder
    shown = [git(folder, "show", f"{version}:src/formula.py") for version in VERSIONS]
    assert [text.split()[-1] for text in shown] == ["1", "99", "999"]
    only = World(release="2.0", defects=defects[:1])
    folder = build(repository, only, task, tmp_path / "only").folder
    assert "return 2\n" in git(folder, "show", "2.0:src/formula.py")


def test_nothing_of_this_machine_is_inside(
    repository: Repository, task: Path, tmp_path: Path
) -> None:
    folder = build(repository, WORLD, task, tmp_path / "new").folder
    files = [path for path in (folder / ".git").rglob("*") if path.is_file()]
    assert not [path for path in files if os.fsencode(tmp_path) in path.read_bytes()]
    assert sorted(
        path.relative_to(folder / ".git").as_posix() for path in files if "pack-" not in path.name
    ) == [
        "HEAD",
        "config",
        "hooks/pre-commit",
        "index",
        "packed-refs",
    ]
    assert len(list((folder / ".git/objects/pack").iterdir())) == 2


@pytest.mark.parametrize(
    ("world", "message"),
    [
        (World(release="3.0"), "gadget has no release 3.0; there are 1.0, 1.1, 2.0"),
        (
            World(release="1.1", defects=(Defect(patch="defect.patch", since="1.0"),)),
            r"defect.patch does not apply to release 1.0:\nerror: patch failed: src/formula.py:1",
        ),
        (
            World(release="1.1", defects=(Defect(patch="no.patch", since="1.1"),)),
            "can't open patch",
        ),
        (World(release="1.1", worktree=Worktree(unstaged="unstaged.patch")), "to the worktree"),
        (World(release="1.1", worktree=Worktree(untracked="instructions/src")), ""),
        (World(release="1.1", hooks="nowhere"), "nowhere is not a folder"),
    ],
)
def test_what_cannot_be_built_is_said_and_removed(
    repository: Repository, task: Path, tmp_path: Path, world: World, message: str
) -> None:
    if not message:
        (task / "instructions/src/README").write_text("in the way")
        message = "would replace a file of the project"
    with pytest.raises(RepositoryError, match=message) as caught:
        build(repository, world, task, tmp_path / "new")
    assert caught.value.next_step
    assert not (tmp_path / "new").exists()


def test_a_folder_in_use_is_left_alone(repository: Repository, task: Path) -> None:
    with pytest.raises(RepositoryError, match="is not empty"):
        build(repository, WORLD, task, task)
    assert (task / "defect.patch").exists()


@pytest.mark.parametrize("date", ["2001-01-01T00:00:00", "2001-01-01", "soon"])
def test_a_date_has_a_zone(task: Path, tmp_path: Path, date: str) -> None:
    builder = repos.RepositoryBuilder(tmp_path / "new", AUTHOR)
    with pytest.raises(RepositoryError, match="not a date in ISO 8601 with a time zone"):
        builder.overlay(task / "instructions", "x", date)


def test_commits_come_before_work_in_progress(
    repository: Repository, task: Path, tmp_path: Path
) -> None:
    builder = repos.RepositoryBuilder(tmp_path / "new", AUTHOR)
    builder.untracked(task / "untracked")
    with pytest.raises(RepositoryError, match="swallow"):
        builder.overlay(task / "instructions", "x", "2001-01-01T00:00:00Z")


def test_files_that_no_archive_holds_are_in_each_release(
    repository: Repository, task: Path, tmp_path: Path
) -> None:
    texts = {"config/tests.ts": "// of formula\n", "run.sh": "another\n"}
    more = repository.model_copy(update={"added": texts, "words": {"formula": "pozur"}})
    (task / "defect.patch").write_text(DEFECT.replace("formula", "pozur"))
    built = build(more, WORLD, task, tmp_path / "new")
    for tag in built.tags:
        assert git(built.folder, "show", f"{tag}:config/tests.ts") == "// of pozur\n"
        assert git(built.folder, "show", f"{tag}:run.sh") == "another\n"


def test_under_other_names_no_commit_has_upstreams(
    repository: Repository, task: Path, tmp_path: Path
) -> None:
    words = {"formula": "pozur", "tracked": "fular"}
    renamed = repository.model_copy(update={"words": words})
    (task / "defect.patch").write_text(DEFECT.replace("formula", "pozur"))
    built = build(renamed, WORLD, task, tmp_path / "new")
    for revision in git(built.folder, "rev-list", "--all").split():
        listed = git(built.folder, "ls-tree", "-r", "--name-only", revision)
        assert "src/pozur.py" in listed.split()
        assert "formula" not in listed
        assert git(built.folder, "show", f"{revision}:src/pozur.py").startswith("# pozur\n")
        assert git(built.folder, "show", f"{revision}:kept.log") == "ignored and yet fular\n"
    assert sorted(built.tags) == ["1.0", "1.1"]
