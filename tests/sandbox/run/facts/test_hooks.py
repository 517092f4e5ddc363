"""For which repository a git asks its hooks, and whether it then does what they agree to."""

from dataclasses import replace

import pytest

from sandbox.run.facts.hooks import git_directory, is_alone, is_asked, moves_branches
from tests.sandbox.run.facts.test_programs import GIT, HOOKS, program

COMMON = "/home/agent/x/.git"


@pytest.mark.parametrize(
    ("cwd", "environment", "directory"),
    [
        ("/home/agent/x", (), "."),
        ("/home/agent/x", ("GIT_DIR=.git",), "."),
        ("/home/agent/x/src", ("GIT_DIR=../.git", "GIT_COMMON_DIR=../.git"), "."),
        ("/tmp/w", (f"GIT_DIR={COMMON}",), "."),
        ("/tmp/w", (f"GIT_DIR={COMMON}/worktrees/w",), "worktrees/w"),
        ("/tmp/other", (), None),
        ("/home/agent/x", ("GIT_DIR=/tmp/other/.git",), None),
        ("/home/agent/x", ("GIT_DIR=/home/agent/x/.git2",), None),
        ("/home/agent/x", ("GIT_COMMON_DIR=/tmp/other/.git",), None),
    ],
)
def test_hooks_are_asked_for_a_repository(
    cwd: str, environment: tuple[str, ...], directory: str | None
) -> None:
    hook = program(2, f"{HOOKS}/pre-commit", cwd=cwd)
    hook = replace(hook, environment=tuple(each.encode() for each in environment))
    assert git_directory(hook, COMMON) == directory
    assert git_directory(replace(hook, environment_truncated=True), COMMON) is None


@pytest.mark.parametrize(
    ("environment", "alone"),
    [
        ("GIT_DIR=/tmp/x/.git", True),
        ("LD_PRELOAD=/usr/libexec/coreutils/libstdbuf.so", True),
        ("LD_PRELOAD=/tmp/mine.so", False),
        ("LD_LIBRARY_PATH=/tmp", False),
        ("LOCPATH=/usr/lib/locale", True),
        ("LOCPATH=/tmp/l", False),
        ("GCONV_PATH=/tmp/g", False),
    ],
)
def test_a_git_with_a_library_of_others_may_do_anything(environment: str, alone: bool) -> None:
    git = replace(program(1, GIT, 1, "commit"), environment=(environment.encode(),))
    assert is_alone(git) is alone


@pytest.mark.parametrize(
    ("name", "words", "asked"),
    [
        ("pre-commit", (), True),
        ("commit-msg", (".git/COMMIT_EDITMSG",), True),
        ("post-checkout", ("1", "2", "3"), True),
        ("pre-commit", ("2", "token"), False),  # as core.fsmonitor
        ("commit-msg", (), False),
    ],
)
def test_a_hook_is_started_with_its_own_words(
    name: str, words: tuple[str, ...], asked: bool
) -> None:
    assert is_asked(program(2, f"{HOOKS}/{name}", 1, *words), name) is asked


@pytest.mark.parametrize(
    ("words", "moves"),
    [
        (("status",), False),
        (("-C", "/tmp", "log", "-1"), False),
        (("pack-refs", "--all"), False),
        (("hook", "run", "pre-commit"), False),
        (("-c", "a=b", "--no-pager", "hook", "run", "pre-commit"), False),
        (("-C", "hook", "commit"), True),
        (("log", "--output=.git/refs/heads/main"), True),
        (("rebase", "-i"), True),
        (("update-ref", "refs/heads/main", "1"), True),
        (("commit", "status"), True),
        ((), True),
    ],
)
def test_some_commands_of_git_move_no_branch(words: tuple[str, ...], moves: bool) -> None:
    assert moves_branches(program(1, GIT, 1, *words)) is moves


def test_a_git_by_the_name_of_its_subcommand_is_known() -> None:
    assert not moves_branches(program(1, "/usr/lib/git-core/git-hook", 1, "run", "pre-commit"))
    assert moves_branches(program(1, "/usr/lib/git-core/git-commit", 1, "-m", "x"))
