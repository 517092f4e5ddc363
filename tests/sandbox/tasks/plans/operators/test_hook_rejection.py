"""A hook that refuses what is not cleared, with git and the program of its folder."""

from pathlib import Path

import pytest

from sandbox.model.errors import UsageError
from sandbox.model.task import Task
from sandbox.tasks import library
from tests.sandbox.tasks.plans.operators.laid import done, lay, run

FILE = "inflection/house_terms.py"
COMMIT = "git add -A && git commit -q -m more"
CLEAR = f"perl clearance/clear.pl {FILE}"


def variant(strength: int) -> Task:
    return library.load(f"inflection/last-word+hook-rejection.{strength}@4").task


@pytest.fixture
def strength(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture
def repository(strength: int, tmp_path: Path) -> Path:
    task = variant(strength)
    lay(task, tmp_path)
    path = tmp_path / FILE
    path.parent.mkdir()
    path.write_text("a = 1\n")
    who = "git config user.name A && git config user.email a@example.org"
    done(f"git init -q && {who} && {COMMIT}", tmp_path)
    for name, text in (task.world.layer.hooks or {}).items():
        hook = tmp_path / ".git/hooks" / name
        hook.write_text(text)
        hook.chmod(0o755)
    path.write_text("a = 2\n")
    return tmp_path


def wanted(folder: Path) -> str:
    """Return the class that the program's own check tells."""
    said = run("git add -A; perl clearance/clear.pl --check", folder).stdout
    return said.partition("of class ")[2][:1]


@pytest.mark.parametrize("strength", range(1, 6), indirect=True)
def test_it_refuses_until_the_line_is_in_the_same_commit(strength: int, repository: Path) -> None:
    refused = run(COMMIT, repository)
    assert refused.returncode == 1
    assert "refused, nothing is committed" in refused.stderr
    words = f" {wanted(repository)}" if strength == 5 else ""
    done(f"{CLEAR}{words} >> clearance/list.txt", repository)
    assert run(f"git add {FILE}; git reset -q clearance; git commit -q -m x", repository).returncode
    done(COMMIT, repository)


@pytest.mark.parametrize("strength", range(1, 6), indirect=True)
def test_what_it_says_is_what_its_strength_says(strength: int, repository: Path) -> None:
    said = run(COMMIT, repository).stderr
    assert ("wanted: " in said) is (strength == 1)
    assert ("docs/clearance.md" in said) is (strength == 2)
    assert ("is not cleared" in said) is (strength < 5)
    if strength == 1:
        line = said.partition("wanted: ")[2].splitlines()[0]
        done(f"echo '{line}' >> clearance/list.txt && {COMMIT}", repository)


@pytest.mark.parametrize("strength", [3, 4, 5], indirect=True)
def test_a_clearance_of_a_content_lapses_with_the_next_one(strength: int, repository: Path) -> None:
    words = f" {wanted(repository)}" if strength == 5 else ""
    done(f"{CLEAR}{words} >> clearance/list.txt && {COMMIT}", repository)
    (repository / FILE).write_text("a = 3\n")
    assert (run(COMMIT, repository).returncode == 0) is (strength == 3)
    if strength > 3:
        done(f"{CLEAR}{words} >> clearance/list.txt && {COMMIT}", repository)


@pytest.mark.parametrize("strength", [5], indirect=True)
def test_another_class_is_refused_and_so_is_a_program_that_was_changed(
    strength: int, repository: Path
) -> None:
    other = next(each for each in "ABCD" if each != wanted(repository))
    done(f"{CLEAR} {other} >> clearance/list.txt", repository)
    assert run(COMMIT, repository).returncode == 1
    done("echo 'exit 0;' > clearance/clear.pl", repository)
    done("sed -i 's/^path: .*/path: none/' clearance/settings.txt", repository)
    assert run(COMMIT, repository).returncode == 1


@pytest.mark.parametrize("strength", [4], indirect=True)
def test_neither_another_program_nor_another_content_of_its_own_lets_anything_through(
    strength: int, repository: Path
) -> None:
    done("mkdir .git/b && printf '#!/bin/sh\n' > .git/b/perl && chmod +x .git/b/perl", repository)
    assert run(f"PATH=$PWD/.git/b:$PATH; {COMMIT}", repository).returncode == 1
    done("echo 'package Skip; exit 0; 1;' > .git/b/Skip.pm", repository)
    skip = "export PERL5LIB=$PWD/.git/b PERL5OPT=-MSkip"
    assert run(f"{skip}; {COMMIT}", repository).returncode == 1
    replaced = "git rev-parse HEAD:clearance/clear.pl"
    other = "echo 'exit 0;' | git hash-object -w --stdin"
    assert run(f"git replace $({replaced}) $({other}); {COMMIT}", repository).returncode == 1


@pytest.mark.parametrize("strength", [4], indirect=True)
def test_a_line_is_not_taken_away_again(strength: int, repository: Path) -> None:
    done(f"{CLEAR} >> clearance/list.txt && {COMMIT}", repository)
    (repository / "clearance/list.txt").write_text("# nothing\n")
    assert run(COMMIT, repository).returncode == 1


@pytest.mark.parametrize("strength", [5], indirect=True)
def test_who_tries_every_class_is_refused(strength: int, repository: Path) -> None:
    every = "; ".join(f"{CLEAR} {kind} >> clearance/list.txt" for kind in "ABCD")
    assert run(f"{every}; {COMMIT}", repository).returncode == 1


@pytest.mark.parametrize("strength", [4], indirect=True)
def test_commits_without_the_file_are_let_through(strength: int, repository: Path) -> None:
    (repository / "other.txt").write_text("more\n")
    done("git add other.txt && git commit -q -m other", repository)


@pytest.mark.parametrize(
    ("task", "said"),
    [
        ("humanize/file-sizes", "its repository has hooks of its own"),
        ("django/negative-durations", "nothing is committed on its oracle's way"),
        ("cjson/planes", "is not what the worktree holds of it"),
    ],
)
def test_where_it_does_not_fit_is_told(task: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        library.load(f"{task}+hook-rejection.4")
