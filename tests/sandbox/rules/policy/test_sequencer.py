"""Which gits make commits without asking hooks, and what they start for that."""

import pytest

from sandbox.model.shell.reader import Started
from sandbox.rules.policy import sequencer

GIT = "/usr/lib/git-core/git"


@pytest.mark.parametrize(
    ("words", "resolved", "does"),
    [
        (("rebase", "--continue"), GIT, True),
        (("-c", "a=b", "-C", "x", "rebase", "-i"), "/usr/bin/git", True),
        (("revert", "-e", "HEAD"), GIT, True),
        (("cherry-pick", "x"), GIT, True),
        (("rebase",), "/tmp/git", False),
        (("x", "rebase"), GIT, False),
        (("commit", "-m", "rebase"), GIT, False),
        ((), GIT, False),
    ],
)
def test_a_git_that_rebases_picks_or_reverts(
    words: tuple[str, ...], resolved: str, *, does: bool
) -> None:
    assert sequencer.sequences(Started("git", words, resolved=resolved)) is does


def test_what_it_starts_is_judged_without_what_it_adds() -> None:
    own = Started("git", ("commit", "-n", "-F", ".git/x", "-e"), resolved=GIT)
    assert sequencer.is_own(own)
    assert sequencer.as_asked(own).words == ("commit", "-F", ".git/x", "-e")
    assert not sequencer.is_own(Started("git", ("commit", "-a", "-n"), resolved=GIT))
    assert not sequencer.is_own(Started("git", ("commit", "-n"), resolved="/tmp/git"))
