"""Whose runner it is that runs tests."""

import pytest

from sandbox.model.session import Exec
from sandbox.model.task import Scope
from sandbox.run.facts.baseline import Held, Watched
from sandbox.run.facts.runners import foreign_to, take_tool
from sandbox.run.facts.worktree import Worktree

ROOT, VENV = "/home/agent/x", "/opt/venv"
TAPE = f"{ROOT}/node_modules/.bin/tape"
BASE = {
    path: Held("old", "file", executable=True, mode=0o100755)
    for path in (
        f"{VENV}/bin/python",
        f"{VENV}/bin/pytest",
        TAPE,
        f"{ROOT}/node_modules/tape/index.js",
        f"{ROOT}/setup.js",
        f"{ROOT}/tests/test_a.py",
    )
}
WATCHED = Watched(ROOT, (VENV, f"{ROOT}/node_modules"), ())


def execution(line: str, program: str, resolved: str, cwd: str = ROOT) -> Exec:
    argv = tuple(line.split())
    return Exec(
        number=1,
        tag="1",
        program=program.encode(),
        resolved=resolved.encode(),
        arguments=tuple(word.encode() for word in argv),
        argument_count=len(argv),
        truncated=False,
        cwd=cwd.encode(),
        pid=9,
        parent=8,
        uid=10_001,
        held=False,
        first=False,
    )


def foreign(line: str, program: str, resolved: str = "/usr/bin/x", cwd: str = ROOT) -> list[str]:
    worktree = Worktree(BASE, WATCHED, Scope())
    started = execution(line, program, resolved, cwd)
    return list(foreign_to(worktree, started, line.split(), worktree.moment))


PYTHON, NODE = "/usr/bin/python3.11", "/usr/bin/node"


@pytest.mark.parametrize(
    ("line", "program", "resolved", "cwd"),
    [
        ("python -m pytest", f"{VENV}/bin/python", PYTHON, ROOT),
        (f"{VENV}/bin/python -m pytest", f"{VENV}/bin/python", PYTHON, ROOT),
        ("../../../opt/venv/bin/python -m pytest", "x", PYTHON, ROOT),
        (f"python -P -m pytest {ROOT}", f"{VENV}/bin/python", PYTHON, "/tmp"),
        ("python -Bm pytest", f"{VENV}/bin/python", PYTHON, ROOT),
        ("pytest", f"{VENV}/bin/pytest", f"{VENV}/bin/pytest", ROOT),
        ("node node_modules/.bin/tape a.js", NODE, NODE, ROOT),
        ("node --test", NODE, NODE, "/tmp"),
        ("node --test test/own.test.js", NODE, NODE, ROOT),
        ("node --test-reporter tap --test test/tape", NODE, NODE, ROOT),
    ],
)
def test_the_images_own_is_not_foreign(line: str, program: str, resolved: str, cwd: str) -> None:
    assert foreign(line, program, resolved, cwd) == []


@pytest.mark.parametrize(
    ("line", "program", "resolved", "cwd", "named"),
    [
        ("/tmp/v/bin/python -m pytest", PYTHON, PYTHON, ROOT, "/tmp/v/bin/python"),
        ("python -m pytest", "/tmp/v/bin/python", PYTHON, ROOT, "/tmp/v/bin/python"),
        ("v/bin/python -Pm pytest", "v/bin/python", PYTHON, "/tmp", "/tmp/v/bin/python"),
        ("v/bin/python -m pytest", "v/bin/python", PYTHON, ROOT, "v/bin/python"),
        ("/opt/venv/v/bin/python -m pytest", "x", PYTHON, ROOT, "/opt/venv/v/bin/python"),
        ("/proc/self/cwd/python -m pytest", "x", PYTHON, ROOT, "/proc/self/cwd/python"),
        (f"python -m pytest {ROOT}", f"{VENV}/bin/python", PYTHON, "/tmp", "/tmp"),
        ("pytest", "/tmp/pytest", "/tmp/pytest", ROOT, "/tmp/pytest"),
        ("node /tmp/x/tape a.js", NODE, NODE, ROOT, "/tmp/x/tape"),
        ("node node_modules/.bin/tape a.js", NODE, NODE, "/tmp", "/tmp/node_modules/.bin/tape"),
    ],
)
def test_what_an_agent_can_have_made_is_named(
    line: str, program: str, resolved: str, cwd: str, named: str
) -> None:
    assert foreign(line, program, resolved, cwd) == [named]


