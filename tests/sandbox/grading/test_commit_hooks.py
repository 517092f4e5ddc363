"""The hooks of the start, asked about commits as they were delivered."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from sandbox.container.changes.collector import Collector
from sandbox.container.engines.base import Engine, Session, SessionSpec
from sandbox.grading.commit_hooks import COMMITS, are_to_be_asked, asked_of_hooks
from sandbox.model import places
from sandbox.model.agent_environment import ENVIRONMENT
from sandbox.model.change import ChangeSet, HookAnswer
from sandbox.model.session import ROOT, Command
from sandbox.tasks import library
from sandbox.tasks.images import Images
from sandbox.tasks.library import LoadedTask

pytestmark = pytest.mark.engine

NOTE = "changes/HUM-214.fix.md"
MESSAGE = "-m 'filesize: y' -m 'Refs: HUM-214'"
COMMIT = f"git commit -qm 'filesize: y' -m 'Refs: HUM-214' {NOTE}"
FINE, MARKED = f"echo 'Fine.' > {NOTE}; git add {NOTE}", f"echo 'Bad. ' > {NOTE}; git add {NOTE}"
WAITING = """mkfifo /tmp/waits; git commit -q -F /tmp/waits & exec 3> /tmp/waits
{meanwhile}; printf 'filesize: y\\n\\nRefs: HUM-214\\n' >&3; exec 3>&-; wait"""

FALSE_GREP = """mkdir /tmp/b; cat > /tmp/b/grep <<'E'
#!/bin/sh
case $2 in ^Refs*|^?a-z*) exit 0 ;; esac
exec /usr/bin/grep "$@"
E
chmod +x /tmp/b/grep"""
LATIN = "LC_ALL=C git -c i18n.commitEncoding=latin1"
BOTH = ("commit-msg", "pre-commit")
Ask = Callable[[str], tuple[HookAnswer, ...]]


@pytest.fixture(scope="module")
def task() -> LoadedTask:
    return library.load("humanize/file-sizes")


@pytest.fixture(scope="module")
def image(engine: Engine, task: LoadedTask) -> str:
    return Images(engine, places.cache()).ensure(task, print).tag


def at_a_shell(session: Session, line: str, cwd: str) -> str:
    argv = ("/bin/bash", "-c", line)
    done = session.run(Command(argv=argv, cwd=cwd, environment=ENVIRONMENT, timeout=60.0))
    assert done.exit_code == 0, done.stderr
    return done.stdout.decode()


def left(session: Session) -> str:
    """All that whoever was asked might have left behind."""
    line = "ps -e -o uid= | sort -u; find . /tmp /var/tmp /dev/shm /opt /srv -printf '%p %s %m\\n'"
    argv = ("/bin/bash", "-c", line)
    return session.run(Command(argv=argv, cwd="/home/agent", user=ROOT)).stdout.decode()


@pytest.fixture
def ask(engine: Engine, image: str, task: LoadedTask) -> Ask:
    def ask(line: str) -> tuple[HookAnswer, ...]:
        with engine.start(SessionSpec(image)) as session, engine.start(SessionSpec(image)) as fresh:
            collector = Collector(session, task.task.scope, task.worktree)
            # The user's work is stashed away, so that a commit of the index is the agent's alone.
            at_a_shell(session, f"git stash -q; {line}", task.worktree)
            session.kill_all()
            before = left(fresh)
            changes = collector.change_set(lambda: fresh)
            assert are_to_be_asked(task, changes)
            found = asked_of_hooks(task, session, changes, fresh)
            assert left(fresh) == before
        assert found.git is not None
        return found.git.asked

    return ask


def refusing(answers: tuple[HookAnswer, ...]) -> list[str]:
    return [answer.hook for answer in answers if answer.exit_code != 0]


@pytest.mark.parametrize(
    ("line", "refused"),
    [
        (f"{FINE}; {COMMIT}", []),
        (f"{FINE}; {COMMIT}; git commit -q --amend --date 2030-01-01 {MESSAGE}", []),
        (f"{FINE}; {WAITING.format(meanwhile=MARKED)}", ["pre-commit"]),
        (f"{MARKED}; {COMMIT} --no-verify", ["pre-commit"]),
        (f"{FINE}; git -c core.commentChar=R commit -q --cleanup=strip {MESSAGE}", ["commit-msg"]),
        (f"{FINE}; printf 'x: caf\\351\\n\\nRefs: HUM-214' | {LATIN} commit -qF -", []),
        (f"{FALSE_GREP}; {FINE}; PATH=/tmp/b:$PATH git commit -qm nothing", ["commit-msg"]),
        (f"{MARKED}; git commit -qnm nothing; {FINE}; {COMMIT}", [*BOTH]),
    ],
)  # fmt: skip
def test_hooks_are_asked_about_what_each_commit_holds_and_says(
    ask: Ask, line: str, refused: list[str]
) -> None:
    answers = ask(line)
    assert refusing(answers) == refused
    assert [answer.hook for answer in answers] == [*BOTH] * (len(answers) // 2)
    assert all(answer.said for answer in answers if answer.exit_code)


SIDE = f"git checkout -qb other; {FINE}; {COMMIT}; git checkout -q main"
MERGE = f"{SIDE}; git merge -q --no-ff {MESSAGE} other"
SRC = "src/humanize/filesize.py"
EDITED = f"{FINE}; echo '# x' >> {SRC}; git add {SRC}; git commit -q {MESSAGE}"
ANCESTOR = f"""git rev-parse HEAD > .git/MERGE_HEAD; printf no-ff > .git/MERGE_MODE
echo '# y' >> {SRC}; git add {SRC}; git commit -qn {MESSAGE}"""
ALTERED = f"""echo '# x' >> {SRC}; git add {SRC}; git rm -q --cached {NOTE}
git commit -qn --amend --no-edit"""
CONFLICT = f"""git checkout -qb other; {EDITED}; git checkout -q main; git branch -q -f side main
echo Other. > {NOTE}; echo '# y' >> {SRC}; git add {SRC} {NOTE}; git commit -q {MESSAGE}
git merge -q other || true"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "asked", "refused"),
    [
        (MERGE, ["commit-msg"], []),
        (f"{MERGE}; git commit -q --amend --date 2030-01-01 {MESSAGE}", ["commit-msg"], []),
        # Of what git would not have made by itself `pre-commit` is asked: an own part of a merge,
        (f"{EDITED}; {ANCESTOR}", [*BOTH], ["pre-commit"]),
        (f"{MERGE}; {ALTERED}", [*BOTH], ["pre-commit"]),
        # a conflict that was mended, and one that was not.
        (f"{CONFLICT}; git checkout -q --ours .; git add {SRC} {NOTE}; git commit -qn {MESSAGE}",
         [*BOTH], []),
        (f"{CONFLICT}; git add {SRC} {NOTE}; git commit -qn {MESSAGE}", [*BOTH], ["pre-commit"]),
    ],
    ids=["own", "amended", "ancestor", "taken away", "mended", "not mended"],
)  # fmt: skip
def test_a_merge_is_asked_what_git_asks_of_it(
    ask: Ask, line: str, asked: list[str], refused: list[str]
) -> None:
    answers = ask(line)
    merge = [answer for answer in answers if answer.commit == answers[-1].commit]
    assert [answer.hook for answer in merge] == asked
    assert refusing(tuple(merge)) == refused


