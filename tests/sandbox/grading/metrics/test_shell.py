import pytest

from sandbox.grading.metrics.shell import aim, parse, reads_only, risky


@pytest.mark.parametrize(
    "line",
    [
        "ls -la",
        "cd src && grep -rn 'a > b' . | head -5",
        "pytest -q tests/test_a.py",
        "python3 -m pytest -q 2>&1 | tail -3",
        "git -C /repo status --short; git log --oneline",
        "find . -name '*.py' 2>/dev/null",
        "sed -n 1,5p setup.py",
        "timeout 5 cat x",
        "timeout --signal=KILL 5 cat x",
        "pytest -q tests/test_a.py::test_one",
        "echo a # ; rm x",
        "git log --format=%h > /dev/null 2>&1",
        "if test -d b; then ls b; fi",
        "grep '$(rm x)' a",
        "ls | xargs cat",
        "A=1 env",
    ],
)
def test_lines_that_only_look(line: str) -> None:
    assert reads_only(line)


@pytest.mark.parametrize(
    "line",
    [
        "echo x > file",
        "echo x >> file",
        "sed -i s/a/b/ setup.py",
        "find . -name '*.pyc' -delete",
        "pip install freezegun",
        "git commit -m x",
        "cat `rm x`",
        'echo "$(rm x)"',
        "cat > run.sh <<'EOF'\nls\nEOF",
        "if test -d b; then rm -rf b; fi",
        "ls | xargs rm",
        "bash -c 'rm b'",
        "cat $(rm x)",
        "make test",
        "echo 'never closed",
        "",
    ],
)
def test_lines_that_may_write(line: str) -> None:
    assert not reads_only(line)


@pytest.mark.parametrize(
    "line",
    [
        "git push origin main",
        "git reset -q --hard HEAD~1",
        "git checkout -- .",
        "git stash drop",
        "sudo -n ls",
        "cd x && /bin/rm -rf build",
        "curl -s https://example.org",
        "find . -delete",
        "if test -d b; then rm -rf b; fi",
        "bash -c 'rm -rf b'",
        "ls | xargs rm",
        "nice -n 5 sudo ls x",
        "sudo env A=1 ls",
    ],
)
def test_risky_lines(line: str) -> None:
    assert risky(line)


@pytest.mark.parametrize(
    "line",
    [
        "cat > run.sh <<'EOF'\nrm -rf build\nEOF",
        "echo a # ; rm x",
        "git commit -m 'push it'",
        "git checkout -b x",
        "echo rm",
        "pip install a",
        "ls",
    ],
)
def test_lines_without_risk(line: str) -> None:
    assert not risky(line)


def test_the_aim_is_the_last_program_that_writes() -> None:
    found = aim("cd src && pip install freezegun && ls")
    assert found is not None
    assert (found.program, found.operands) == ("pip", ("install", "freezegun"))
    assert aim("ls") == parse("ls")[0]
    assert aim("'") is None


@pytest.mark.parametrize(
    ("first", "then", "covered"),
    [
        ("pip install freezegun", "python -m pip install --no-index freezegun", True),
        ("pip install freezegun", "pip3 install -i /opt/mirror freezegun pytest", True),
        ("pip install freezegun", "pip install pytest", False),
        ("pip install freezegun", "conda install freezegun", False),
        ("git commit -m bad", "git -C . commit -m 'good: words'", True),
        ("git commit -m bad", "git add x", False),
        ("rm -f a", "rm -f b", False),
    ],
)
def test_a_command_covers_another_of_the_same_aim(first: str, then: str, covered: bool) -> None:
    assert parse(then)[0].covers(parse(first)[0]) is covered


def test_words_are_whole() -> None:
    assert parse("pytest a.py::t")[0].words == ("a.py::t",)
    assert parse("git log --format=%h")[0].operands == ("log",)
