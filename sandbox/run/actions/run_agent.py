"""`run_agent`: an agent as a command of the container, with its prompt, model and answer."""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from itertools import count
from pathlib import Path
from posixpath import dirname
from typing import TYPE_CHECKING

from sandbox.container.engines.base import AGENT_FILES, RESERVED
from sandbox.model import path_text as paths
from sandbox.model.action import RunAgent
from sandbox.model.connection import Connection
from sandbox.model.event import ModelRequested
from sandbox.model.observation import AgentResult, ErrorCode
from sandbox.model.session import ROOT, Command
from sandbox.rules.policy.subject import Subject
from sandbox.run.actions.outcome import Performed, Refusal, refusal
from sandbox.run.actions.prepared import Prepared
from sandbox.run.actions.run_command import report, result_of, shell_line
from sandbox.run.actions.workspace import Workspace

if TYPE_CHECKING:
    from sandbox.container.forwarder import Forwarded

PROMPT = f"{RESERVED}/prompt.txt"
ANSWER = f"{RESERVED}/answer.json"
OWN = f"{RESERVED}/own"
"""For its settings and logs. All three lie beside the supervisor: no part of the change set."""
ANSWER_LIMIT = 1 << 20
"""Bytes of an answer."""
ACTION = f"{RESERVED}/bin/action"
"""The program by which it asks for actions."""
REQUESTS_TOLD = 10_000
"""Requests to the model that are recorded."""
PATH_LENGTH = 500
"""Characters of a request's path that are recorded."""


def prepare(action: RunAgent, _: Workspace) -> Prepared:
    """Nothing is to be looked up."""
    return Prepared(Subject(action.name), partial(_run, action))


def _run(action: RunAgent, workspace: Workspace) -> Performed:
    """Run it to its end, or to the run's; what it has started ends with it."""
    words = split(action)
    try:
        workspace.session.write(PROMPT, action.prompt.encode(), mode=0o444, user=ROOT)
        workspace.session.write(ANSWER, b"", mode=0o666, user=ROOT)
        making = Command(("/bin/mkdir", "-p", "-m", "0777", OWN), user=ROOT)
        workspace.session.run(making)
        program = _program().encode()
        workspace.session.write(ACTION, program, mode=0o555, user=ROOT, parents=True)
    except OSError as error:
        raise refusal(error, RESERVED) from error
    path = workspace.variables["PATH"]
    with _model(workspace) as model, _actions(workspace) as actions:
        completed = workspace.run(
            words,
            seconds=workspace.task.limits.seconds,
            environment={
                **model,
                **actions,
                "PATH": f"{path}:{dirname(ACTION)}:{AGENT_FILES}/bin:{AGENT_FILES}",
                "SANDBOX_AGENT": AGENT_FILES,
                "SANDBOX_OWN": OWN,
                "SANDBOX_PROMPT": PROMPT,
                "SANDBOX_ANSWER": ANSWER,
            },
            alone=True,
        )
    fields = result_of(completed).model_dump()
    return report(AgentResult(**fields, answer=_answer(workspace)), completed)


def split(action: RunAgent) -> tuple[str, ...]:
    """Give the words of its command; Refusal where there is none."""
    try:
        words = shlex.split(shell_line(action.command))
    except ValueError as error:
        raise Refusal(ErrorCode.BAD_ARGUMENTS, f"The command cannot be split: {error}.") from error
    if not words:
        raise Refusal(ErrorCode.BAD_ARGUMENTS, "The command is empty.")
    return tuple(word.replace("{prompt}", action.prompt) for word in words)


@contextmanager
def _model(workspace: Workspace) -> Iterator[dict[str, str]]:
    """Connect a port of the container's loopback to the model; give what tells of it."""
    forwarder = workspace.model
    if forwarder is None:
        yield {}
        return
    numbers = count(1)

    def told(seen: "Forwarded") -> None:
        if next(numbers) <= REQUESTS_TOLD:
            path = paths.text(seen.path.encode("utf-8", "surrogateescape"))[:PATH_LENGTH]
            event = ModelRequested(
                method=seen.method[:PATH_LENGTH],
                path=path,
                status=seen.status,
                size=seen.size,
                problem=seen.problem,
            )
            workspace.note(event, workspace.tag)

    def serve(connection: Connection) -> None:
        forwarder.serve(connection, told)

    from sandbox.container.forwarder import environment  # loads a client of HTTP and TLS

    with workspace.session.listen(0, serve) as listener:
        yield environment(listener.port)


@contextmanager
def _actions(workspace: Workspace) -> Iterator[dict[str, str]]:
    """Connect a port of the container's loopback to what answers actions."""
    if workspace.side_actions is None:
        yield {}
        return
    with workspace.session.listen(0, workspace.side_actions) as listener:
        yield {"SANDBOX_ACTIONS": str(listener.port)}


@cache
def _program() -> str:
    return Path(__file__).with_name("action.sh").read_text(encoding="utf-8")


def _answer(workspace: Workspace) -> str | None:
    try:
        data = workspace.session.read(ANSWER, limit=ANSWER_LIMIT + 1, user=ROOT, follow=False)
        return data.decode() if 0 < len(data) <= ANSWER_LIMIT else None
    except (OSError, UnicodeDecodeError):
        return None
