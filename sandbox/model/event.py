"""The trace's events. One line of a trace is an `Entry`: an event, when, and its hash chain."""

from typing import Annotated, Literal

from pydantic import Field, JsonValue

from sandbox.model.base import Record
from sandbox.model.coverage import Coverage
from sandbox.model.decision import Answer, Decision, Question
from sandbox.model.fact import Fact
from sandbox.model.observation import Observation
from sandbox.model.usage import ModelUsage

SCHEMA_VERSION = 2
"""1 had no facts: what was changed, tested and committed was taken from actions."""


class RunStarted(Record):
    """The first event of every trace."""

    kind: Literal["run_started"] = "run_started"
    schema_version: int = SCHEMA_VERSION
    run: str
    task: str
    task_digest: str
    image: str
    agent: str
    mode: str
    coverage: Coverage
    """Which processes the harness sees."""
    inside: bool = False
    """Whether the agent itself ran in the container: its processes are all that is seen of it."""


class ActionTaken(Record):
    """What the agent asked for, before anything is decided."""

    kind: Literal["action"] = "action"
    name: str
    arguments: dict[str, JsonValue]
    decision: Decision | None = None
    """None where the request was not understood, so that there was nothing to decide on."""
    usage: ModelUsage | None = None
    """What the agent says that its model has used for this request."""
    repairs: tuple[str, ...] = ()
    """What harness mode `minimal` has changed in it."""


class Observed(Record):
    """What the agent was told."""

    kind: Literal["observation"] = "observation"
    name: str
    observation: Observation


class ApprovalAsked(Record):
    """A question to the approver."""

    kind: Literal["approval_asked"] = "approval_asked"
    question: Question


class ApprovalDecided(Record):
    """The approver's answer, or the use of a grant given earlier."""

    kind: Literal["approval_decided"] = "approval_decided"
    question: Question
    answer: Answer
    granted_at: int | None = None
    """Sequence number of the answer whose grant is used here; None for a fresh answer."""


class FilesChanged(Record):
    """Paths of the worktree that an action of the harness wrote."""

    kind: Literal["files_changed"] = "files_changed"
    paths: tuple[str, ...]


class Executed(Record):
    """A program that a process of the container ran or tried to run.

    Those of an action come before its observation, in the order in which they were asked for;
    paths and arguments are text as in `sandbox.model.path_text`.
    """

    kind: Literal["exec"] = "exec"
    program: str
    """As it was given; `/dev/fd/N` where it was given by a descriptor."""
    path: str
    """The file that this leads to; empty where that is not known."""
    argv: tuple[str, ...]
    truncated: bool = False
    """Whether there were more arguments, or longer ones."""
    cwd: str
    pid: int
    parent: int
    uid: int
    verdict: Literal["allowed", "denied", "mismatch", "unreadable"]
    exit_code: int | None = None
    signal: int | None = None
    began: float | None = None
    """Seconds from the run's start until the harness was told of it: before it ran where it was
    held, else as it did."""
    duration: float | None = None
    """Seconds until it ended or gave way to another program; None where neither had happened."""
    decision: Decision | None = None
    """What a rule of the policy says of it; None where none has anything to say."""
    by_harness: bool = False
    """Whether the harness's own action needed the program, rather than the agent's command."""


class ExecsLost(Record):
    """More execs belong to the action than were recorded."""

    kind: Literal["execs_lost"] = "execs_lost"
    count: int
    unseen: bool = False
    """Whether sight of them was lost, so that the trace is not whole; else there were too many."""


class NetworkConnected(Record):
    """A command that has used a grant for it can reach the world's registry, until it ends."""

    kind: Literal["network_connected"] = "network_connected"
    scope: str
    port: int
    granted_at: int
    """Sequence number of the answer whose grant was used."""
    problem: str = ""
    """Why it cannot after all."""


class RegistryRequested(Record):
    """A request to the world's registry."""

    kind: Literal["registry_request"] = "registry_request"
    method: str
    """Empty where what came was not a request."""
    target: str
    """The path as it was asked for; its beginning where it is long."""
    status: int
    size: int
    """Bytes of the answer's body."""