@pytest.mark.parametrize(
    ("framework", "program", "resolved", "named"),
    [
        ("cargo test", "/usr/bin/rustc", "/usr/bin/rustc", ()),
        ("cargo test", "/tmp/x/rustc", "/tmp/x/rustc", ("/tmp/x/rustc",)),
        ("cargo test", "/tmp/x/rustc", "/usr/bin/true", ("/tmp/x/rustc",)),
        ("cargo test", "bin/rustc", f"{ROOT}/bin/rustc", ("bin/rustc",)),
        ("cargo test", f"{ROOT}/target/debug/lib-1", f"{ROOT}/target/debug/lib-1", ()),
        ("go test", "/tmp/go-build1/b001/x.test", "/tmp/go-build1/b001/x.test", ()),
        ("go test", "/tmp/x/gcc", "/tmp/x/gcc", ("/tmp/x/gcc",)),
        ("make", "/home/agent/bin/cc", "/home/agent/bin/cc", ("/home/agent/bin/cc",)),
        ("make", "./cc_test", f"{ROOT}/cc_test", ()),
        ("pytest", "/tmp/v/bin/cc", "/tmp/v/bin/cc", ()),
    ],
)
def test_what_runs_in_the_place_of_a_compiler_is_named(
    framework: str, program: str, resolved: str, named: tuple[str, ...]
) -> None:
    worktree = Worktree(BASE, Watched(ROOT, (), (), framework), Scope())
    began = worktree.moment
    take_tool(worktree, execution("x y", program, resolved))
    assert tuple(map(worktree.relative, worktree.unsound_since(began))) == named
    assert worktree.unsound_since(worktree.moment) == ()


GO = "/usr/lib/go-1.19/bin/go"


@pytest.mark.parametrize(
    ("line", "resolved", "named"),
    [
        ("go test ./...", GO, []),
        ("cargo test", "/usr/bin/cargo", []),
        ("tape a.js", TAPE, []),
        ("nodejs --test", NODE, []),
        ("make test", "/usr/bin/make", []),
        ("go test ./...", "/usr/bin/true", ["/usr/bin/true"]),
        ("cargo test", "/usr/bin/true", ["/usr/bin/true"]),
        ("pytest tests", "/usr/bin/true", ["/usr/bin/true"]),
        ("/tmp/x/node a.js", "/usr/bin/true", ["/usr/bin/true"]),
        ("make test", "/usr/bin/true", ["/usr/bin/true"]),
    ],
)
def test_a_program_may_not_call_itself_a_runner(line: str, resolved: str, named: list[str]) -> None:
    assert foreign(line, "x", resolved) == named


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("node -r ./setup.js test/a.js", []),
        ("node --require=tape test/a.js", []),
        ("node --test --test-reporter=spec", []),
        ("node -r /tmp/evil.js test/a.js", ["/tmp/evil.js"]),
        ("node --import ./new.js test/a.js", ["./new.js"]),
        ("node --test --test-reporter=/tmp/evil.mjs", ["/tmp/evil.mjs"]),
        ("node --test --test-reporter ./new.js", ["./new.js"]),
        ("node -r other test/a.js", ["other"]),
    ],
)
def test_what_node_loads_beside_the_tests_is_the_images(line: str, named: list[str]) -> None:
    assert foreign(line, NODE, NODE) == named
