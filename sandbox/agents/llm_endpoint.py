"""A chat endpoint like OpenAI's: one completion at a time, tried again where that may help.

The wire is that of POST /chat/completions with `tools`:
https://platform.openai.com/docs/api-reference/chat/create
"""

import os
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

import openai
import tenacity
from openai.types.chat import (
    ChatCompletion,
    ChatCompletionMessage,
    ChatCompletionMessageParam,
    ChatCompletionToolParam,
)

from sandbox.model.errors import ModelError, UsageError
from sandbox.model.usage import ModelUsage, Price

KEY = "OPENAI_API_KEY"
ATTEMPTS = 6
LONGEST_WAIT = 60.0
"""Seconds between two attempts at most, also where the server wants more."""

_OVERFLOW = re.compile(
    r"context.{0,20}(length|window|size)|maximum context|too many tokens|prompt is too long",
    re.IGNORECASE | re.DOTALL,
)
_PASSING = (408, 409, 429)


@dataclass(frozen=True, slots=True)
class Model:
    """Which model, where, for how much."""

    name: str
    key: str
    base_url: str | None = None
    price: Price | None = None

    @classmethod
    def chosen(cls, name: str, base_url: str | None, price: Price | None) -> Self:
        """Take the key from the environment; UsageError where there is none."""
        key = os.environ.get(KEY)
        if not key:
            raise UsageError(
                f"There is no key for {name}: the variable {KEY} is not set.",
                f"Set {KEY}. For a server of your own that asks for none, any text does.",
            )
        return cls(name, key, base_url, price)


class ContextFullError(Exception):
    """The messages are more than the model can take."""


class BrokenAnswerError(Exception):
    """What came is no completion."""


class Endpoint:
    """Asks for completions. `close` breaks off what is under way, from any thread."""

    def __init__(
        self, model: Model, report: Callable[[str], None], first_wait: float = 1.0
    ) -> None:
        """Prepare; `report` is told of every attempt that failed, in a line."""
        self._model = model
        self._report = report
        self._closed = threading.Event()
        self._client = openai.OpenAI(api_key=model.key, base_url=model.base_url, max_retries=0)
        self._retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception(_may_pass),
            wait=_Wait(first_wait),
            stop=tenacity.stop_any(
                tenacity.stop_after_attempt(ATTEMPTS), tenacity.stop_when_event_set(self._closed)
            ),
            sleep=tenacity.sleep_using_event(self._closed),
            before_sleep=self._told,
            reraise=True,
        )

    def complete(
        self,
        messages: Sequence[ChatCompletionMessageParam],
        tools: Sequence[ChatCompletionToolParam],
    ) -> tuple[ChatCompletionMessage, ModelUsage]:
        """Return the model's next message and what it has used.

        ContextFullError where the messages are too many; ModelError where the server cannot be
        used, in the end.
        """
        try:
            found = self._retrying(self._once, messages, tools)
        except openai.APIStatusError as error:
            if error.status_code in (400, 413) and _OVERFLOW.search(f"{error.code} {error}"):
                raise ContextFullError from error
            raise self._unusable(f"{error.status_code}: {_short(error)}") from error
        except (openai.OpenAIError, BrokenAnswerError) as error:
            raise self._unusable(_short(error)) from error
        return found.choices[0].message, self._usage(found)

    def close(self) -> None:
        """Ask for nothing more."""
        self._closed.set()
        self._client.close()

    def _once(
        self,
        messages: Sequence[ChatCompletionMessageParam],
        tools: Sequence[ChatCompletionToolParam],
    ) -> ChatCompletion:
        try:
            found: object = self._client.chat.completions.create(
                model=self._model.name, messages=messages, tools=tools
            )
        except ValueError as error:
            raise BrokenAnswerError(f"The answer is not JSON: {error}") from error
        # The client builds its answer without looking: any JSON, or text, may be in it.
        if not isinstance(found, ChatCompletion) or not found.choices:
            raise BrokenAnswerError(f"The answer is not a valid completion: {str(found)[:200]}")
        if not isinstance(found.choices[0].message, ChatCompletionMessage):
            raise BrokenAnswerError(f"The answer has no message: {str(found)[:200]}")
        return found

    def _usage(self, found: ChatCompletion) -> ModelUsage:
        told = found.usage
        if told is None:
            return ModelUsage()
        details = told.prompt_tokens_details
        usage = ModelUsage(
            input_tokens=told.prompt_tokens or 0,
            output_tokens=told.completion_tokens or 0,
            cached_tokens=(details.cached_tokens if details else 0) or 0,
        )
        if self._model.price is None:
            return usage
        return usage.model_copy(update={"cost": self._model.price.of(usage)})

    def _told(self, state: tenacity.RetryCallState) -> None:
        error = state.outcome.exception() if state.outcome else None
        self._report(f"[attempt {state.attempt_number} failed: {_short(error)}]")

    def _unusable(self, why: str) -> ModelError:
        where = self._model.base_url or "its provider"
        return ModelError(
            f"The model {self._model.name} at {where} cannot be used: {why}",
            "The run says nothing about the model; look at --base-url, --model and the key.",
        )


class _Wait(tenacity.wait.wait_base):
    """As long as the server says, else longer each time."""

    def __init__(self, first: float) -> None:
        growing = tenacity.wait_exponential(multiplier=first, max=LONGEST_WAIT)
        self._growing = growing + tenacity.wait_random(0, first)

    def __call__(self, retry_state: tenacity.RetryCallState) -> float:
        error = retry_state.outcome.exception() if retry_state.outcome else None
        if isinstance(error, openai.APIStatusError):
            said = error.response.headers.get("retry-after", "")
            if re.fullmatch(r"\d{1,6}(\.\d+)?", said):
                return min(float(said), LONGEST_WAIT)
        return self._growing(retry_state)


def _may_pass(error: BaseException) -> bool:
    """Whether the same question may be answered later."""
    if isinstance(error, openai.APIStatusError):
        passing = error.status_code in _PASSING or error.status_code >= 500
        return passing and error.code != "insufficient_quota"
    return isinstance(error, openai.APIConnectionError | BrokenAnswerError)


def _short(error: BaseException | None) -> str:
    return " ".join(str(error).split())[:300]
