"""What a reply tells a person beside its texts."""

from sandbox.cli.reply_text import left
from sandbox.model.briefing import Reply


def reply(**told: object) -> Reply:
    known = {"id": None, "status": "ok", "error_code": None, "message": None}
    return Reply.model_validate({"result": {}, **known, **told})


def test_what_is_left_is_told_by_what_it_is() -> None:
    bounded = {"turns_left": 3, "seconds_left": 20, "output_left": 0, "left": {"deployments": 1}}
    assert left(reply(**bounded)) == (
        "left: 3 actions, 20 seconds, 0 bytes to be shown, 1 deployments"
    )


def test_nothing_is_left_of_a_run_that_is_over() -> None:
    assert left(reply()) == ""
