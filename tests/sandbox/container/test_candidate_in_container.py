"""What an agent leaves in a real container, of each kind, and what of it crosses."""

import pytest

from sandbox.container.candidate import Candidate, take
from sandbox.container.changes.collector import Collector
from sandbox.container.engines.base import Engine, Session, SessionSpec
from sandbox.model import places
from sandbox.model.session import Command
from sandbox.model.task import Scope
from sandbox.tasks import library
from sandbox.tasks.images import Images

pytestmark = pytest.mark.engine

TREE = "/home/agent/humanize"
SCOPE = Scope(may=("src/**", "link"))

LEFT = """
cd src
echo plain > plain.py
echo script > script.sh; chmod 755 script.sh
ln -s /etc/passwd symlink.py
mkfifo fifo
echo one > /tmp/one; ln /tmp/one hard.py
ln humanize/lists.py other-name.py
python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")'
mkdir -p folder/inner node_modules/tape; echo x > node_modules/tape/index.js
echo x > evil.pth; echo x > conftest.py; echo x > sitecustomize.py
echo secret > closed.py; chmod 000 closed.py
cd ..; rm -rf link; ln -s src link
"""

KEPT_BACK = {
    "src/symlink.py": "a symlink",
    "src/fifo": "a fifo",
    "src/hard.py": "a hard link",
    "src/other-name.py": "a hard link",
    "src/socket": "a socket",
    "src/folder": "folders cross only",
    "src/node_modules/tape/index.js": "by its name",
    "src/evil.pth": "by its name",
    "src/conftest.py": "by its name",
    "src/sitecustomize.py": "by its name",
    "link": "a symlink",
}


@pytest.fixture(scope="module")
def candidate(engine: Engine) -> Candidate:
    task = library.load("humanize/file-sizes")
    image = Images(engine, places.cache()).ensure(task, print).tag

    def fresh() -> Session:
        return engine.start(SessionSpec(image))

    with fresh() as session:
        collector = Collector(session, SCOPE, TREE)
        environment = {"PATH": "/opt/venv/bin:/usr/bin:/bin"}
        ended = session.run(Command(("/bin/bash", "-ec", LEFT), TREE, environment))
        assert ended.exit_code == 0, ended.stderr
        with fresh() as other:
            return take(session, collector.change_set(lambda: other), SCOPE, TREE)


def test_regular_files_cross_whoever_may_read_them(candidate: Candidate) -> None:
    assert {path: file.content for path, file in candidate.files.items()} == {
        "src/plain.py": b"plain\n",
        "src/script.sh": b"script\n",
        "src/closed.py": b"secret\n",
    }
    assert [path for path, file in candidate.files.items() if file.executable] == ["src/script.sh"]


@pytest.mark.parametrize("path", KEPT_BACK)
def test_everything_else_is_kept_back_with_a_reason(candidate: Candidate, path: str) -> None:
    assert KEPT_BACK[path] in candidate.refused[f"{TREE}/{path}"]