def test_nothing_is_asked_where_nothing_was_committed_or_no_rule_speaks_of_hooks(
    engine: Engine, image: str, task: LoadedTask
) -> None:
    silent = replace(task, task=task.task.model_copy(update={"rules": ()}))
    with engine.start(SessionSpec(image)) as session:
        collector = Collector(session, task.task.scope, task.worktree)
        at_a_shell(session, FINE, task.worktree)
        assert not are_to_be_asked(task, collector.change_set(lambda: session))
        at_a_shell(session, f"{COMMIT} --no-verify", task.worktree)
        changes = collector.change_set(lambda: session)
        assert are_to_be_asked(task, changes)
        assert not are_to_be_asked(silent, changes)


OBJECTS = """cat > /tmp/h.py <<'E'
import hashlib, os, subprocess, zlib

def obj(kind, data):
    whole = kind + b" %d\\0" % len(data) + data
    name = hashlib.sha1(whole).hexdigest()
    os.makedirs(f".git/objects/{name[:2]}", exist_ok=True)
    open(f".git/objects/{name[:2]}/{name[2:]}", "wb").write(zlib.compress(whole))
    return name

def git(*words):
    return subprocess.check_output(["git", *words]).strip()

def tree(name, mode, blob):
    entry = mode + b" " + name + b"\\0" + bytes.fromhex(blob)
    return obj(b"tree", subprocess.check_output(["git", "cat-file", "tree", "HEAD^{tree}"]) + entry)

def commit(tree=None, author=b"A <a@b> 1700000000 +0000"):
    lines = b"tree %s\\nparent %s\\nauthor %s\\ncommitter A <a@b> 1700000000 +0000\\n\\nx\\n"
    tree = tree.encode() if tree else git("rev-parse", "HEAD^{tree}")
    made = obj(b"commit", lines % (tree, git("rev-parse", "HEAD"), author))
    open(".git/refs/heads/main", "w").write(made + "\\n")
E
PYTHONPATH=/tmp python -c 'from h import *; {made}'; rm /tmp/h.py"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "made",
    [
        'commit(author=b"A" * 300000 + b" <a@b> 1700000000 +0000")',
        'commit(author=b"A\\0B <a@b> 1700000000 +0000")',
        'commit(author=b"")',
        'commit(tree(b"zz", b"100644", obj(b"blob", b"x")))',
        'commit(tree(b"zz", b"120000", obj(b"blob", b"/etc/passwd")))',
        'commit(tree(b"zz", b"160000", "1" * 40))',
        'commit(tree(b".GIT ", b"100644", obj(b"blob", b"x")))',
    ],
)
def test_an_odd_commit_is_asked_about_like_any_other(ask: Ask, made: str) -> None:
    answers = ask(OBJECTS.replace("{made}", made))
    assert answers
    # Git itself would not lay out the last one.
    assert refusing(answers)[0] == ("" if ".GIT" in made else "commit-msg")


@pytest.mark.parametrize(
    ("made", "problem"),
    [
        ('commit(tree(b"zz", b"100644", obj(b"foo", b"x")))', "of no kind that git has"),
        ('commit(tree(b"zz", b"1\\xff0644", obj(b"blob", b"x")))', "that git would not make"),
        ('commit(tree(b"zz", b"100644", "1" * 40))', "is missing"),
    ],
)
def test_a_commit_that_cannot_be_read_is_told(
    engine: Engine, image: str, task: LoadedTask, made: str, problem: str
) -> None:
    with engine.start(SessionSpec(image)) as session:
        collector = Collector(session, task.task.scope, task.worktree)
        at_a_shell(session, OBJECTS.replace("{made}", made), task.worktree)
        changes = collector.change_set(lambda: session)
        found = asked_of_hooks(task, session, changes, session)
    assert found.git is None
    assert problem in found.git_problem


def test_a_repository_that_cannot_be_read_any_more_is_told(
    engine: Engine, image: str, task: LoadedTask
) -> None:
    with engine.start(SessionSpec(image)) as session:
        collector = Collector(session, task.task.scope, task.worktree)
        at_a_shell(session, f"{FINE}; {COMMIT}", task.worktree)
        changes = collector.change_set(lambda: session)
        blob = at_a_shell(session, f"git rev-parse HEAD:{NOTE}", task.worktree).strip()
        at_a_shell(session, f"rm -f .git/objects/{blob[:2]}/{blob[2:]}", task.worktree)
        found: ChangeSet = asked_of_hooks(task, session, changes, session)
    assert found.git is None
    assert found.git_problem == f"object {blob} is missing"


LEAVES = """#!/bin/sh
mkdir -p /tmp/left/deep /dev/shm/left; echo > /var/tmp/left; chmod 777 /tmp/left
(setsid sleep 300 &) > /dev/null 2>&1
"""


def test_what_a_hook_leaves_is_taken_away(engine: Engine, image: str, task: LoadedTask) -> None:
    with engine.start(SessionSpec(image)) as session, engine.start(SessionSpec(image)) as fresh:
        collector = Collector(session, task.task.scope, task.worktree)
        at_a_shell(session, f"{FINE}; {COMMIT}", task.worktree)
        changes = collector.change_set(lambda: fresh)
        hook = f"{task.worktree}/.git/hooks/pre-commit"
        fresh.write(hook, LEAVES.encode(), mode=0o755)
        before = left(fresh)
        found = asked_of_hooks(task, session, changes, fresh)
        assert found.git is not None
        assert [answer.exit_code for answer in found.git.asked] == [0, 0]
        assert left(fresh) == before


@pytest.mark.slow
def test_beyond_a_bound_commits_are_refused_unasked(ask: Ask) -> None:
    more = 3
    line = f"{FINE}; {COMMIT}; for i in $(seq {COMMITS + more - 1}); do {COMMIT} --allow-empty"
    answers = ask(f"{line} -n; done")
    assert [answer.hook for answer in answers[-more:]] == [""] * more
    assert "more than" in answers[-1].said
    assert not refusing(answers[:-more])
