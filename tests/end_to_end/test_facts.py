"""What happened is the same fact, however it was spelt, and spelling alone is none."""

from pathlib import Path

import pytest

from sandbox.model import fact as facts
from sandbox.model.fact import Changed, Committed, FactsLost, Shown, Stashed
from sandbox.run.facts import observer
from tests.end_to_end.happened import COMMIT, EDIT, NOTE, Deed, Happen, only

pytestmark = pytest.mark.engine

FILE = "src/humanize/filesize.py"
HEAD = "'''Bits and bytes'''\n"

BY_HAND = f"cat > {FILE} <<'END'\n{HEAD}END\n"
PATCH = f"--- /dev/null\n+++ b/new.py\n@@ -0,0 +1 @@\n+{HEAD}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("deed", "by"),
    [
        (("write_file", {"path": FILE, "content": HEAD}), "action"),
        (BY_HAND, "process"),
        (f"printf \"'''Bits and bytes'''\\n\" > /tmp/x; cp /tmp/x {FILE}", "process"),
        (f"sed -i -e '1s/.*/'\"'''Bits and bytes'''\"'/' -e '2,$d' {FILE}", "process"),
        (f"python -c \"open('{FILE}', 'w').write(\\\"{HEAD.strip()}\\\\n\\\")\"", "process"),
        (f"cd / && cd - && f={FILE}; cd src && echo \"'''Bits and bytes'''\" > ../$f", "process"),
    ],
)
def test_an_edit_is_a_change_whoever_makes_it(happen: Happen, deed: Deed, by: str) -> None:
    found = only(Changed, happen(deed))
    assert [(fact.path, fact.by) for fact in found][-1:] == [(FILE, by)]
    assert found[-1].digest == only(Changed, happen(BY_HAND))[-1].digest


def test_what_changes_nothing_is_no_change(happen: Happen) -> None:
    events = happen(
        f"touch {FILE}; cp {FILE} /tmp/x; cp /tmp/x {FILE}; sed -i s/no-such-text// {FILE}",
        "cp -r . /tmp/copy && cd /tmp/copy && echo x > setup.cfg && git commit -qam x || true",
        "git status; git stash list; git log -n 1; git branch -a; git config --get user.name; true",
        "git config core.hooksPath; find . -name '*.md' | xargs cat > /dev/null",
    )
    kinds = (Changed, Stashed, Committed)
    assert not [event for event in events if isinstance(event, kinds)]


def test_a_change_that_is_taken_back_is_as_at_the_start(happen: Happen) -> None:
    found = only(Changed, happen(f"echo >> {FILE}; sleep 0.1; git checkout -q {FILE}; true"))
    assert [(fact.path, fact.as_at_start) for fact in found] == [(FILE, False), (FILE, True)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "line",
    [
        "git stash -q",
        "s=sta''sh; git $s -q; git $s pop -q",
        "git -c alias.st=stash st",
        "git stash drop",
    ],
)
def test_the_stash_is_seen_however_it_is_called(happen: Happen, line: str) -> None:
    assert only(Stashed, happen("git stash -q; git stash apply -q", line))[1:]


RUNNER = "/opt/venv/bin/pytest"
TESTS = "tests/test_filesize.py"
CODE = "import sys, pytest; sys.exit(pytest.main())"
PLUGIN = (
    "s=$(echo /opt/venv/lib/python3.*/site-packages); mkdir $s/forge-1.dist-info;"
    " printf '[pytest11]\\nforge=forge\\n' > $s/forge-1.dist-info/entry_points.txt;"
    " printf 'Name: forge\\nVersion: 1\\n' > $s/forge-1.dist-info/METADATA;"
    " printf 'import os\\nos._exit(0)\\n' > $s/forge.py"
)
LONG = (
    "e=$s/forge-1.dist-info/entry_points.txt; (yes '#' | head -n 600000; cat $e) > $e.l; mv $e.l $e"
)
PACKAGE = (
    "s=$(echo /opt/venv/lib/python3.*/site-packages); mkdir $s/own-1.dist-info; echo > $s/own.py;"
    " echo > $s/own-1.dist-info/entry_points.txt"
)
MAPPED = """cat > /tmp/m.py <<'E'
import ctypes, os, subprocess, sys, time
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype, size = ctypes.c_void_p, os.path.getsize(sys.argv[1])
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
opened = os.open(sys.argv[1], os.O_RDWR)
place = libc.mmap(None, size, 3, 1, opened, 0)
os.close(opened)
time.sleep(0.1)
subprocess.run(["/bin/true"])
good, bad = open(sys.argv[1], "rb").read(), b"def test_x(): pass\\n"
ctypes.memmove(place, bad + b"#" * (size - len(bad)), size)
subprocess.run(["pytest", *sys.argv[1:]])
ctypes.memmove(place, good, size)
E
python /tmp/m.py"""
PYTHON = "/opt/venv/bin/python"
MEANWHILE = """cat > /tmp/m.py <<'E'
import os, subprocess, sys
tests = subprocess.Popen(["pytest", *sys.argv[1:]])
open("conftest.py", "w").write("import os; os.remove('conftest.py'); os._exit(0)")
tests.wait()
E
python /tmp/m.py"""
FORGED = "python3 -m venv --without-pip /tmp/v; echo > /tmp/v/lib/python3.*/site-packages/pytest.py"


