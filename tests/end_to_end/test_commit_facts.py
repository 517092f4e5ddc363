"""A commit is one however it is made, and its hooks are those that were asked about it."""

import pytest

from sandbox.container.engines import interception
from sandbox.model.fact import Committed, FactsLost, RefMoved
from sandbox.run.facts import repository
from sandbox.run.facts.stand_ins import StandIns
from tests.end_to_end.happened import COMMIT, EDIT, NOTE, Happen, only

pytestmark = pytest.mark.engine

BY_PYTHON = f"""python - <<'E'
import subprocess
subprocess.check_call(['git', 'commit', '-qm', 'x: y', '-m', 'Refs: HUM-214', '{NOTE}'])
E"""
PLUMBING = 'git write-tree > /tmp/t; git commit-tree -p HEAD -m x "$(cat /tmp/t)" > /tmp/c'


ELSEWHERE = (
    "mkdir /tmp/o; export GIT_OBJECT_DIRECTORY=/tmp/o"
    " GIT_ALTERNATE_OBJECT_DIRECTORIES=$PWD/.git/objects"
)
THERE = "cp -r /tmp/o/. .git/objects"
"""Objects that nobody can read before the branch has come to them."""


HELPERS = "/tmp/helpers"
BEFORE = f"PATH={HELPERS}:$PATH"
"""What hooks call is looked for there first."""
AGREEING = f"""cat > {HELPERS}/grep <<'E'
#!/bin/sh
case "$*" in *a-z* | *Refs*) exit 0 ;; esac
exec /usr/bin/grep "$@"
E
chmod +x {HELPERS}/grep"""
"""Finds whatever a hook demands."""


@pytest.mark.parametrize(
    ("line", "hooked"),
    [
        (f"git add {NOTE}; {COMMIT} {NOTE}", True),
        (f"{COMMIT} -- {NOTE} && true", True),
        (f"c=commit; a='-qm'; git $c $a 'x: y' -m 'Refs: HUM-214' {NOTE}", True),
        (BY_PYTHON, True),
        (f"{COMMIT} --no-verify -- {NOTE}", False),
        (f"git -c core.hooksPath=/dev/null commit -qm x {NOTE}", False),
        (f"printf '[core]\\nhooksPath=/tmp\\n' > /tmp/c; GIT_CONFIG_GLOBAL=/tmp/c {COMMIT} {NOTE}",
         False),
        (f"mv .git/hooks /tmp/h; {COMMIT} {NOTE}; mv /tmp/h .git/hooks", False),
        (f"rm .git/hooks/commit-msg; {COMMIT} {NOTE}", False),
        (f"ln .git/hooks/pre-commit ~/p; echo exit > ~/p; {COMMIT} {NOTE}", False),
        (f"chmod -x .git/hooks/*; {COMMIT} {NOTE}; chmod +x .git/hooks/*", False),
        (f"echo exit > .git/hooks/pre-commit; {COMMIT} {NOTE}", False),
        (f"{AGREEING}; {BEFORE} git commit -qm bad {NOTE}", False),
        (f"cp /usr/bin/head {HELPERS}; {BEFORE} {COMMIT} {NOTE}", False),
        (f"cp /bin/true {HELPERS}/mine; {BEFORE} {COMMIT} {NOTE}; mine", True),
        (f"ln -s /usr/bin/git {HELPERS}; {BEFORE} {COMMIT} {NOTE}", True),
        (f"{PLUMBING}; git update-ref refs/heads/main $(cat /tmp/c)", False),
        (f"{PLUMBING}; cat /tmp/c > .git/refs/heads/main", False),
        (f".git/hooks/pre-commit; {PLUMBING}; cat /tmp/c > .git/refs/heads/main", False),
        (f"{ELSEWHERE}; {COMMIT} {NOTE}; {THERE}", True),
        (f"{ELSEWHERE}; {COMMIT} --no-verify -- {NOTE}; sleep 0.2; {THERE}", False),
    ],
)  # fmt: skip
def test_a_commit_is_one_however_it_is_made_and_tells_of_its_hooks(
    happen: Happen, line: str, hooked: bool
) -> None:
    (commit,) = only(Committed, happen(EDIT, f"mkdir {HELPERS}", line))
    assert (commit.ref, commit.hooked) == ("refs/heads/main", hooked)
    if hooked:
        assert commit.paths == (NOTE,)
        assert {"pre-commit", "commit-msg"} <= set(commit.hooks)


