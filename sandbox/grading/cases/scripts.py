"""Scripts: lines of Python that a servant evaluates in the container, and what each one gives."""

from collections.abc import Mapping, Sequence
from typing import Any

from sandbox.grading.cases.answers import Answer, Value
from sandbox.grading.cases.standing import Standing
from sandbox.grading.cases.subjects import START_SECONDS, Servant
from sandbox.grading.json_conversation import Unanswered

Lines = Sequence[str]


class Script:
    """A caller that evaluates scripts, all of them in one process."""

    def __init__(self, standing: Standing, servants: str) -> None:
        """Start a servant; their programs lie in the folder `servants`."""
        self._servant = Servant("python", standing, servants)
        self._started = False

    def call(self, given: Mapping[str, Any], seconds: float) -> Answer:
        """Give a list: by line the value, or the class of the error."""
        if not self._started:
            self._servant.ask({"lines": []}, START_SECONDS)
            self._started = True
        answer = self._servant.ask({"lines": given["lines"]}, seconds)
        told = answer.get("value")
        if not isinstance(told, list) or len(told) != len(given["lines"]):
            raise Unanswered("it printed something that is not a valid answer")
        return Value(told)

    def close(self) -> None:
        """Kill the servant with all that the lines have started."""
        self._servant.close()


def play(
    scripts: Sequence[Lines], standing: Standing, servants: str, seconds: float
) -> list[list[Any] | None]:
    """Evaluate scripts one after the other; None stands for one that does not come to an end.

    What such a one has changed in its process is forgotten: the next has a process of its own.
    """
    found: list[list[Any] | None] = []
    script = Script(standing, servants)
    try:
        for lines in scripts:
            try:
                answer = script.call({"lines": list(lines)}, seconds)
                found.append(answer.wire if isinstance(answer, Value) else None)
            except Unanswered:
                found.append(None)
                script.close()
                script = Script(standing, servants)
    finally:
        script.close()
    return found
