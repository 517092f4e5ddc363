"""Repositories by themselves: they build, and upstream's tests pass."""

import shutil
from pathlib import Path

import pytest

from sandbox.container import engines
from sandbox.container.engines.base import SessionSpec
from sandbox.model import places
from sandbox.model.session import Command
from sandbox.tasks import library
from sandbox.tasks.images import Images

pytestmark = pytest.mark.engine

TASK = """
id: qs/probe
facet: edit_test_loop
title: None
prompt: None.
image: node
world: {release: %s}
scope: {}
tests:
  framework: tape
  command: tape 'test/*.js'
  hidden: hidden
  fail_to_pass: ["test/index.js::none"]
  pass_to_pass: []
oracle: [{action: git_diff}]
"""
ENVIRONMENT = {"PATH": "node_modules/.bin:/usr/local/bin:/usr/bin:/bin", "HOME": "/home/agent"}


@pytest.mark.parametrize(("release", "count"), [("6.7.0", 3), ("6.9.4", 5)])
def test_qs_builds_and_passes_its_own_tests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, release: str, count: int
) -> None:
    for name in ("images", "task_repos"):
        shutil.copytree(places.project() / name, tmp_path / name)
    monkeypatch.setenv("SANDBOX_PROJECT", str(tmp_path))
    folder = tmp_path / "task_repos" / "qs" / "probe"
    (folder / "hidden").mkdir(parents=True)
    (folder / "task.yaml").write_text(TASK % release)
    engine = engines.connect()
    built = Images(engine, places.cache()).ensure(library.load("qs/probe"), print)
    try:
        with engine.start(SessionSpec(built.tag)) as session:
            line = "git tag | wc -l; git status --porcelain --ignored; tape 'test/*.js' | tail -4"
            command = Command(("/bin/bash", "-c", line), "/home/agent/qs", ENVIRONMENT)
            printed = session.run(command).stdout.decode()
    finally:
        engine.remove_image(built.tag)
        engine.close()
    assert printed.startswith(f"{count}\n")
    assert printed.endswith("# ok\n\n")


C_TASK = """
id: cjson/probe
facet: edit_test_loop
title: None
prompt: None.
image: c
world: {release: %s}
scope: {}
tests:
  framework: make
  command: make test
  cases: {file: cases.yaml, fail_to_pass: [none]}
oracle: [{action: git_diff}]
"""
C_CASES = """
subjects: {echo: {kind: command, argv: [echo]}}
cases: [{id: none, subject: echo, table: [{expect: {value: {stdout: x}}}]}]
"""


@pytest.mark.slow
@pytest.mark.parametrize(("release", "count"), [("1.7.14", 1), ("1.7.18", 3)])
def test_cjson_builds_offline_with_its_own_makefile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, release: str, count: int
) -> None:
    for name in ("images", "task_repos"):
        shutil.copytree(places.project() / name, tmp_path / name)
    monkeypatch.setenv("SANDBOX_PROJECT", str(tmp_path))
    folder = tmp_path / "task_repos" / "cjson" / "probe"
    folder.mkdir(parents=True)
    (folder / "task.yaml").write_text(C_TASK % release)
    (folder / "cases.yaml").write_text(C_CASES)
    engine = engines.connect()
    built = Images(engine, places.cache()).ensure(library.load("cjson/probe"), print)
    try:
        with engine.start(SessionSpec(built.tag)) as session:
            line = "git tag | wc -l; git status --porcelain; make -s test >/dev/null && echo ok"
            command = Command(("/bin/bash", "-c", line), "/home/agent/cjson", ENVIRONMENT)
            ended = session.run(command)
    finally:
        engine.remove_image(built.tag)
        engine.close()
    assert ended.stdout.decode() == f"{count}\nok\n", ended
