"""Which hooks git had run for what it was doing."""

from dataclasses import replace

import pytest

from sandbox.model.fact import Committed
from sandbox.model.session import Exec, ExecEnd, ExecOutcome
from sandbox.run.facts.hooks import Agreement
from sandbox.run.facts.programs import Programs

HOOKS = "/home/agent/x/.git/hooks"
GIT = "/usr/bin/git"


def program(
    number: int, path: str, parent: int = 1, *arguments: str, cwd: str = "/home/agent/x"
) -> Exec:
    words = tuple(word.encode() for word in (path, *arguments))
    return Exec(
        number=number,
        tag="1",
        program=path.encode(),
        resolved=path.encode(),
        arguments=words,
        argument_count=len(words),
        truncated=False,
        cwd=cwd.encode(),
        pid=100 + number,
        parent=parent,
        uid=10001,
        held=False,
        first=False,
    )


def hooking(number: int, name: str, git: Exec) -> Exec:
    words = (".git/COMMIT_EDITMSG",) if name == "commit-msg" else ()
    return program(number, f"{HOOKS}/{name}", git.pid, *words)


def end(code: int | None = 0, outcome: ExecOutcome = ExecOutcome.EXITED) -> ExecEnd:
    return ExecEnd(outcome, code, None, 0.1)


def programs(*names: str, intact: bool = True) -> Programs:
    return Programs(HOOKS, names or ("pre-commit", "commit-msg"), lambda _: intact)


def commit_by(*hooks: str) -> Committed:
    return Committed(
        ref="refs/heads/main",
        id="1" * 40,
        tree="2" * 40,
        parents=(),
        paths=(),
        hooks=hooks,
        hooked=bool(hooks),
    )


def taken(known: Programs, *, merge: bool = False) -> tuple[tuple[str, ...], bool]:
    agreed = known.take_agreement((".",)).hooks
    return agreed, known.are_enough(agreed, merge=merge)


def commit(
    known: Programs,
    *names: str,
    parent: str = GIT,
    ended: ExecEnd | None = None,
    merge: bool = False,
) -> tuple[tuple[str, ...], bool]:
    """A program that runs hooks, and what is known while it still runs."""
    known.seen(git := program(1, parent))
    for number, name in enumerate(names, 2):
        known.seen(hook := hooking(number, name, git))
        known.ended(hook, ended or end())
    return taken(known, merge=merge)


def test_a_commit_whose_hooks_all_agreed() -> None:
    assert commit(programs(), "pre-commit", "commit-msg") == (("commit-msg", "pre-commit"), True)


def test_only_hooks_that_are_there_are_missed() -> None:
    assert commit(programs("pre-commit"), "pre-commit") == (("pre-commit",), True)
    assert commit(programs("post-commit")) == ((), True)


@pytest.mark.parametrize(
    "result",
    [
        commit(programs(), "pre-commit"),
        commit(programs()),
        commit(programs(), "pre-commit", "commit-msg", parent="/tmp/git"),
        commit(programs(intact=False), "pre-commit", "commit-msg"),
        commit(programs(), "pre-commit", "commit-msg", ended=end(1)),
        commit(programs(), "pre-commit", "commit-msg", ended=end(None, ExecOutcome.UNKNOWN)),
    ],
)
def test_a_commit_that_was_not_seen_by_all(result: tuple[tuple[str, ...], bool]) -> None:
    assert result[1] is False


def test_what_a_git_that_has_ended_had_run_is_of_no_use_to_others() -> None:
    known = programs()
    known.seen(git := program(1, GIT))
    for number, name in enumerate(("pre-commit", "commit-msg"), 2):
        known.seen(hook := hooking(number, name, git))
        known.ended(hook, end())
    known.ended(git, end(1))
    assert taken(known) == ((), False)


def test_a_merge_is_asked_of_the_hooks_that_it_runs() -> None:
    both = ("pre-commit", "commit-msg")
    assert commit(programs(*both), "commit-msg", merge=True)[1]
    assert commit(programs(*both), *both, merge=True)[1]  # concluded by git commit
    assert not commit(programs(*both), "commit-msg")[1]
    assert not commit(programs(*both), merge=True)[1]
    assert not commit(programs(*both, "pre-merge-commit"), "commit-msg", merge=True)[1]
    assert not commit(programs("pre-commit"), merge=True)[1]  # nobody was asked


def test_hooks_that_another_git_was_asked_for_do_not_count() -> None:
    """As `git rebase -x HOOK -x 'git commit --no-verify'`: the inner one commits."""
    for middle in (True, False):  # or a shell that has forked, of which nobody was told
        known = programs()
        known.seen(outer := program(1, GIT))
        for number, name in enumerate(("pre-commit", "commit-msg"), 2):
            known.seen(hook := hooking(number, name, outer))
            known.ended(hook, end())
        if middle:
            known.seen(program(8, "/usr/bin/dash", outer.pid))
        known.seen(program(9, GIT, program(8, "/usr/bin/dash").pid))
        assert taken(known) == ((), False)


def test_a_hook_may_go_on_as_another_program() -> None:
    """As those of pre-commit.com do: `exec python -m pre_commit`."""
    for code in (0, 1):
        known = programs("pre-commit")
        known.seen(git := program(1, GIT))
        known.seen(hook := program(2, f"{HOOKS}/pre-commit", git.pid))
        known.seen(other := replace(program(3, "/usr/bin/python3", git.pid), pid=hook.pid))
        known.ended(hook, end(None, ExecOutcome.REPLACED))
        known.ended(other, end(code))
        known.seen(replace(program(4, "/usr/bin/true"), pid=hook.pid))  # its number is had again
        assert taken(known)[1] is (code == 0)


