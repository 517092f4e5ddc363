"""Who understands what a task's user is asked: what `--user` names."""

from typing import TYPE_CHECKING

from sandbox.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from sandbox.model.user import Understanding

SCRIPT = "script"


def choose_user(
    text: str, base_url: str | None, report: "Callable[[str], None]"
) -> "Understanding | None":
    """Make what `--user` says; None for the script alone. UsageError where it says nothing known.

    `report` is told of each attempt at a model that failed.
    """
    if text == SCRIPT:
        if base_url is not None:
            raise UsageError("--user-url is where the model of --user is.", "Name one: llm:MODEL.")
        return None
    kind, _, model = text.partition(":")
    if kind != "llm" or not model:
        raise UsageError(f"There is no user {text!r}.", "Known are `script` and `llm:MODEL`.")
    from sandbox.agents.llm_endpoint import Endpoint, Model
    from sandbox.run.user_model import UserModel

    return UserModel(Endpoint(Model.chosen(model, base_url, None), report))
