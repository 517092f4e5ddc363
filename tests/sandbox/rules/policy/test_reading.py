"""Calls that only read, tried with the real programs."""

import itertools
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from sandbox.model.shell.reader import Started
from sandbox.model.shell.table import shipped
from sandbox.rules.policy.invocation import Invocation, readings
from sandbox.rules.policy.reading import only_reads, table

ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_SYSTEM": "/dev/null",
    "GIT_PAGER": "cat",
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org",
    "npm_config_offline": "true",
    "PIP_NO_INDEX": "1",
}


def calls(*words: str) -> tuple[Invocation, ...]:
    started = Started(program=words[0], words=words[1:], called=words[0], resolved="", cwd="/")
    return readings(started, shipped(), lambda _: None)


def reads(*words: str) -> bool:
    return all(only_reads(call) for call in calls(*words))


# Words in place of globs, which have to be such that a call has something to do.
WORDS = {
    "[!-]*.*": "user.name",
    "[!-]*": "main",
    "--type=*": "--type=path",
    "--file=*": "--file=.git/config",
    "--sort=*": "--sort=refname",
    "--format=*": "--format=x",
    "--force-with-lease*": "--force-with-lease",
    "-n[0-9]*": "-n1",
}
# What else is asked of the forms that take whatever options there are.
BEHIND = {
    "log": ["-p --all", "--oneline -n 1", "-S core.hooksPath"],
    "diff": ["--cached", "--stat HEAD", "--no-index main untracked"],
    "show": ["--stat HEAD", "stash@{0}:main"],
    "status": ["--short --branch", "--porcelain=v2"],
    "grep": ["-n one", "--cached -e one HEAD"],
    "stash list": ["--date=iso", "-p"],
    "stash show": ["-p stash@{0}", "--stat --include-untracked"],
    "reflog show": ["-5 --date=iso", "refs/stash"],
    "cat-file": ["-p HEAD:main", "--batch-all-objects --batch-check"],
    "for-each-ref": ["--format=%(refname)"],
}


def spelt(program: str) -> list[tuple[str, ...]]:
    """Each form of the table, with words in place of globs, and with each option it may have."""
    found = dict[tuple[str, ...], None]()

    def word(glob: str) -> str:
        return WORDS.get(glob, glob.replace("=*", "=main"))

    for form in (*table().programs[program], *table().help.get(program, ())):
        for called in itertools.product(*([word(glob) for glob in globs] for globs in form.call)):
            begun = (program, *called)
            for has in map(word, form.has or ("",)):
                found[tuple(filter(None, (*begun, has)))] = None
                for option in (word(glob) for glob in form.only if glob != "*"):
                    found[tuple(filter(None, (*begun, has, option)))] = None
            for more in BEHIND.get(" ".join(called), []):
                found[(*begun, *more.split())] = None
    return list(found)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tmp_path = tmp_path_factory.mktemp("reading")
    folder = tmp_path / "work"

    def git(*words: str, cwd: Path = folder) -> None:
        subprocess.run(["git", *words], cwd=cwd, env=ENVIRONMENT, check=True, capture_output=True)

    git("init", "-q", "--bare", "-b", "main", str(tmp_path / "remote"), cwd=tmp_path)
    git("init", "-q", "-b", "main", str(folder), cwd=tmp_path)
    (folder / "main").write_text("one\n")
    (folder / "package.json").write_text('{"name": "x", "version": "1.0.0"}\n')
    git("add", "-A")
    git("commit", "-qm", "First")
    git("remote", "add", "origin", str(tmp_path / "remote"))
    (folder / "main").write_text("two\n")
    git("stash", "-q")
    (folder / "main").write_text("three\n")
    (folder / "untracked").write_text("mine\n")
    return tmp_path


def state(folder: Path) -> dict[str, bytes]:
    """Everything there, but for the index, in which looking refreshes what it knows of times, and
    objects, of which a commit that is only tried leaves some that nothing names.
    """
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "index" and "objects" not in path.parts
    }