@pytest.mark.parametrize(
    ("ended", "refuted"),
    [
        (end(), False),
        (end(128), True),
        (end(None, ExecOutcome.UNKNOWN), True),
    ],
)
def test_a_commit_is_not_that_of_a_git_which_then_failed(ended: ExecEnd, refuted: bool) -> None:
    """As where an editor moves the branch: the hooks that agreed had seen another commit."""
    known = programs("pre-commit")
    known.seen(outer := program(1, GIT))
    known.seen(git := program(2, GIT, outer.pid))
    known.seen(hook := program(3, f"{HOOKS}/pre-commit", git.pid))
    known.ended(hook, end())
    agreement = known.take_agreement((".",))
    known.made(commit_by(*agreement.hooks), agreement)
    known.made(commit_by(), Agreement())
    found = known.ended(git, ended)
    assert [(each.hooks, each.hooked) for each in found] == ([((), False)] if refuted else [])
    assert not known.ended(outer, end(1))


def asked(known: Programs, number: int = 1, name: str = "pre-commit") -> Exec:
    """A git that runs a hook, which agrees."""
    known.seen(git := program(number, GIT, 1, "commit"))
    known.seen(hook := hooking(number + 1, name, git))
    known.ended(hook, end())
    return git


def test_a_git_that_only_looks_does_not_commit_in_its_place() -> None:
    """As in a shell that has forked, of which nobody was told."""
    for command, counts in (("status", True), ("commit", False)):
        known = programs("pre-commit")
        asked(known)
        known.seen(program(9, GIT, 77, command))
        assert taken(known)[1] is counts


def test_hooks_that_a_script_goes_on_as_were_not_asked_by_git() -> None:
    known = programs("pre-commit")
    known.seen(git := program(1, GIT, 1, "commit"))
    known.seen(script := program(2, "/usr/bin/dash", git.pid, "/tmp/pre-commit"))
    known.seen(hook := replace(hooking(3, "pre-commit", git), pid=script.pid))
    known.ended(script, end(None, ExecOutcome.REPLACED))
    known.ended(hook, end())
    assert taken(known) == ((), False)


def test_hooks_of_two_gits_are_not_those_of_one() -> None:
    known = programs()
    asked(known, 1, "pre-commit")
    asked(known, 11, "commit-msg")
    assert taken(known)[1] is False


@pytest.mark.parametrize(
    ("after", "parents", "refuted"),
    [("3" * 40, {"1" * 40}, False), ("3" * 40, {"4" * 40}, True), (None, (), True)],
)
def test_a_commit_is_not_that_of_a_git_which_moves_the_branch_elsewhere(
    after: str | None, parents: set[str], refuted: bool
) -> None:
    known = programs("pre-commit")
    git = asked(known)
    agreement = known.take_agreement((".",))
    known.made(commit := commit_by(*agreement.hooks), agreement)
    assert known.moved("refs/heads/other", after, parents) == ()
    assert bool(known.moved(commit.ref, after, parents)) is refuted
    known.ended(git, end())
    assert known.stands(commit.id) is not refuted
    assert known.moved(commit.ref, "5" * 40, ()) == ()  # it has ended


def test_a_git_that_failed_before_its_commit_can_be_read_had_not_made_it() -> None:
    known = programs("pre-commit")
    for number, code in ((1, 0), (11, 1)):
        git = asked(known, number)
        agreement = known.take_agreement((".",))
        assert known.upholds(agreement)
        known.ended(git, end(code))
        assert known.upholds(agreement) is (code == 0)


def test_a_commit_in_one_worktree_takes_no_hooks_of_another() -> None:
    known = programs("pre-commit")
    asked(known)
    assert known.take_agreement(("worktrees/w",)).hooks == ()
    assert taken(known)[1]


def test_hooks_count_once() -> None:
    known = programs()
    assert commit(known, "pre-commit", "commit-msg")[1]
    assert taken(known) == ((), False)


def test_what_runs_is_told_by_its_script() -> None:
    known = programs()
    known.seen(program(1, "/usr/bin/bash", 1, "-c", "make all"))
    known.seen(program(2, "/usr/bin/python3.11", 1, "-B", "build.py", cwd="/home/agent/x/y"))
    known.seen(program(3, "/usr/bin/node", 1, "/usr/local/bin/npm", "ci"))
    known.seen(made := program(4, "/usr/bin/make", 1, "all"))
    assert known.running == (
        *("/home/agent/x/y/build.py", "/usr/bin/bash", "/usr/bin/make", "/usr/local/bin/npm"),
    )
    known.ended(made, end())
    assert "/usr/bin/make" not in known.running


@pytest.mark.parametrize(("left", "refuted"), [("refs/heads/main", True), ("refs/x", False)])
def test_a_commit_is_not_that_of_a_git_which_is_led_to_another_branch(
    left: str, refuted: bool
) -> None:
    known = programs("pre-commit")
    git = asked(known)
    agreement = known.take_agreement((".",))
    known.made(commit := commit_by(*agreement.hooks), agreement)
    assert [each.hooked for each in known.left({left})] == [False] * refuted
    known.ended(git, end())
    assert known.stands(commit.id) is not refuted
    assert known.left({commit.ref}) == ()  # it has ended
