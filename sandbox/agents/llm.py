"""The built-in agent: a model behind a chat endpoint, with the harness's actions as its tools."""

import json
import threading
from pathlib import Path

from openai.types.chat import (
    ChatCompletionAssistantMessageParam,
    ChatCompletionMessage,
    ChatCompletionMessageParam,
    ChatCompletionMessageToolCallUnion,
    ChatCompletionToolParam,
)
from pydantic import JsonValue

from sandbox.agents.base import Garbage
from sandbox.agents.called_agent import CalledAgent
from sandbox.agents.llm_endpoint import ContextFullError, Endpoint, Model
from sandbox.agents.log import LOG_LIMIT
from sandbox.agents.requests import decode_object
from sandbox.agents.tools import NO_TOOL, tools
from sandbox.model.action import AskUser
from sandbox.model.briefing import Briefing, Ended, Reply
from sandbox.model.usage import ModelUsage, total

SYSTEM = """\
You work on a git repository in a container. You act by calling tools, nothing else has an effect.
Paths are relative to the repository, which lies at {worktree}. When the task is done, or cannot be
done, call final_answer; that ends the session. {questions}"""
NO_QUESTIONS = "Nobody answers questions."
QUESTIONS = "Questions are answered by ask_user alone; what the user says unasked comes in `said`."
LEFT_OUT = "[left out: there is no room for it any more; ask again if you need it]"
FULL = "The model's context is full, and nothing more can be left out."

_PATIENCE = 0.5


class LlmAgent(CalledAgent):
    """Asks the model, performs what it calls, tells it what came of that, until the run is over."""

    def __init__(self, model: Model, log: Path | None = None, first_wait: float = 1.0) -> None:
        """Take the model, a file for what it says, and how long to wait after a first failure."""
        super().__init__(f"llm:{model.name}")
        self._log = log
        self._logged = 0
        self._endpoint = Endpoint(model, self._note, first_wait)
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self._untold: list[ModelUsage] = []

    def begin(self, briefing: Briefing) -> None:
        """Start the conversation."""
        self._thread = threading.Thread(
            target=self._work, args=(briefing,), name="model", daemon=True
        )
        self._thread.start()

    def close(self, reply: Reply | None, ended: Ended) -> None:
        """End the conversation; an answer that is on its way is not waited for."""
        self._over.set()
        super().close(reply, ended)
        self._endpoint.close()
        if self._thread is not None:
            self._thread.join(_PATIENCE)

    def used(self) -> ModelUsage | None:
        """What answers have used that led to no action."""
        return total(self._untold)

    def _work(self, briefing: Briefing) -> None:
        try:
            self.leave(self._converse(briefing))
        except Exception as error:  # noqa: BLE001 - raised again in the thread of the run
            self.fail(error)

    def _converse(self, briefing: Briefing) -> str:
        """Talk until the run is over, or there is nothing more to say: then why."""
        offered = _offered(briefing)
        messages: list[ChatCompletionMessageParam] = [
            {"role": "system", "content": _system(briefing)},
            {"role": "user", "content": f"{briefing.title}\n\n{briefing.prompt}"},
        ]
        while not self._over.is_set():
            try:
                message, usage = self._endpoint.complete(messages, offered)
            except ContextFullError:
                if not _shorten(messages):
                    return FULL
                self._note("[the context is full: the older half of the results is left out]")
                continue
            self._note(message.content or "")
            messages.append(_said(message))
            messages += self._perform(message, usage)
        return "The run is over."

    def _perform(
        self, message: ChatCompletionMessage, usage: ModelUsage
    ) -> list[ChatCompletionMessageParam]:
        """Do what a message asks for, call after call, and give what the model is told."""
        if not message.tool_calls:
            self._untold.append(usage)
            answer = self.garble(
                Garbage(NO_TOOL, (message.content or "")[:200], text=message.content or "")
            )
            return [{"role": "user", "content": _told(answer)}]
        results: list[ChatCompletionMessageParam] = []
        for number, call in enumerate(message.tool_calls):
            answer = self._call(call, usage if number == 0 else None)
            results.append({"role": "tool", "tool_call_id": call.id, "content": _told(answer)})
        return results

    def _call(self, call: ChatCompletionMessageToolCallUnion, usage: ModelUsage | None) -> Reply:
        try:
            name, arguments = _asked(call)
        except ValueError as error:
            self._untold += [usage] if usage else []
            return self.garble(Garbage(str(error), str(call.model_dump())[:200]))
        return self.call(name, arguments, usage)

    def _note(self, text: str) -> None:
        """Keep what was said, up to a limit: the agent's own account, no evidence."""
        data = f"{text}\n".encode("utf-8", "replace")
        if self._log is None or not text or self._logged + len(data) > LOG_LIMIT:
            return
        self._logged += len(data)
        with self._log.open("ab") as log:
            log.write(data)


def _system(briefing: Briefing) -> str:
    asked = any(action.name == AskUser.name for action in briefing.actions)
    questions = QUESTIONS if asked else NO_QUESTIONS
    return SYSTEM.format(worktree=briefing.worktree, questions=questions)


def _offered(briefing: Briefing) -> list[ChatCompletionToolParam]:
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": dict(tool.parameters),
            },
        }
        for tool in tools(briefing)
    ]


def _asked(call: ChatCompletionMessageToolCallUnion) -> tuple[str, dict[str, JsonValue]]:
    """Read a tool call; ValueError with a sentence where it is none."""
    if call.type != "function":
        raise ValueError(f"There is no tool of the type {call.type}.")
    text = call.function.arguments or "{}"
    return call.function.name, decode_object(text.encode("utf-8", "surrogatepass"), "The text")


def _said(message: ChatCompletionMessage) -> ChatCompletionMessageParam:
    """Give a message back as history; what is no JSON is not sent, for servers read it."""
    said: ChatCompletionAssistantMessageParam = {"role": "assistant", "content": message.content}
    if message.tool_calls:
        said["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": _name(call), "arguments": _sound(call)},
            }
            for call in message.tool_calls
        ]
    return said


def _name(call: ChatCompletionMessageToolCallUnion) -> str:
    return call.function.name if call.type == "function" else call.type


def _sound(call: ChatCompletionMessageToolCallUnion) -> str:
    try:
        return json.dumps(_asked(call)[1])
    except ValueError:
        return "{}"


def _told(answer: Reply) -> str:
    return answer.model_dump_json(exclude={"id"}, exclude_none=True)


def _shorten(messages: list[ChatCompletionMessageParam]) -> bool:
    """Leave the older half of the tools' results out; whether there was one."""
    results = [
        message
        for message in messages
        if message["role"] == "tool" and message["content"] != LEFT_OUT
    ]
    for message in results[: (len(results) + 1) // 2]:
        message["content"] = LEFT_OUT
    return bool(results)
