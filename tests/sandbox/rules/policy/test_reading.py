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
}


def calls(*words: str) -> tuple[Invocation, ...]:
    started = Started(program=words[0], words=words[1:], called=words[0], resolved="", cwd="/")
    return readings(started, shipped(), lambda _: None)


def reads(*words: str) -> bool:
    return all(only_reads(call) for call in calls(*words))


WORDS = {"[!-]*.*": "user.name", "[!-]*": "main", "**": ""}


def spelt(program: str) -> list[tuple[str, ...]]:
    """Each form of the table, with words in place of globs."""
    found = []
    for pattern in table().programs[program]:
        places = [[WORDS.get(word, word) for word in words] for words in pattern]
        found += [(program, *filter(None, words)) for words in itertools.product(*places)]
    return found


@pytest.fixture
def repository(tmp_path: Path) -> Path:
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
    """Everything there, the index left out: looking refreshes what it knows of times."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "index"
    }


@pytest.mark.parametrize("words", spelt("git") + spelt("npm"), ids=" ".join)
def test_what_the_table_calls_reading_changes_nothing(
    repository: Path, words: tuple[str, ...]
) -> None:
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
        "git -C /tmp stash list",
        "npm ci --dry-run",
        "npm clean-install --dry-run",
        "pip3 list",
    ],
)
def test_help_and_other_names_of_a_call_are_reading(line: str) -> None:
    assert reads(*line.split())
