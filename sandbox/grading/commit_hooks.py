"""The hooks of the start, asked about the commits of a run in a container that nobody used.

While a run goes on it can be seen that git ran them and that they agreed, and not to what: an index
may change after `pre-commit` has looked, or a message after `commit-msg`. Here they are asked about
what was delivered, each commit in a place and as a user of its own, before anything else of the
candidate is there.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from posixpath import basename

from graders.commit_hooks import about_hooks
from sandbox.container.changes.git_files import GitProblem, SessionFiles
from sandbox.container.changes.git_pack import pack
from sandbox.container.engines.base import Session
from sandbox.grading.patience import patient
from sandbox.grading.testers import Testers, open_up
from sandbox.model.agent_environment import ENVIRONMENT
from sandbox.model.change import ChangeSet, Commit, GitChange, HookAnswer
from sandbox.model.session import HOME, ROOT, Command, Completed
from sandbox.tasks.library import LoadedTask

ASKED = ("commit-msg", "pre-commit")
ASKED_OF_MERGE = ("commit-msg", "pre-merge-commit")
"""What git runs and what can refuse a commit, the one that looks at no code first: githooks(5)."""

SECONDS = 60.0
"""For one hook; more where the machine is busy."""
SAID = 500
"""Characters of what a hook printed that are kept."""
PACK = "commits.pack"
MESSAGE = ".git/COMMIT_EDITMSG"

_PLACE = Path(__file__).with_name("runners") / "commit_place.sh"
_OBJECTS = """\
set -eu
git init -q --bare --template= . && mkdir -p objects/info
printf '%s\\n' "$1/.git/objects" > objects/info/alternates
git index-pack --stdin < commits.pack > /dev/null
"""


def asked_of_hooks(
    task: LoadedTask, session: Session, changes: ChangeSet, fresh: Callable[[], Session]
) -> ChangeSet:
    """Add what hooks say of the commits that stand in a session, where the task's rules ask.

    `fresh` gives the session in which they are asked. Raises as `Session.run` does.
    """
    git = changes.git
    if git is None or not git.commits or about_hooks(task.task) is None:
        return changes
    try:
        commits = pack(SessionFiles(session, task.worktree), git.commits)
    except GitProblem as problem:
        return changes.model_copy(update={"git": None, "git_problem": str(problem)})
    answers = _ask(fresh(), task.worktree, git, commits)
    return changes.model_copy(update={"git": git.model_copy(update={"asked": answers})})


def _ask(
    session: Session, worktree: str, change: GitChange, commits: bytes
) -> tuple[HookAnswer, ...]:
    testers = Testers(session)
    open_up(session, worktree)
    store = testers.new()
    session.write(f"{store.home}/{PACK}", commits, user=store.user)
    laid = session.run(
        Command(
            argv=("/bin/sh", "-c", _OBJECTS, "sh", worktree),
            cwd=store.home,
            environment={**ENVIRONMENT, **store.environment},
            user=store.user,
        )
    )
    answers: list[HookAnswer] = []
    for commit in change.commits:
        if laid.exit_code != 0:
            answers.append(_answer(commit, "", laid))
        else:
            place = _Place(session, testers, worktree, change, f"{store.home}/objects")
            answers += place.answers(commit)
    session.kill_all()
    session.run(Command(argv=("/bin/rm", "-rf", "--", *testers.emptied()), user=ROOT))
    return tuple(answers)


class _Place:
    """Where one commit is laid out, and the user whose place it is."""

    def __init__(
        self, session: Session, testers: Testers, worktree: str, change: GitChange, objects: str
    ) -> None:
        self._session, self._worktree, self._objects = session, worktree, objects
        self._tester = testers.new()
        self._folder = f"{self._tester.home}/{basename(worktree)}"
        self._branch = change.before.head

    def answers(self, commit: Commit) -> Iterator[HookAnswer]:
        """Ask each hook that is there."""
        names = ASKED_OF_MERGE if len(commit.parents) > 1 else ASKED
        parent = commit.parents[0] if commit.parents else ""
        told = (self._worktree, self._objects, self._branch, commit.id, parent, *names)
        script = 'mkdir "$1" && cd "$1" && shift && eval "$(cat)"'
        argv = ("/bin/sh", "-c", script, "sh", self._folder, *told)
        laid = self._run(argv, commit, self._tester.home, _PLACE.read_bytes())
        if laid.exit_code != 0:
            yield _answer(commit, "", laid)
            return
        for hook in laid.stdout.decode("utf-8", "surrogateescape").splitlines():
            name = basename(hook)
            message = (MESSAGE,) if name == "commit-msg" else ()
            # By a shell, since a hook that does not say by what it is run is a script of sh.
            argv = ("/bin/sh", "-c", '"$0" "$@"', hook, *message)
            yield _answer(commit, name, self._run(argv, commit, self._folder))

    def _run(self, argv: Sequence[str], commit: Commit, cwd: str, stdin: bytes = b"") -> Completed:
        name, _, rest = commit.author.partition(" <")
        address, _, date = rest.partition("> ")
        return self._session.run(
            Command(
                argv=tuple(argv),
                cwd=cwd,
                environment={
                    **ENVIRONMENT,
                    **self._tester.environment,
                    "GIT_CONFIG_GLOBAL": f"{HOME}/.gitconfig",
                    "GIT_AUTHOR_NAME": name,
                    "GIT_AUTHOR_EMAIL": address,
                    "GIT_AUTHOR_DATE": date,
                    "GIT_EDITOR": ":",
                    "GIT_INDEX_FILE": ".git/index",
                },
                user=self._tester.user,
                stdin=stdin,
                timeout=patient(SECONDS),
                kill_survivors=True,
            )
        )


def _answer(commit: Commit, hook: str, ended: Completed) -> HookAnswer:
    printed = (ended.stdout + ended.stderr)[-SAID:].decode("utf-8", "replace").strip()
    said = "It took too long." if ended.timed_out else printed
    return HookAnswer(commit=commit.id, hook=hook, exit_code=ended.exit_code, said=said)
