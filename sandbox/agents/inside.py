"""An agent that runs in the container and acts by its processes, not by actions.

It is started by the run's first action, `run_agent`; when it has ended, the answer that it wrote is
given as `final_answer`. `docs/agents/inside.md` says what it finds there.
"""

from dataclasses import replace

from sandbox.agents.base import Departure, Garbage
from sandbox.agents.program import how_it_ended
from sandbox.agents.requests import decode_object, garbage
from sandbox.model.action import AskUser, FinalAnswer, Request, RunAgent
from sandbox.model.briefing import Briefing, Ended, Reply
from sandbox.model.errors import AgentError

SIDE_ACTIONS = ("request_approval", "ask_user", "discover_tools", "call_tool")
"""What it asks the harness for, by the program `action`, because no process can do it."""

TOLD = """
You work in {worktree}, in a container, as the user `agent`.
Where this says that something is done by an action of a harness, do it by your own means, in a
shell. Only {side} are asked for, by the program `action`, which prints the reply:

{usage}
"""

USAGE = {
    "request_approval": """{"scope": "...", "command": "...", "reason": "..."}""",
    "ask_user": """{"question": "..."}""",
    "discover_tools": "{}",
    "call_tool": """{"server": "...", "tool": "...", "arguments": {}}""",
}
"""Arguments of each, as an example."""

HEARD = """
What the user says without being asked comes in `said` of a reply that `action` prints. Ask before
you answer whether there is anything else: nothing else tells you.
"""

ASKED = """
When you are done, write your final answer to the file {answer}: one JSON object with
{fields}.
"""


class Launch(Request):
    """Asks for the agent to be started, which nobody else can."""

    @property
    def launched(self) -> RunAgent:
        """The action."""
        return RunAgent.model_validate(self.arguments)


class InsideAgent:
    """A command line of the container."""

    def __init__(self, command: str, name: str = "") -> None:
        """Take its command, by which it is called where it has no `name`."""
        self.name = name or command
        self._command = command
        self._prompt = ""
        self._told: Reply | None = None
        self._stage = 0

    def begin(self, briefing: Briefing) -> None:
        """Write the prompt."""
        fields = ", ".join(f"`{name}` ({kind})" for name, kind in briefing.final.items())
        asked = ASKED.format(answer="$SANDBOX_ANSWER", fields=fields or "no fields")
        side = [each.name for each in briefing.actions if each.name in SIDE_ACTIONS]
        told = TOLD.format(
            worktree=briefing.worktree,
            side=", ".join(f"`{name}`" for name in side),
            usage="\n".join(f"    action {name} '{USAGE[name]}'" for name in side),
        )
        heard = HEARD if AskUser.name in side else ""
        self._prompt = f"{briefing.title}\n\n{briefing.prompt.rstrip()}\n{told}{heard}{asked}"

    def next(self, reply: Reply | None, timeout: float) -> Request | Garbage | None:
        """Ask for the start, then give the answer."""
        del timeout
        self._stage += 1
        if self._stage == 1:
            arguments = {"command": self._command, "prompt": self._prompt}
            return Launch(id="agent", action=RunAgent.name, arguments={**arguments})
        if self._stage == 2 and reply is not None:
            return self._answer(reply)
        return None

    def ending(self) -> Departure:
        """Say how it ended, and that it gave no answer that could be taken."""
        found = self._told.result if self._told else {}
        code, signal = found.get("exit_code"), found.get("signal")
        status = -signal if isinstance(signal, int) else code if isinstance(code, int) else 0
        departure = how_it_ended(status)
        return replace(departure, says=f"{departure.says} It left no answer that could be taken.")

    def close(self, reply: Reply | None, ended: Ended) -> None:
        """Nothing is left: it has ended in the container."""

    def _answer(self, reply: Reply) -> Request | Garbage | None:
        self._told = reply
        if not reply.result:
            raise AgentError(
                f"The agent could not be started: {reply.message}",
                "Its command is looked up in the container; --inside-files brings files there.",
            )
        if reply.result.get("timed_out"):
            raise TimeoutError("The agent ran out of time.")
        text = reply.result.get("answer")
        if not isinstance(text, str) or not text.strip():
            return None
        try:
            fields = decode_object(text.encode(), "The final answer")
        except ValueError as error:
            return garbage(text.encode(), str(error))
        return Request(id="answer", action=FinalAnswer.name, arguments={"fields": fields})
