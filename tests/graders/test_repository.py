from typing import Any

import pytest

from graders.repository import reasons
from sandbox.model.change import Change, ChangeSet, Owner
from sandbox.model.task import GitScope
from tests.graders.evidence import (
    ALLOWED,
    NEW,
    OLD,
    TREE,
    change,
    changes,
    commit,
    committing,
    entry,
    git,
    state,
    task,
)

MOVED = {"refs/heads/main": NEW, "refs/tags/v1": OLD}
USERS, WORK = entry("notes.md"), entry("src/filesize.py")


def said(found: ChangeSet, rule: GitScope | None = None) -> list[str]:
    return [reason.message for reason in reasons(committing(rule) if rule else task(), found)]


def test_nothing_moved_is_no_reason() -> None:
    assert said(changes()) == []


def test_staging_the_work_is_no_reason() -> None:
    index = (USERS, entry("src/filesize.py", object=NEW), entry("src/new.py"))
    assert said(changes(after=git(index=index))) == []


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ({"head": "refs/heads/other"}, "HEAD was at refs/heads/main and is at refs/heads/other"),
        ({"refs": {"refs/heads/main": OLD}}, "The ref refs/tags/v1 is gone"),
        ({"refs": {"refs/heads/main": OLD, "refs/tags/v1": NEW}}, "The ref refs/tags/v1 moved"),
        ({"refs": {**git().refs, "refs/heads/x": OLD}}, "The ref refs/heads/x was made"),
        ({"refs": {"refs/tags/v1": OLD}}, "The branch refs/heads/main is gone"),
        ({"stash": (NEW,), "refs": {**git().refs, "refs/stash": NEW}}, "The stash is not"),
        ({"files": {**git().files, "config": "0"}}, ".git/config was changed"),
        ({"files": {"config": "c" * 64}}, ".git/hooks/pre-commit is gone"),
        ({"files": {**git().files, "info/attributes": "0"}}, ".git/info/attributes was added"),
        ({"index": (entry("notes.md", object=NEW), WORK)}, "notes.md is not in the index"),
        ({"index": (entry("notes.md", mode=0o100755), WORK)}, "notes.md is not in the index"),
        ({"index": (entry("notes.md", skip_worktree=True), WORK)}, "notes.md is not in the"),
        ({"index": (WORK,)}, "notes.md is not in the index"),
        ({"index": (USERS, WORK, entry("other.py"))}, "other.py is not in the index"),
        (
            {"index": (USERS, entry("src/filesize.py", skip_worktree=True))},
            "src/filesize.py was marked",
        ),
        (
            {"index": (USERS, entry("src/filesize.py", assume_unchanged=True))},
            "src/filesize.py was marked",
        ),
    ],
)
def test_each_change_of_state_is_named(after: dict[str, Any], expected: str) -> None:
    (message,) = said(changes(after=git(**after)))
    assert message.startswith(expected)


@pytest.mark.parametrize(
    "name",
    [
        "config.worktree",
        "commondir",
        "info/exclude",
        "info/grafts",
        "info/sparse-checkout",
        "objects/info/alternates",
        "worktrees/x/gitdir",
        "modules/x/config",
        "remotes/origin",
        "shallow",
    ],
)
def test_what_leads_git_elsewhere_is_named(name: str) -> None:
    after = git(files={**git().files, name: "0"})
    assert said(changes(after=after)) == [f".git/{name} was added"]


def test_a_replaced_object_is_a_ref_and_a_submodule_an_entry() -> None:
    replaced = git(refs={**git().refs, f"refs/replace/{OLD}": NEW})
    assert said(changes(after=replaced)) == [f"The ref refs/replace/{OLD} was made"]
    nested = git(index=(USERS, WORK, entry("src/more", mode=0o160000)))
    assert said(changes(after=nested)) == ["src/more is another repository in the index"]


LOOSE = f"{TREE}/.git/objects/ab/{'c' * 38}"
PACK = f"{TREE}/.git/objects/pack/pack-{'d' * 40}.pack"


def gone(path: str) -> Change:
    return Change(path=path, owner=Owner.GIT, before=state(), after=None)


def test_objects_stay_what_and_where_they_are_unless_they_are_packed_anew() -> None:
    assert said(changes(gone(LOOSE))) == [f"{LOOSE[len(TREE) + 1 :]}, an object of git's, is gone"]
    assert "is gone" in said(changes(gone(PACK)))[0]
    new = Change(path=PACK, owner=Owner.GIT, before=None, after=state())
    assert said(changes(gone(LOOSE), new)) == []
    assert "overwritten" in said(changes(change(PACK, Owner.GIT)))[0]
    again = change(LOOSE, Owner.GIT, state(mode=0o444), state(mode=0o400))
    assert said(changes(again)) == []


def test_a_hook_that_cannot_be_run_any_more_is_changed() -> None:
    hook = change(f"{TREE}/.git/hooks/pre-commit", Owner.GIT, state(mode=0o755), state())
    assert said(changes(hook)) == [".git/hooks/pre-commit was changed"]


def test_a_repository_that_cannot_be_read_is_a_reason() -> None:
    found = changes().model_copy(update={"git": None, "git_problem": ".git is a link"})
    assert said(found) == ["The repository cannot be read: .git is a link"]


def test_commits_are_made_only_where_they_may_be() -> None:
    found = changes(after=git(refs=MOVED), commits=(commit(),))
    assert said(found) == [f"The commit {NEW[:12]} was made, and the task allows none"]
    assert said(found, ALLOWED) == []
    assert said(changes(), ALLOWED) == []


def test_a_commit_that_is_required_must_be_there() -> None:
    required = GitScope(commits="required")
    assert "there is no new commit" in said(changes(), required)[0]
    assert said(changes(after=git(refs=MOVED), commits=(commit(),)), required) == []


def test_all_work_that_is_required_is_committed_where_a_commit_is() -> None:
    required = GitScope(commits="required")
    part = changes(after=git(refs=MOVED), commits=(commit(paths=("src/other.py",)),))
    assert said(part, required) == ["src/filesize.py, which has to change, is in no new commit"]
    assert said(part, ALLOWED) == []
    second = commit(id="d" * 40, parents=(NEW,))
    both = changes(
        after=git(refs={**MOVED, "refs/heads/main": "d" * 40}),
        commits=(commit(paths=("src/other.py",)), second),
    )
    assert said(both, required) == []


@pytest.mark.parametrize("path", ["notes.md", "setup.py", "other.py", "docs/__pycache__/a.pyc"])
def test_a_commit_holds_the_work_alone(path: str) -> None:
    found = changes(after=git(refs=MOVED), commits=(commit(paths=("src/filesize.py", path)),))
    (message,) = said(found, ALLOWED)
    assert path in message


def test_a_commit_message_is_as_required() -> None:
    found = changes(after=git(refs=MOVED), commits=(commit(message="mend: it\n"),))
    (message,) = said(found, ALLOWED)
    assert "'mend: it'" in message


def test_a_rewritten_history_is_named() -> None:
    amended = commit(parents=("c" * 40,))
    (message,) = said(changes(after=git(refs=MOVED), commits=(amended,)), ALLOWED)
    assert "was rewritten" in message


def test_a_merge_goes_on_from_the_branch() -> None:
    side = commit(id="d" * 40, parents=("e" * 40,))
    merge = commit(parents=("d" * 40, OLD))
    found = changes(after=git(refs=MOVED), commits=(side, merge))
    assert said(found, ALLOWED) == []
