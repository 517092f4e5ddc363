"""The hooks of the start, asked about commits as they were delivered."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from sandbox.container.changes.collector import Collector
from sandbox.container.engines.base import Engine, Session, SessionSpec
from sandbox.grading.commit_hooks import asked_of_hooks
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
    line = "ls -A /tmp /var/tmp; ps -e -o uid= | sort -u; find . /opt /srv -printf '%p %T@\\n'"
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
            found = asked_of_hooks(task, session, changes, lambda: fresh)
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


def test_a_merge_is_asked_what_git_asks_of_it(ask: Ask) -> None:
    line = f"git checkout -qb other; {FINE}; {COMMIT}; git checkout -q main"
    answers = ask(f"{line}; git merge -q --no-ff {MESSAGE} other")
    assert [answer.hook for answer in answers] == [*BOTH, "commit-msg"]
    assert refusing(answers) == []


def test_nothing_is_asked_where_nothing_was_committed_or_no_rule_speaks_of_hooks(
    ask: Ask, engine: Engine, image: str, task: LoadedTask
) -> None:
    assert ask(FINE) == ()
    silent = replace(task, task=task.task.model_copy(update={"rules": ()}))
    with engine.start(SessionSpec(image)) as session:
        collector = Collector(session, task.task.scope, task.worktree)
        at_a_shell(session, f"{MARKED}; {COMMIT} --no-verify", task.worktree)
        changes = collector.change_set(lambda: session)
        assert asked_of_hooks(silent, session, changes, never) == changes


def never() -> Session:
    raise AssertionError("no fresh session is needed")


def test_a_repository_that_cannot_be_read_any_more_is_told(
    engine: Engine, image: str, task: LoadedTask
) -> None:
    with engine.start(SessionSpec(image)) as session:
        collector = Collector(session, task.task.scope, task.worktree)
        at_a_shell(session, f"{FINE}; {COMMIT}", task.worktree)
        changes = collector.change_set(lambda: session)
        blob = at_a_shell(session, f"git rev-parse HEAD:{NOTE}", task.worktree).strip()
        at_a_shell(session, f"rm -f .git/objects/{blob[:2]}/{blob[2:]}", task.worktree)
        found: ChangeSet = asked_of_hooks(task, session, changes, never)
    assert found.git is None
    assert found.git_problem == f"object {blob} is missing"
