"""Which program is taken for one that stands in for the image's."""

from dataclasses import replace
from unittest.mock import create_autospec

import pytest

from sandbox.container.engines.base import Session
from sandbox.run.facts.stand_ins import StandIns
from tests.sandbox.run.facts.test_programs import program

IMAGES = {b"/usr/bin/grep", b"/usr/bin/python3", b"/bin/sh"}


@pytest.mark.parametrize(
    ("called", "resolved", "stands_in"),
    [
        ("/usr/bin/grep", "/usr/bin/grep", False),
        ("/tmp/grep", "/tmp/grep", True),
        ("grep", "/home/agent/x/grep", True),
        ("/tmp/mine", "/tmp/mine", False),
        ("/tmp/grep", "/usr/bin/true", True),
        ("/tmp/grep", "/usr/bin/grep-anything", True),
        ("/tmp/v/bin/python3", "/usr/bin/python3.11", False),
        ("/bin/sh", "/usr/bin/dash", False),
    ],
)
def test_a_program_stands_in_for_one_of_its_name(
    called: str, resolved: str, stands_in: bool
) -> None:
    session = create_autospec(Session, instance=True)

    def stat(path: bytes) -> None:
        if path not in IMAGES:
            raise FileNotFoundError

    session.stat.side_effect = stat
    known = StandIns(session, lambda path: path.startswith(("/tmp/", "/home/")))
    execution = replace(program(1, called), resolved=resolved.encode())
    assert known.has(execution) is stands_in