@pytest.mark.slow
@pytest.mark.parametrize("words", spelt("git"), ids=" ".join)
def test_what_the_table_calls_reading_changes_nothing(
    repository: Path, words: tuple[str, ...]
) -> None:
    look(repository, words)


@pytest.mark.slow
@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("words", [*spelt("npm"), *spelt("pip")], ids=" ".join)
def test_what_package_managers_only_look_at_stays_as_it_is(
    repository: Path, words: tuple[str, ...]
) -> None:
    look(repository, words)


def look(repository: Path, words: tuple[str, ...]) -> None:
    assert reads(*words), words
    program = shutil.which(words[0])
    if program is None:
        pytest.skip(f"{words[0]} is not installed")
    before = state(repository / "work"), state(repository / "remote")
    subprocess.run(
        [program, *words[1:]],
        cwd=repository / "work",
        env=ENVIRONMENT | {"HOME": str(repository / "home")},
        check=False,
        capture_output=True,
        stdin=subprocess.DEVNULL,
    )
    assert (state(repository / "work"), state(repository / "remote")) == before


@pytest.mark.parametrize(
    "line",
    [
        "git push",
        "git push origin main",
        "git push --dry-run -o main",
        "git -c clean.requireForce=false clean -d -- -n .",
        "git add -- -n new",
        "git rm -f -- -n a",
        "git bisect start -h",
        "npm rebuild --dry-run",
        "npm install --dry-run",
        "npm ci --dry-run",
        "pip --log=x list",
        "pip --log x freeze",
        "git log --output=main",
        "git diff --outp main",
        "git stash show -p --output main",
        "git grep -Ovim one",
        "git grep -nOvim one",
        "git grep --open-files-in-pager=vim one",
        "git clean -f -e -n",
        "git clean -n -i",
        "git commit --dry-run -m --dry-run",
        "git branch -v new",
        "git branch -d --list main",
        "git tag -a v1 -n",
        "git tag -d -l v1",
        "git config -f --get x.y z",
        "git config --get-all x.y --replace-all",
        "git remote get-url --add x",
        "git worktree add x",
        "npm exec x",
        "npx x --help",
        "ssh host --help",
        "python x.py --help",
        "pip config set x y",
        "pip list --log x",
        "git push -o --dry-run origin main",
        "git push --dry-run --no-dry-run",
        "git push origin main -o -n",
        "git commit",
        "git commit -m --dry-run",
        "git commit -m --help",
        "git stash",
        "git stash push list",
        "git stash pop",
        "git stash drop",
        "git config core.hooksPath /tmp",
        "git config --get core.hooksPath --unset",
        "git config --unset core.hooksPath",
        "git config --edit",
        "git clean -f",
        "git clean -nf",
        "git checkout -- .",
        "git branch new",
        "git branch -D main",
        "git tag v1",
        "git remote add x y",
        "git rm main",
        "git reflog expire --all",
        "npm ci",
        "npm install --dry-run x",
        "pip install x",
        "pip install --dry-run -e .",
    ],
)
def test_what_changes_is_not_reading(line: str) -> None:
    assert not reads(*line.split())


@pytest.mark.parametrize(
    "line",
    [
        "git --version",
        "git commit --help",
        "git push -h",
        "git help push",
        "git stash push -h",
        "git log -S core.hooksPath",
        "git -c core.hooksPath=/tmp log -1",
        "git clean -n -d",
        "git clean -nd -- src",
        "git commit --dry-run -a",
        "git push --dry-run --tags origin main",
        "git branch --contains HEAD",
        "npm install -h",
        "npm view x version",
        "pip index versions x",
        "pip -V",
        "curl --version",
        "pytest --version",
        "git -C /tmp stash list",
        "npm ci --dry-run --ignore-scripts",
        "npm clean-install --ignore-scripts --dry-run",
        "pip3 list",
    ],
)
def test_help_and_other_names_of_a_call_are_reading(line: str) -> None:
    assert reads(*line.split())
