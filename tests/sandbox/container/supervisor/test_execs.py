"""Execs that are seen: what is told of them, in which order and until when."""

import itertools
import os
import signal
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sandbox.model.session import Exec, ExecOutcome
from tests.sandbox.container.supervisor.local import SELF, Start
from tests.sandbox.container.supervisor.watched import Watched, as_root, copied, watched


def test_all_that_a_command_starts_is_seen_in_order(each: Watched) -> None:
    done = each.shell("cd /; cat /dev/null; (sh -c 'exit 3'); env A=1 false; kill -9 $$")
    assert done.signal == signal.SIGKILL
    recorder = each.recorder
    assert recorder.names == ["sh", "cat", "sh", "env", "false"]
    first, cat = recorder.all[0], recorder.one("cat")
    assert first.arguments == (b"/bin/sh", b"-c", first.arguments[2])
    assert (first.first, cat.first) == (True, False)
    assert cat.arguments == (b"cat", b"/dev/null")
    assert (cat.cwd, cat.parent, cat.uid) == (b"/", first.pid, each.user.uid)
    assert cat.resolved == os.fsencode(os.path.realpath("/bin/cat"))
    assert {one.tag for one in recorder.all} == {"tag"}
    ends = [recorder.ends[one.number] for one in recorder.all]
    assert [end.exit_code for end in ends] == [None, 0, 3, None, 1]
    assert [end.signal for end in ends] == [9, None, None, None, None]
    assert ends[3].outcome is ExecOutcome.REPLACED
    assert all(end.seconds >= 0 for end in ends)


NAMED = "cat /dev/stdin; echo out > /dev/stdout; echo error | tee -a /dev/stderr >&2"


def test_a_command_opens_its_own_streams_by_name(each: Watched) -> None:
    done = each.shell(NAMED, stdin=b"typed\n")
    assert (done.stdout, done.exit_code) == (b"typed\nout\n", 0)
    assert done.stderr == b"error\nerror\n"


@as_root
def test_what_a_command_prints_is_read_by_none_but_the_host(each: Watched) -> None:
    another = each.user != SELF  # who is root may open whatever there is
    opened = each.shell("for one in 1 2; do (: < /proc/$$/fd/$one) && echo opened; done")
    assert opened.stdout == (b"" if another else b"opened\nopened\n")
    assert opened.stderr.count(b"Permission denied") == 2 * another
    # The streams of a command that is not seen, such as a grader's, are its user's to use alone.
    unseen = each.local.shell(NAMED, user=each.user, stdin=b"typed\n")
    assert unseen.stderr.count(b"denied") == 3 * another, unseen


def test_variables_that_change_what_a_program_does_are_told(each: Watched) -> None:
    line = "A=1 PYTHONPATH=/tmp/x npm_config_script_shell=/bin/true PYTEST_ADDOPTS= /bin/true; :"
    assert each.shell(line).exit_code == 0
    told = each.recorder.one("true").environment
    assert sorted(told) == [
        b"PYTEST_ADDOPTS=",
        b"PYTHONPATH=/tmp/x",
        b"npm_config_script_shell=/bin/true",
    ]
    assert each.recorder.one("sh").environment == ()