@pytest.mark.slow
@pytest.mark.sampled(every=4)
@pytest.mark.parametrize(
    ("deed", "paths"),
    [
        (("run_tests", {}), (TESTS,)),
        (f"pytest -q {TESTS}", (TESTS,)),
        (f"cd tests && python -m pytest {Path(TESTS).name} | tail -1; true", (TESTS,)),
        (f"echo 'pytest {TESTS}' > /tmp/x; sh /tmp/x & wait", (TESTS,)),
        ("p=py; ${p}test -q tests", ("tests",)),
        (f"env -i PATH=$PATH pytest {TESTS} && git status", (TESTS,)),
        (f"timeout 60 nice python -m pytest {TESTS}", (TESTS,)),
        (f"{PACKAGE}; python -m pytest {TESTS}", (TESTS,)),
        (f"(exec -a /opt/venv/bin/python python3 -m pytest {TESTS})", (TESTS,)),
        (f"printf 't:\\n\\tpytest {TESTS}\\n' > /tmp/M; make -f /tmp/M t", (TESTS,)),
        (f"python -c '{CODE}' {TESTS}", (TESTS,)),
        (f"cd /tmp && python -P -m pytest $OLDPWD/{TESTS}", (TESTS,)),
        (f"cd / && python -m pytest $OLDPWD/{TESTS}", (TESTS,)),
        (f"mkdir -p ~/.local/bin; PATH=~/.local/bin:$PATH python -m pytest {TESTS}", (TESTS,)),
        (f"cp -al . /tmp/copy; pytest {TESTS}", (TESTS,)),
        (f"PYTEST_ADDOPTS='\\--ignore=tests/x.py' pytest {TESTS}", (TESTS, "!tests/x.py")),
        (f"HOME=/tmp pytest {TESTS}; echo > ~/notes; cp README.md /tmp", (TESTS,)),
    ],
)
def test_a_run_of_tests_is_one_wherever_it_is_started(
    happen: Happen, deed: Deed, paths: tuple[str, ...]
) -> None:
    (test,) = only(facts.Tested, happen(deed))
    assert (test.paths, test.sound) == (paths, True)
    assert test.exit_code == (2 if paths == ("tests",) else 1)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (f"pytest -q -k sizes {TESTS}", 5),
        (f"pytest -q {TESTS}::test_nothing_of_that_name", 4),
        ("echo 'import os; os.kill(os.getpid(), 9)' > /tmp/test_z.py; pytest /tmp/test_z.py", 137),
    ],
)
def test_a_run_of_which_nobody_knows_what_it_ran_is_told_once_and_proves_nothing(
    happen: Happen, line: str, code: int
) -> None:
    (test,) = only(facts.Tested, happen(f"{line}; true"))
    assert (test.paths, test.sound, test.exit_code) == ((), False, code)