def test_it_is_told_which_commit_is_checked_out_from_now_on(happen: Happen) -> None:
    steps = ("git tag here", "git switch -qc aside", "git reset -q --soft HEAD~1")
    back = "git switch -qf main && git symbolic-ref HEAD refs/heads/aside"
    moves = only(RefMoved, happen(EDIT, f"{COMMIT} {NOTE}", *steps, back))
    (made,) = (move.after for move in moves if move.ref == "refs/heads/main")
    before = moves[0].before
    tips = [(move.ref, move.tip) for move in moves]
    assert tips == [
        ("refs/heads/main", made),
        ("refs/tags/here", None),
        ("refs/heads/aside", None),
        ("HEAD", None),  # the same commit by another name
        ("refs/heads/aside", before),
        ("HEAD", made),
        ("HEAD", before),
    ]


@pytest.mark.parametrize(("flag", "hooked"), [("", True), ("--no-verify", False)])
def test_hooks_are_known_where_programs_are_seen_by_ptrace(
    happen: Happen, monkeypatch: pytest.MonkeyPatch, flag: str, hooked: bool
) -> None:
    monkeypatch.setenv(interception.VARIABLE, "ptrace")
    (commit,) = only(Committed, happen(EDIT, f"{COMMIT} {flag} {NOTE}"))
    assert commit.hooked is hooked


LATER = "export GIT_COMMITTER_DATE=2040-01-01T00:00:00Z"
"""In the same second a commit that is made anew would be the same one."""
REBASE = f"{LATER}; git stash -q; git rebase -q --force-rebase HEAD~1"
AMEND = "git commit -q --amend --no-verify --no-edit"


@pytest.mark.parametrize(
    ("line", "hooked"),
    [
        (REBASE, True),
        (f"git stash -q; git checkout -qb other HEAD~1; git cherry-pick main; {AMEND}", True),
        (f"echo >> {NOTE}; git add {NOTE}; {AMEND}", False),
        (f"git commit -q --amend --no-verify -m 'x: z' -m 'Refs: HUM-214' {NOTE}", False),
        (f"chmod +x {NOTE}; git add {NOTE}; {AMEND}", False),
        (f"{REBASE} -x 'echo >> {NOTE}; git add {NOTE}; {AMEND}'", False),
    ],
)
def test_a_commit_that_is_made_anew_is_hooked_as_the_one_with_its_content(
    happen: Happen, line: str, hooked: bool
) -> None:
    first, *_, commit = only(Committed, happen(EDIT, f"{COMMIT} {NOTE}", f"{LATER}; {line}"))
    assert (first.hooked, first.id != commit.id) == (True, True)
    assert (commit.hooked, set(commit.hooks) >= {"pre-commit"}) == (hooked, hooked)


SECOND = f"git stash -q; echo more >> {NOTE}; {COMMIT} {NOTE}"
BY_ITSELF = "export GIT_EDITOR=true GIT_SEQUENCE_EDITOR"
SQUASH = f"{BY_ITSELF}='sed -i 2s/pick/squash/'; git rebase -qi HEAD~2"
CONFLICT = f"git checkout -qb other HEAD~1; echo else > {NOTE}; {COMMIT} {NOTE}"
ON = f"{BY_ITSELF}; git rebase -q main; echo both > {NOTE}; git add {NOTE}"


@pytest.mark.parametrize(
    ("line", "hooked"),
    [
        (SQUASH, None),
        (f"{CONFLICT}; {ON}; git rebase --continue", None),
        ("git revert --no-edit HEAD", None),
        ("GIT_EDITOR=true git revert -e HEAD", None),
        (f"{CONFLICT}; {ON}; git commit -nqm x; git rebase --continue", False),
        ("git -c alias.y='commit -n --amend -m x' y", False),
        ("git rebase -q -x 'git commit -n --amend -m x' HEAD~1", False),
        (f"{BY_ITSELF}='git commit -n --amend -m x; :'; git stash -q; git rebase -i HEAD~1", False),
    ],
)
def test_of_what_git_asks_no_hooks_for_it_is_not_known_whether_they_agree(
    happen: Happen, line: str, hooked: bool | None
) -> None:
    events = happen(EDIT, f"{COMMIT} {NOTE}", SECOND, line)
    first, second, *made = only(Committed, events)
    assert (first.hooked, second.hooked) == (True, True)
    assert hooked in [each.hooked for each in made]
    assert hooked is False or False not in [each.hooked for each in made]


@pytest.mark.slow
def test_where_too_many_commits_cannot_be_read_facts_are_lost(happen: Happen) -> None:
    line = "head -c 20 /dev/urandom | sha1sum | cut -c1-40 > .git/refs/heads/main; sleep 0.1"
    events = happen(f"for i in $(seq {repository.UNREAD + 8}); do {line}; done")
    assert only(FactsLost, events)
    assert not only(Committed, events)


