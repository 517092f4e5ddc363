"""The hooks of the start, asked about the commits of a run in a container that nobody used.

While a run goes on it can be seen that git ran them and that they agreed, and not to what: an index
may change after `pre-commit` has looked, or a message after `commit-msg`. Here they are asked about
what was delivered, each commit in a place and as a user of its own, before anything else of the
candidate is there.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from posixpath import basename

from graders.commit_hooks import about_hooks
from sandbox.container.changes.git_files import GitProblem, SessionFiles
from sandbox.container.changes.git_pack import pack
from sandbox.container.engines.base import Session
from sandbox.grading.patience import patient
from sandbox.grading.testers import HOMES, NUMBERS, Tester, Testers, open_up
from sandbox.model.agent_environment import ENVIRONMENT
from sandbox.model.change import ChangeSet, Commit, GitChange, HookAnswer
from sandbox.model.session import HOME, ROOT, Command, Completed
from sandbox.tasks.library import LoadedTask

ASKED = ("commit-msg", "pre-commit")
ASKED_OF_MERGE = ("commit-msg", "pre-merge-commit")
"""What git runs and what can refuse a commit, the one that looks at no code first: githooks(5)."""

SECONDS, ALL_SECONDS = 60.0, 600.0
"""For one hook, and for all together; more where the machine is busy."""
COMMITS = 250
"""So many are asked about."""
SAID = 500
"""Characters of what a hook printed that are kept."""
NAMED = 1000
"""Characters of an author or a date that a hook is told."""
OTHER_LOCALE = {"LC_ALL": "C"}
PACK = "commits.pack"
MESSAGE = ".git/COMMIT_EDITMSG"
SHARED = (*HOMES, "/dev/shm")  # noqa: S108 - of the grading container
"""Where anybody may leave something."""

_PLACE = Path(__file__).with_name("runners") / "commit_place.sh"
_OBJECTS = """\
set -eu
git init -q --bare --template= . && mkdir -p objects/info
printf '%s\\n' "$1/.git/objects" > objects/info/alternates
git index-pack --stdin < commits.pack > /dev/null
"""


def are_to_be_asked(task: LoadedTask, changes: ChangeSet) -> bool:
    """Whether there are commits, and a hard rule of the task speaks of hooks."""
    return bool(changes.git and changes.git.commits and about_hooks(task.task))


def asked_of_hooks(
    task: LoadedTask, session: Session, changes: ChangeSet, fresh: Session
) -> ChangeSet:
    """Add what hooks say in a fresh session of the commits that stand in another.

    Raises as `Session.run` does.
    """
    git = changes.git
    if git is None:
        return changes
    try:
        commits = pack(SessionFiles(session, task.worktree), git.commits)
    except GitProblem as problem:
        return changes.model_copy(update={"git": None, "git_problem": str(problem)})
    answers = tuple(_Asking(fresh, task.worktree, git).answers(commits))
    return changes.model_copy(update={"git": git.model_copy(update={"asked": answers})})


class _Asking:
    """The commits of one run, in a session that nobody used."""

    def __init__(self, session: Session, worktree: str, change: GitChange) -> None:
        self._session, self._worktree, self._change = session, worktree, change
        self._testers = Testers(session)
        self._store = self._testers.new()
        self._until = time.monotonic() + patient(ALL_SECONDS)

    def answers(self, commits: bytearray) -> Iterator[HookAnswer]:
        """Ask each hook that is there about each commit; nothing is left of it."""
        open_up(self._session, self._worktree)
        laid = self._laid(commits)
        for number, commit in enumerate(self._change.commits, 1):
            if laid.exit_code != 0:
                yield _answer(commit, "", laid)
            elif number > COMMITS:
                said = f"There are more than {COMMITS} new commits."
                yield HookAnswer(commit=commit.id, hook="", exit_code=None, said=said)
            else:
                yield from self._of(commit)
        self._session.kill_all()
        users = f"+{NUMBERS.start - 1}"
        left = ("/usr/bin/find", *SHARED, "-xdev", "-mindepth", "1", "-uid", users, "-delete")
        self._session.run(Command(argv=left, user=ROOT))

    def _laid(self, commits: bytearray) -> Completed:
        store = self._store
        self._session.write(f"{store.home}/{PACK}", commits, user=store.user)
        argv = ("/bin/sh", "-c", _OBJECTS, "sh", self._worktree)
        environment = {**ENVIRONMENT, **store.environment}
        return self._session.run(
            Command(argv=argv, cwd=store.home, environment=environment, user=store.user)
        )

    def _of(self, commit: Commit) -> tuple[HookAnswer, ...]:
        """Ask about one; where its hooks refuse it, in the other locale that an image has, too.

        Which bytes are letters depends on it, and an agent may commit under either.
        """
        answers = tuple(self._in_place(commit, {}))
        if all(answer.exit_code == 0 for answer in answers):
            return answers
        again = tuple(self._in_place(commit, OTHER_LOCALE))
        return again if all(answer.exit_code == 0 for answer in again) else answers

    def _in_place(self, commit: Commit, locale: Mapping[str, str]) -> Iterator[HookAnswer]:
        tester = self._testers.new()
        folder = f"{tester.home}/{basename(self._worktree)}"
        names = (*ASKED_OF_MERGE, "pre-commit") if len(commit.parents) > 1 else ASKED
        told = (self._worktree, f"{self._store.home}/objects", self._change.before.head)
        script = 'mkdir "$1" && cd "$1" && shift && eval "$(cat)"'
        parents = " ".join(commit.parents)
        argv = ("/bin/sh", "-c", script, "sh", folder, *told, commit.id, parents, *names)
        laid = self._run(argv, commit, tester, locale, tester.home, _PLACE.read_bytes())
        if laid.exit_code != 0:
            yield _answer(commit, "", laid)
        else:
            for hook in laid.stdout.decode("utf-8", "surrogateescape").splitlines():
                name = basename(hook)
                message = (MESSAGE,) if name == "commit-msg" else ()
                # By a shell, since a hook that does not say by what it is run is a script of sh.
                argv = ("/bin/sh", "-c", '"$0" "$@"', hook, *message)
                yield _answer(commit, name, self._run(argv, commit, tester, locale, folder))
        self._session.run(Command(argv=("/bin/rm", "-rf", "--", tester.home), user=ROOT))

    def _run(
        self,
        argv: Sequence[str],
        commit: Commit,
        tester: Tester,
        locale: Mapping[str, str],
        cwd: str,
        stdin: bytes = b"",
    ) -> Completed:
        return self._session.run(
            Command(
                argv=tuple(argv),
                cwd=cwd,
                environment={
                    **ENVIRONMENT,
                    **tester.environment,
                    **locale,
                    **_author(commit),
                    "GIT_CONFIG_GLOBAL": f"{HOME}/.gitconfig",
                    "GIT_EDITOR": ":",
                    "GIT_INDEX_FILE": ".git/index",
                },
                user=tester.user,
                stdin=stdin,
                timeout=max(0.1, min(patient(SECONDS), self._until - time.monotonic())),
                kill_survivors=True,
            )
        )


def _author(commit: Commit) -> dict[str, str]:
    """Give what git tells a hook of a commit's author, where it can be told."""
    name, _, rest = commit.author.partition(" <")
    address, _, date = rest.partition("> ")
    parts = {"NAME": name, "EMAIL": address, "DATE": date}
    return {
        f"GIT_AUTHOR_{part}": value
        for part, value in parts.items()
        if len(value) <= NAMED and "\0" not in value
    }


def _answer(commit: Commit, hook: str, ended: Completed) -> HookAnswer:
    printed = (ended.stdout + ended.stderr)[-SAID:].decode("utf-8", "replace").strip()
    said = "It took too long." if ended.timed_out else printed
    return HookAnswer(commit=commit.id, hook=hook, exit_code=ended.exit_code, said=said)
