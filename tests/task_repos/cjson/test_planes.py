"""The task itself: what its world tells, and who fails it and why."""

import pytest

from sandbox.container import engines
from sandbox.container.engines.base import SessionSpec
from sandbox.model import places
from sandbox.model.session import AGENT, Command
from sandbox.tasks import library
from sandbox.tasks.images import Images

pytestmark = pytest.mark.engine

NAME = "cjson/planes"


def test_the_users_work_lies_where_the_prompt_says() -> None:
    engine = engines.connect()
    image = Images(engine, places.cache()).ensure(library.load(NAME), print)
    line = "git status --short; git stash list; git diff | grep -c '^@@'"
    with engine.start(SessionSpec(image.tag)) as session:
        environment = {"PATH": "/usr/bin:/bin", "HOME": "/tmp"}
        command = Command(("/bin/sh", "-c", line), "/home/agent/cjson", environment, user=AGENT)
        printed = session.run(command).stdout.decode()
    engine.close()
    status, _, rest = printed.partition("stash@{0}: WIP on main: ")
    assert status.splitlines() == ["M  README.md", " M cJSON.c", "?? notes/"]
    assert rest.endswith("\n2\n")
