"""Every error a person can meet: what happened, what is safe, what to do next.

One base, one class per boundary. `message` says what happened and what it left untouched,
`next_step` what to do now, `exit_code` how the command line ends: 2 for a mistake in what was
asked, 3 for trouble with the machine. A run that merely fails is data, not an error.
"""

from typing import ClassVar


class SandboxError(Exception):
    """The base of all errors that this project raises on purpose."""

    exit_code: ClassVar[int] = 3

    def __init__(self, message: str, next_step: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.next_step = next_step

    def __str__(self) -> str:
        return f"{self.message}\n{self.next_step}" if self.next_step else self.message


class UsageError(SandboxError):
    """The request itself cannot be met: an unknown task, run or option."""

    exit_code = 2


class DocumentError(SandboxError):
    """A data file is not what its model says; the message names file, line and field."""

    exit_code = 2


class SourceError(SandboxError):
    """A pinned artifact could not be fetched or is not the one that was pinned."""


class RepositoryError(SandboxError):
    """A task's repository could not be built from its sources."""


class ImageError(SandboxError):
    """An image could not be built; the message ends with the last lines of the build."""


class LayerError(SandboxError):
    """A world's layer does not fit the image that it is to be laid over."""


class DiskError(SandboxError):
    """The engine's disk has too little left for a run to be judged."""


class EngineError(SandboxError):
    """The container engine is absent, refused a request, or went away."""


class NameSpaceError(EngineError):
    """The engine works in a user name space, and this process is in none; it may go on in one."""


class SessionLostError(EngineError):
    """The container or its supervisor went away while it was in use."""


class ProtocolError(SessionLostError):
    """The supervisor sent what the protocol does not allow; the session is not used again."""


class CoverageError(SandboxError):
    """Less is seen of an agent's processes here than its task requires."""


class AgentError(SandboxError):
    """The agent's command could not be started."""

    exit_code = 2


class ModelError(SandboxError):
    """The server of an agent's model cannot be used; what the agent is worth is not known."""


class CallError(SandboxError):
    """An open session cannot be reached, or went away."""


class ClientError(SandboxError):
    """A client that a preset describes is absent, or not as it is described."""

    exit_code = 2


class StoreError(SandboxError):
    """A run folder cannot be written or read."""


class EvidenceError(SandboxError):
    """Stored evidence is incomplete or has been altered."""

    exit_code = 4


class UndecidedError(SandboxError):
    """Whether a text matches a task's expression cannot be told within the limits."""