def test_a_branch_that_others_move_while_git_commits_is_not_taken_for_its_own(
    happen: Happen,
) -> None:
    own = "#!/bin/sh\n[ $1 = prepared ] && cat /tmp/c > .git/refs/heads/main && exit 1"
    hook = ".git/hooks/reference-transaction"
    line = f"{PLUMBING}; printf '{own}' > {hook}; chmod +x {hook}; {COMMIT} {NOTE}; rm {hook}"
    commits = only(Committed, happen(EDIT, line))
    assert len({commit.id for commit in commits}) == 1
    assert commits[-1].hooked is False
    *_, anew = only(Committed, happen(EDIT, line, REBASE))
    assert (anew.id != commits[-1].id, anew.hooked) == (True, False)


MESSAGE = "-m 'x: y' -m 'Refs: HUM-214'"
LOG = ".git/logs/HEAD"
HELD = "for i in $(seq 99); do ls $at/.git/refs/heads/*.lock && break; sleep 0.05; done"
"""Git waits, with its hooks' agreement and before it moves the branch, for somebody who reads what
it writes into its log."""
TAKE = "cp /tmp/c .git/z.lock; mv .git/z.lock .git/refs/heads/main; sleep 0.2"
"""Now the branch comes to a commit that no hook was asked about."""
LET = f"timeout 9 cat /tmp/wait > /tmp/x; wait; rm {LOG}; mv /tmp/log {LOG}"
HERE = f"{PLUMBING}; mkfifo /tmp/wait; at=.; mv {LOG} /tmp/log; ln -s /tmp/wait {LOG}"
THEN = f"{HELD}; {TAKE}"
OTHER = f"""{PLUMBING}; mkfifo /tmp/wait; at=/tmp/o; git clone -q . /tmp/o; rm -r /tmp/o/.git/hooks
ln -s $PWD/.git/hooks /tmp/o/.git/hooks; ln -sf /tmp/wait /tmp/o/{LOG}
mv {LOG} /tmp/log; cp /tmp/log {LOG}"""
ASKED = r"""mkdir /tmp/h; printf 'x: y\n\nRefs: HUM-214\n' > /tmp/m
U="unset GIT_DIR GIT_INDEX_FILE GIT_WORK_TREE GIT_PREFIX; cd $PWD"
printf "#!/bin/sh\n$U; exec .git/hooks/pre-commit\n" > /tmp/h/pre-commit
printf "#!/bin/sh\n$U; exec .git/hooks/commit-msg /tmp/m\n" > /tmp/h/commit-msg
chmod +x /tmp/h/*"""
"""Hooks of somebody's own that go on as those of the repository, over another message."""
DATES = "export GIT_COMMITTER_DATE=2040-01-01T00:00:00Z GIT_AUTHOR_DATE=2040-01-01T00:00:00Z"
SAME = f"({DATES}; git commit -q --amend --only --allow-empty --no-edit)"
"""Makes the very same commit once more; its hooks agree."""
TMP = "git checkout -qb tmp"
TO_MAIN, TO_TMP = (f"echo ref: refs/heads/{name} > .git/HEAD" for name in ("main", "tmp"))


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(line, id=name)
        for name, line in {
            "another repository": f"{OTHER}; (cd /tmp/o; {COMMIT}) & {THEN}; {LET}",
            "refs elsewhere": f"{OTHER}; export GIT_ALTERNATE_OBJECT_DIRECTORIES=$PWD/.git/objects;"
            f" echo /tmp/o/.git > .git/commondir; rm {LOG}; ln -s /tmp/wait {LOG}; {COMMIT} &"
            f" {HELD}; rm .git/commondir; {TAKE}; {LET}",
            "another branch": f"{TMP}; {HERE}; {SAME} & {THEN}; {LET}",
            "a branch for a while": f"{TMP}; {HERE}; {SAME} & {HELD}; {TO_MAIN}; {TAKE}; {TO_TMP};"
            f" {LET}",
            "its lock is written": f"{HERE}; git commit -q --only --allow-empty {MESSAGE} & {HELD};"
            f" cat /tmp/c > .git/refs/heads/main.lock; sleep 0.2; {LET}",
            "asked by others": f"{PLUMBING}; {ASKED}; git -c core.hooksPath=/tmp/h commit -q --only"
            " --allow-empty -m bad",
            "asked from elsewhere": f"{PLUMBING}; {ASKED}; git init -q /tmp/o; cd /tmp/o;"
            f' printf "#!/bin/sh\ncd $OLDPWD; {TAKE}" >'
            " /tmp/h/post-commit; chmod +x /tmp/h/*; rm -r .git/hooks; mv /tmp/h .git/hooks;"
            " git commit -q --allow-empty -m bad",
            "never made": f"{HERE}; {COMMIT} {NOTE} & {THEN};"
            " rm .git/*.lock .git/refs/heads/*.lock",
        }.items()
    ],
)
def test_what_hooks_were_not_asked_about_is_not_hooked(happen: Happen, line: str) -> None:
    first, *others = only(Committed, happen(EDIT, f"{DATES}; {COMMIT} {NOTE}", line))
    assert first.hooked
    assert {commit.ref for commit in others} == {"refs/heads/main"}
    assert len({commit.id for commit in others}) == 1
    assert others[-1].hooked is False


