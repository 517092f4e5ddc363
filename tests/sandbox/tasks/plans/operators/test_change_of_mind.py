"""What is asked about something else is not answered with the reference."""

import pytest

from sandbox.run.facts.scripted_user import ScriptedUser
from sandbox.tasks import library


@pytest.mark.parametrize(
    ("question", "about"),
    [
        ("Which reference holds?", True),
        ("Which one holds now?", True),
        ("Is there a new one?", True),
        ("One case pulls apart: shall `-xf=1` keep its value, a number?", False),
        ("The desk refuses deploy after my one rehearsal. What shall I give as label?", False),
    ],
)
def test_only_a_question_about_the_reference_is_answered_with_it(
    question: str, about: bool
) -> None:
    task = library.load("humanize/file-sizes+change-of-mind.1@5").task
    assert bool(ScriptedUser(task).answer(question).saying) is about
