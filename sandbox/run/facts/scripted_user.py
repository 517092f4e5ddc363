"""The user of a run: says what the task's script has for a question, and for what happens."""

import re
import threading
from collections import Counter

from sandbox.model.fact import Fact, UserSaid
from sandbox.model.task import Task
from sandbox.model.user import Saying, User, UserAnswer
from sandbox.rules.monitors.atoms import Pattern
from sandbox.rules.monitors.context import Context
from sandbox.rules.monitors.steps import alone


class ScriptedUser:
    """Asked by the agent's actions, told of facts by whoever notes them: from several threads."""

    def __init__(self, task: Task) -> None:
        """Take the task's user; without one nothing is ever said."""
        user = task.user or User()
        context = Context.of(task)
        self._answers, self._otherwise = user.answers, user.otherwise
        self._left = [(turn, Pattern(turn.after, (), context)) for turn in user.turns]
        self._marks: set[str] = set()
        self._given: Counter[str] = Counter()
        self._unheard: list[str] = []
        self._lock = threading.Lock()

    def answer(self, question: str) -> UserSaid:
        """Answer a question: the same ones in the same order are answered alike."""
        with self._lock:
            for answer in self._answers:
                if self._fits(answer, question):
                    self._given[answer.id] += 1
                    return self._say(answer, question)
            return UserSaid(saying="", text=self._otherwise, question=question)

    def follow(self, fact: Fact) -> UserSaid | None:
        """Take the next turn where a fact is what it waits for."""
        with self._lock:
            if not self._left:
                return None
            turn, awaited = self._left[0]
            step = alone(fact, 0)
            if step is None or not awaited.may_match(step) or not awaited.matches(step):
                return None
            del self._left[0]
            self._unheard.append(turn.says)
            return self._say(turn)

    def unheard(self) -> tuple[str, ...]:
        """Give what was said unasked and the agent was not told yet; it is told then."""
        with self._lock:
            said, self._unheard = tuple(self._unheard), []
            return said

    def _say(self, saying: Saying, question: str = "") -> UserSaid:
        self._marks.update(saying.marks)
        return UserSaid(saying=saying.id, text=saying.says, question=question)

    def _fits(self, answer: UserAnswer, question: str) -> bool:
        if answer.times is not None and self._given[answer.id] >= answer.times:
            return False
        if answer.after is not None and answer.after not in self._marks:
            return False
        if answer.before is not None and answer.before in self._marks:
            return False
        return all(any(_stands_in(word, question) for word in words) for words in answer.asked)


def _stands_in(word: str, question: str) -> bool:
    """Whether a word or phrase stands in a question, whatever its case and blanks."""
    phrase = r"\s+".join(map(re.escape, word.split()))
    return re.search(rf"(?<!\w){phrase}(?!\w)", question, re.IGNORECASE) is not None
