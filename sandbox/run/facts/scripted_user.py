"""The user of a run: says what the task's script has for a question, and for what happens."""

import re
import threading
from collections import Counter

from sandbox.model.fact import Fact, UserSaid
from sandbox.model.task import Task
from sandbox.model.user import Saying, Understanding, User, UserAnswer
from sandbox.rules.monitors.atoms import Pattern
from sandbox.rules.monitors.context import Context
from sandbox.rules.monitors.steps import alone


class ScriptedUser:
    """Asked by the agent's actions, told of facts by whoever notes them: from several threads."""

    def __init__(self, task: Task, understand: Understanding | None = None) -> None:
        """Take the task's user; without one nothing is ever said.

        `understand` is asked where no words of a question are those of an answer.
        """
        self._understand = understand
        user = task.user or User()
        context = Context.of(task)
        self._answers, self._otherwise = user.answers, user.otherwise
        self._left = [(turn, Pattern(turn.after, (), context)) for turn in user.turns]
        self._marks: set[str] = set()
        self._given: Counter[str] = Counter()
        self._unheard: list[UserSaid] = []
        self._lock = threading.Lock()

    def answer(self, question: str) -> UserSaid:
        """Answer a question: the same ones in the same order are answered alike."""
        with self._lock:
            possible = [answer for answer in self._answers if self._may_say(answer)]
        found = next((answer for answer in possible if _fits(answer, question)), None)
        if found is None and self._understand is not None and possible:
            picked = self._understand(question, possible)
            found = next((answer for answer in possible if answer.id == picked), None)
        if found is None:
            return UserSaid(saying="", text=self._otherwise, question=question)
        with self._lock:
            self._given[found.id] += 1
            return self._say(found, question)

    def follow(self, fact: Fact) -> None:
        """Take the next turn where a fact is what it waits for: it is to be told then."""
        with self._lock:
            if not self._left:
                return
            turn, awaited = self._left[0]
            step = alone(fact, 0)
            if step is not None and awaited.may_match(step) and awaited.matches(step):
                del self._left[0]
                self._unheard.append(self._say(turn))

    def next_unheard(self) -> UserSaid | None:
        """Give the first of what was said unasked and is to be told; it is told then."""
        with self._lock:
            return self._unheard.pop(0) if self._unheard else None

    def _say(self, saying: Saying, question: str = "") -> UserSaid:
        self._marks.update(saying.marks)
        return UserSaid(saying=saying.id, text=saying.says, question=question)

    def _may_say(self, answer: UserAnswer) -> bool:
        if answer.times is not None and self._given[answer.id] >= answer.times:
            return False
        if answer.after is not None and answer.after not in self._marks:
            return False
        return answer.before is None or answer.before not in self._marks


def _fits(answer: UserAnswer, question: str) -> bool:
    """Whether of each group one word or phrase stands in a question."""
    return all(any(_stands_in(word, question) for word in words) for words in answer.asked)


def _stands_in(word: str, question: str) -> bool:
    """Whether a word or phrase stands in a question, whatever its case and blanks."""
    phrase = r"\s+".join(map(re.escape, word.split()))
    return re.search(rf"(?<!\w){phrase}(?!\w)", question, re.IGNORECASE) is not None