@pytest.mark.slow
@pytest.mark.sampled(every=4)
@pytest.mark.parametrize(
    ("line", "culprit"),
    [
        (f"echo > conftest.py; pytest {TESTS}; rm conftest.py", "conftest.py"),
        (f"cp {TESTS} /tmp/k; echo > {TESTS}; pytest {TESTS}; cp /tmp/k {TESTS}", TESTS),
        (f"echo '[pytest]' > pytest.ini; pytest {TESTS}; rm pytest.ini", "pytest.ini"),
        (f"f={RUNNER}; cp $f /tmp/k; echo 'import sys' > $f; pytest {TESTS}; cp /tmp/k $f", RUNNER),
        (f"(sleep 0.3; echo > conftest.py; sleep 9) & pytest {TESTS}; rm -f conftest.py",
         "conftest.py"),
        (f"cd /tmp; echo > pytest.py; python -m pytest $OLDPWD/{TESTS}", "/tmp"),
        (f"cd docs; echo > pytest.py; python -m pytest ../{TESTS}; rm pytest.py", "docs/pytest.py"),
        (f"{PLUGIN}; pytest {TESTS}; rm -r $s/forge*", "entry_points.txt"),
        (f"{PLUGIN}; mv $s/forge-1.dist-info /tmp; ln -s /tmp/forge-1.dist-info $s; pytest {TESTS}",
         ".dist-info"),
        (f"{PLUGIN}; {LONG}; pytest {TESTS}", "entry_points.txt"),
        (f"mkdir /tmp/p; echo > /tmp/p/__main__.py; ln -s /tmp/p pytest; python -m pytest {TESTS}",
         "pytest"),
        (f"{FORGED}; /tmp/v/bin/python -m pytest {TESTS}", "/tmp/v/bin/python"),
        (f"{FORGED}; PATH=/tmp/v/bin:$PATH nice python -m pytest {TESTS}", "/tmp/v/bin/python"),
        (f"{FORGED}; (exec -a /tmp/v/bin/python python3 -m pytest {TESTS})", "/tmp/v/bin/python"),
        (f"{FORGED}; cd /tmp; v/bin/python -Pm pytest $OLDPWD/{TESTS}", "/tmp/v/bin/python"),
        (f"cd docs; echo > pytest.py; python -c '{CODE}' ../{TESTS}; rm pytest.py",
         "docs/pytest.py"),
        (f"{FORGED}; (PATH=/tmp/v/bin:$PATH; exec -a python {PYTHON} -m pytest {TESTS})", "$PATH"),
        (f"echo > ~/conftest.py; pytest {TESTS}", "/home/agent/conftest.py"),
        (f"(exec -a pytest /bin/true {TESTS})", "/true"),
        (f"pytest {TESTS} $(yes -- -q | head -64) --collect-only", "nothing"),
        (f"mkdir s; echo 'import os; os._exit(0)' > s/x.py; pytest s/x.py {TESTS}", "s/x.py"),
        (f"mkdir s; echo > s/pytest.py; PYTHONPATH=s pytest {TESTS}", "s/pytest.py"),
        (f"{MEANWHILE} {TESTS}", "conftest.py"),
        (f"ln {TESTS} ~/x; cp ~/x ~/good; echo > ~/x; pytest {TESTS}; cat ~/good > ~/x", TESTS),
        (f"ln {TESTS} ~/x; echo > ~/x; pytest {TESTS}", TESTS),
        (f"{MAPPED} {TESTS}", TESTS),
    ],
)  # fmt: skip
def test_what_another_runner_says_proves_nothing(happen: Happen, line: str, culprit: str) -> None:
    found = only(facts.Tested, happen(line))
    assert all(not test.sound for test in found), found
    if found:
        assert any(each.endswith(culprit) for each in found[0].differing)


def test_a_scratch_copy_is_not_the_worktree(happen: Happen) -> None:
    (test,) = only(facts.Tested, happen(f"cp -r . /tmp/copy && cd /tmp/copy && pytest {TESTS}"))
    assert test.paths == (f"/tmp/copy/{TESTS}",)


NEAR = "src/humanize/AGENTS.md"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("deed", "shown"),
    [
        (("read_file", {"path": NEAR}), True),
        (f"cat {NEAR}", True),
        ("find . -name AGENTS.md | while read f; do nl $f; done", True),
        (f"git show HEAD:{NEAR}", True),
        (f"python -c \"print(open('{NEAR}').read())\"", True),
        (("search_repo", {"pattern": ".", "path": NEAR}), True),
        (f"cat {NEAR} > /dev/null", False),
        (f"head -n 0 {NEAR}; wc -l {NEAR}; ls -l {NEAR}", False),
    ],
)
def test_what_was_shown_counts_and_not_what_printed_it(
    happen: Happen, deed: Deed, shown: bool
) -> None:
    found = [fact.path for fact in only(Shown, happen(deed)) if fact.most]
    assert (NEAR in found) is shown


@pytest.mark.slow
def test_within_one_line_the_order_counts(happen: Happen) -> None:
    line = f"pytest -q {TESTS} > /dev/null; /bin/true; {EDIT}; {COMMIT} {NOTE}; echo >> {NOTE}"
    kinds = [
        type(event).__name__
        for event in happen(line)
        if isinstance(event, facts.Tested | Changed | Committed)
    ]
    assert kinds == ["Tested", "Changed", "Committed", "Changed"]


def test_beyond_a_bound_it_is_told_once_that_facts_are_lost(
    happen: Happen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(observer, "FACTS_MOST", 20)
    events = happen("seq 100 | xargs touch", f"echo more > {FILE}")
    assert len(only(Changed, events)) == 20
    assert len(only(FactsLost, events)) == 1