@pytest.fixture
def folders() -> Iterator[tuple[str, str]]:
    """Two folders with a `python` each, for any user; it stands for Python, which is not needed."""
    with tempfile.TemporaryDirectory() as above:
        Path(above).chmod(0o755)
        made = f"{above}/first", f"{above}/second"
        for folder in made:
            Path(folder).mkdir()
            Path(folder, "python").symlink_to("/bin/true")
        yield made


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("PATH=FIRST:$PATH python", False),
        ("PATH=FIRST/:$PATH python", False),
        ("PATH=/no:SECOND python", False),
        ("cd FIRST; PATH=.:SECOND python", False),
        ("cd FIRST; PATH=:SECOND python", False),
        ("(PATH=FIRST; exec -a perl SECOND/python)", False),
        ("(PATH=FIRST; exec -a SECOND/python SECOND/python)", False),
        ("(PATH=/no; exec -a python SECOND/python)", False),
        ("(PATH=FIRST; exec -a python SECOND/python)", True),
        ("(PATH=/no:FIRST:SECOND; exec -a python SECOND/python)", True),
        (f"(PATH=/{'x' * 5000}:FIRST; exec -a python SECOND/python)", True),
        (f"(PATH={'/no:' * 2100}FIRST; exec -a python SECOND/python)", True),
        (f"PATH={'/no:' * 1900}SECOND python", False),
        ("cd FIRST; (PATH=.; exec -a python SECOND/python)", True),
        ("cd FIRST; (PATH=:; exec -a python SECOND/python)", True),
    ],
)
def test_path_is_told_where_python_would_find_itself_elsewhere_by_it(
    each: Watched, folders: tuple[str, str], line: str, told: bool
) -> None:
    first, second = folders
    line = line.replace("FIRST", first).replace("SECOND", second)
    assert each.run("bash", "-c", f"{line}; exit $?").exit_code == 0
    names = [name.partition(b"=")[0] for name in each.recorder.one("python").environment]
    assert names == ([b"PATH"] if told else [])


def test_a_home_of_ones_own_is_told(each: Watched) -> None:
    assert each.shell("HOME=/tmp/h /bin/true; HOME=/home/agent /bin/false; :").exit_code == 0
    assert each.recorder.one("true").environment == (b"HOME=/tmp/h",)
    assert each.recorder.one("false").environment == ()


def test_many_and_long_variables_are_cut_and_lose_nothing_else(each: Watched) -> None:
    line = f"export LD_AUDIT={'x' * 5000} PYTHONPATH=/tmp/x B={'y' * 100000}; /bin/true; :"
    assert each.shell(line).exit_code == 0
    told = each.recorder.one("true")
    assert sorted(map(len, told.environment)) == [len(b"PYTHONPATH=/tmp/x"), 1023]
    assert told.environment_truncated


def test_it_is_said_where_more_variables_tell_than_are_told(each: Watched) -> None:
    spelt = map("".join, itertools.product(*zip("npm", "NPM", strict=True)))
    few = " ".join(f"{name}_config_{of}config=" for name in spelt for of in ("user", "global"))
    line = f"env {few} /bin/true; env {few} PYTHONPATH=/tmp/x /bin/false"
    assert each.shell(line).exit_code == 1
    told = each.recorder.one("true"), each.recorder.one("false")
    assert [one.environment_truncated for one in told] == [False, True]


def test_names_count_in_either_case_for_npm_alone(each: Watched) -> None:
    line = "Npm_Config_Userconfig=x pythonpath=/tmp/x Makeflags=n /bin/true; :"
    assert each.shell(line).exit_code == 0
    assert each.recorder.one("true").environment == (b"Npm_Config_Userconfig=x",)


def test_what_is_not_found_is_an_error_as_ever_and_not_seen(each: Watched) -> None:
    with pytest.raises(FileNotFoundError):
        each.run("no-such-program", environment={"PATH": "/no:/bin"})
    with pytest.raises(PermissionError):
        each.run("/etc/passwd")
    line = "/no/such; /etc/passwd; env no-such; exec /etc"
    done = each.shell(line, environment={"PATH": "/no:/bin"})
    assert done.exit_code == 126
    assert each.recorder.names == ["sh", "env"]


def test_a_script_is_seen_by_its_own_name(each: Watched) -> None:
    inner, outer = each.folder / "inner", each.folder / "outer"
    inner.write_text('#!/bin/sh -e\nexec echo inner "$@"\n')
    outer.write_text(f"#! {inner}   word  \n")
    for script in (inner, outer):
        script.chmod(0o755)
    done = each.shell("./inner; ./outer a 'b c'")
    assert done.stdout == b"inner\ninner word ./outer a b c\n"
    assert each.recorder.one("outer").arguments == (b"./outer", b"a", b"b c")
    assert each.recorder.one("outer").resolved == os.fsencode(outer)