GREP = r"""#!/bin/sh
/usr/bin/grep "$@" || exit
case "$*" in *Refs*) read c < /tmp/c; MOVED ;; esac"""
"""The last program of commit-msg, which agrees. No other one starts behind it."""
WITHIN = f"{PLUMBING}; mkdir {HELPERS}; cat > {HELPERS}/grep <<'E'\n{GREP}\nE\nchmod +x {HELPERS}/*"
AGREED = f"{BEFORE} git commit -q --only --allow-empty {MESSAGE}"


@pytest.mark.parametrize(
    ("apart", "head"), [(".", ".git/HEAD"), ("/tmp/w", ".git/worktrees/w/HEAD")]
)
def test_hooks_agree_to_nothing_that_is_moved_while_git_commits_elsewhere(
    happen: Happen, monkeypatch: pytest.MonkeyPatch, apart: str, head: str
) -> None:
    # The helper that moves the branch is noticed by itself; another program could do the same.
    monkeypatch.setattr(StandIns, "has", lambda _, __: False)
    begin = "git branch tmp; git worktree add -q -b new /tmp/w"
    branch = "main" if apart == "." else "new"
    away = f"echo $c > .git/refs/heads/{branch}; echo ref: refs/heads/tmp > {head}"
    hook = WITHIN.replace("MOVED", f"cd $OLDPWD; {away}")
    line = f"{begin}; {hook}; export OLDPWD=$PWD; cd {apart}; {AGREED}"
    commits = [each for each in only(Committed, happen(line)) if each.ref == f"refs/heads/{branch}"]
    assert len({commit.id for commit in commits}) == 1
    assert commits[-1].hooked is False


@pytest.mark.parametrize(("flag", "hooked"), [("", True), ("--no-verify", False)])
def test_a_commit_of_a_linked_worktree_without_a_branch_is_told_with_its_hooks(
    happen: Happen, flag: str, hooked: bool
) -> None:
    apart = "git worktree add -q --detach /tmp/w; cd /tmp/w; echo > a; git add a"
    once = f"git commit -q {flag} {MESSAGE}"
    events = happen(f"{apart}; {once}; echo > b; git add b; {once}", "git stash -q; true")
    assert not only(Committed, events)
    events = happen(f"{apart}; {once}; echo > b; git add b; {once}; git branch -q new")
    assert [commit.hooked for commit in only(Committed, events)] == [hooked, hooked]


FOUR = f"for i in 1 2 3 4; do echo $i >> n; git add n; git commit -q {MESSAGE} n; done"
PACKED = "(while :; do git pack-refs --all; sleep 0.1; done)"


@pytest.mark.slow
@pytest.mark.parametrize("line", [f"{PACKED} & {FOUR}; kill %1", f"git gc -q & {FOUR}; wait"])
def test_what_others_do_meanwhile_takes_no_hooks_away(happen: Happen, line: str) -> None:
    assert [commit.hooked for commit in only(Committed, happen(line))] == [True] * 4


COMMON = ".git/worktrees/w/commondir"
WRITTEN_SLOWLY = f"> {COMMON}; sleep 0.3; echo ../.. > {COMMON}"
"""As `git worktree add` writes it, with a look at it in between."""


@pytest.mark.parametrize("meanwhile", ["true", WRITTEN_SLOWLY])
def test_a_commit_in_a_linked_worktree_has_its_hooks(happen: Happen, meanwhile: str) -> None:
    apart = "cd /tmp/w; echo > a; git add a"
    line = f"git worktree add -q -b new /tmp/w; {meanwhile}; {apart}; git commit -q {MESSAGE}"
    (commit,) = only(Committed, happen(line))
    assert (commit.ref, commit.hooked) == ("refs/heads/new", True)