class FaultInjected(Record):
    """A fault of the world befell the request before it."""

    kind: Literal["fault_injected"] = "fault_injected"
    fault: str
    """Its id in the task."""
    effect: str
    target: str
    occurrence: int
    """Counts from 1 in a run."""


class ModelRequested(Record):
    """A request of an agent in the container that was forwarded to its model, or refused."""

    kind: Literal["model_request"] = "model_request"
    method: str
    """Empty where what came was not a request."""
    path: str
    """As it was asked for, without a query; its beginning where it is long."""
    status: int
    size: int
    """Bytes of the answer's body."""
    problem: str = ""
    """Why it was not passed on, or its answer not to the end."""


class RequestsLost(Record):
    """More requests belong to the action than were recorded."""

    kind: Literal["requests_lost"] = "requests_lost"
    count: int


class Violation(Record):
    """A rule that was seen broken while the run was going on; the grader judges for itself."""

    kind: Literal["violation"] = "violation"
    rule: str
    message: str
    hard: bool = True
    """Whether the run has failed by it."""
    step: int | None = None
    """Sequence number of the step that broke it; None where something never happened."""


class MilestonePassed(Record):
    """A part of the work that was reached, or undone again."""

    kind: Literal["milestone"] = "milestone"
    milestone: str
    reached: bool
    progress: float
    """The share of the work that is done now, from 0 to 1."""


class Claimed(Record):
    """What an agent says of itself: no evidence, and no rule, metric or grader looks at it."""

    kind: Literal["claim"] = "claim"
    about: Literal["message", "thought", "plan", "permission", "usage"]
    text: str


class Final(Record):
    """The agent's final answer."""

    kind: Literal["final"] = "final"
    fields: dict[str, JsonValue]
    note: str = ""
    """What the agent says besides; nothing is judged by it."""


EndReason = Literal[
    "final_answer",
    "agent_exited",
    "agent_silent",
    "agent_garbage",
    "provider_error",
    "turn_limit",
    "time_limit",
    "output_limit",
    "disk_limit",
    "token_limit",
    "cost_limit",
    "interrupted",
    "session_lost",
    "harness_error",
]
"""Why a run is over.

`agent_garbage` is too many lines in a row that are not requests; `provider_error` that the agent's
model cannot be used, or that the agent asked not to be counted.
"""


class RunEnded(Record):
    """The last event of every whole trace."""

    kind: Literal["run_ended"] = "run_ended"
    reason: EndReason
    message: str = ""
    status: int | None = None
    """Of the agent's program where it ended by itself: what it exited with, or minus a signal."""
    turns: int
    seconds: float
    """Without those in which it waited for its turn on a busy machine, ..."""
    waited_seconds: float = 0.0
    """... which are these."""
    killed_processes: int = 0
    """Alive in the container at the end."""
    memory_peak_bytes: int | None = None
    cpu_seconds: float | None = None
    out_of_memory_kills: int = 0
    usage: ModelUsage | None = None
    """What the agent says that its model has used, where no action tells it."""


Event = Annotated[
    RunStarted
    | ActionTaken
    | Observed
    | ApprovalAsked
    | ApprovalDecided
    | FilesChanged
    | Executed
    | ExecsLost
    | NetworkConnected
    | RegistryRequested
    | FaultInjected
    | ModelRequested
    | RequestsLost
    | Violation
    | MilestonePassed
    | Claimed
    | Fact
    | Final
    | RunEnded,
    Field(discriminator="kind"),
]


class Entry(Record):
    """One line of a trace."""

    sequence: int
    """From 0, without gaps."""
    wall_time: str
    """UTC, ISO 8601 with microseconds."""
    elapsed: float
    """Seconds since the run started, by a monotonic clock."""
    action_id: str | None
    """The request that this belongs to."""
    event: Event
    previous: str
    """The digest of the line before; of the empty string for the first."""
    digest: str
    """SHA-256 over the previous digest and this line's other fields as canonical JSON."""