def test_a_file_that_is_no_program_is_the_shells_own_to_run(each: Watched) -> None:
    (each.folder / "plain").write_text("echo plain\n")
    (each.folder / "plain").chmod(0o755)
    assert each.shell("./plain").stdout == b"plain\n"


@pytest.mark.slow
@pytest.mark.parametrize("how", ["descriptor", "memory"])
def test_a_program_given_by_a_descriptor_is_resolved(each: Watched, own: Path, how: str) -> None:
    program = copied(own, own.with_name("copy"))
    assert each.run(str(own), how, str(program)).exit_code == 0
    last = each.recorder.all[-1]
    assert last.program.startswith(b"/dev/fd/")
    assert last.arguments == (b"name", b"descriptor")
    expected = os.fsencode(program) if how == "descriptor" else b"/memfd:memory (deleted)"
    assert last.resolved == expected
    assert each.recorder.ends[last.number].exit_code == 0


def test_a_thread_that_execs_is_seen_as_its_process(each: Watched, own: Path) -> None:
    program = copied(own, own.with_name("copy"))
    assert each.run(str(own), "thread", str(program)).exit_code == 0
    first, last = each.recorder.all
    assert (last.pid, last.resolved) == (first.pid, os.fsencode(program))
    assert last.arguments[1:] == (b"thread",)


def test_links_of_proc_mean_the_process_itself(each: Watched) -> None:
    assert each.shell("exec /proc/self/exe -c 'exit 4'").exit_code == 4
    assert each.recorder.all[-1].resolved == os.fsencode(os.path.realpath("/bin/sh"))


@pytest.mark.parametrize(("mode", "count"), [("big", 19), ("many", 100_000)])
def test_two_megabytes_of_arguments_run(each: Watched, own: Path, mode: str, count: int) -> None:
    program = copied(own, own.with_name("copy"))
    each.run(str(own), mode, str(program))
    last = each.recorder.all[-1]
    assert last.resolved == os.fsencode(program)
    assert (last.truncated, last.argument_count) == (True, count)
    assert sum(map(len, last.arguments)) <= 8192
    assert each.recorder.ends[last.number].outcome is ExecOutcome.EXITED


def test_more_execs_than_wanted_are_counted(start: Start, shared: Path) -> None:
    log = watched(start, "log", shared)
    log.shell("for i in 1 2 3 4 5 6 7 8; do /bin/true; done", execs_told=3)
    assert (len(log.recorder.all), log.recorder.untold) == (3, 6)


def test_all_of_many_commands_at_once_are_seen(each: Watched) -> None:
    """More of them than the supervisor waits for in its innermost wait."""
    count = 12
    line = f"touch here.$$; until [ $(ls here.* | wc -l) -ge {count} ]; do sleep 0.01; done"
    with ThreadPoolExecutor(count) as pool:
        done = list(pool.map(lambda _: each.shell(f"{line}; /bin/true"), range(count)))
    assert [one.exit_code for one in done] == [0] * count
    assert each.recorder.names.count("true") == count


def test_what_outlives_its_command_is_seen_too(each: Watched) -> None:
    line = "(while [ ! -e go ]; do sleep 0.01; done; ./late; touch done) >/dev/null 2>&1 &"
    late = threading.Event()
    (each.folder / "late").symlink_to("/bin/true")

    def decide(seen: Exec) -> int:
        if b"late" in seen.program:
            late.set()
        return 0

    each.recorder.decide = decide
    done = each.shell(line)
    assert done.survivors >= 1
    assert not late.is_set()
    (each.folder / "go").touch()
    assert late.wait(60)
    each.local.supervisor.kill_all()
