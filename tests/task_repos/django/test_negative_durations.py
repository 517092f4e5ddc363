"""The task itself: which claims of the notes hold, and who fails it and why."""

import pytest

from sandbox.container.engines.base import Session
from sandbox.model.session import Command, Completed
from sandbox.tasks import library

pytestmark = pytest.mark.engine

NAME = "django/negative-durations"
LOADED = library.load(NAME)


def shell(session: Session, line: str) -> Completed:
    environment = {"PATH": "/opt/venv/bin:/usr/bin:/bin", "HOME": "/home/agent"}
    return session.run(Command(("/bin/bash", "-c", line), LOADED.worktree, environment))


def passes(session: Session, test: str) -> bool:
    return shell(session, f"pytest -q tests/utils_tests/{test}").exit_code == 0


@pytest.mark.slow
def test_one_claim_holds_and_three_do_not(session: Session) -> None:
    assert not passes(session, "test_dateparse.py"), "1: parse_duration is done"
    assert passes(session, "test_duration.py -k TestISODurationString"), "2: this one holds"
    assert passes(session, "test_duration.py -k TestParseISODurationRoundtrip"), "3: it fails"
    assert shell(session, "grep -q 5.2.9 docs/releases/5.2.9.txt").exit_code == 0
    version = shell(session, "python -c 'import django; print(django.get_version())'").stdout
    assert version == b"5.2.9\n", "4: it is the next release"


def test_it_is_a_large_repository_with_history(session: Session) -> None:
    assert int(shell(session, "git ls-files | wc -l").stdout) > 5000
    assert shell(session, "git log --format=%s").stdout.count(b"Release ") == 3
