"""The task file: `task_repos/<repo>/<task>/task.yaml`. Paths name files beside it."""

from enum import StrEnum
from typing import Literal

from pydantic import (
    Field,
    JsonValue,
    RootModel,
    ValidationInfo,
    field_validator,
    model_validator,
)

from sandbox.model.artifact import Artifact
from sandbox.model.atom import Milestone
from sandbox.model.base import Record
from sandbox.model.change import Owner
from sandbox.model.decision import Policy
from sandbox.model.final import FinalField
from sandbox.model.glob import check
from sandbox.model.graph import Graph
from sandbox.model.registry import Registry
from sandbox.model.repository import Moment
from sandbox.model.rule import Rule
from sandbox.model.server import Server
from sandbox.model.session import HOME
from sandbox.model.statement import RedundantHunk, Statement

ID = r"^[a-z0-9][a-z0-9.-]*/[a-z0-9][a-z0-9.-]*$"


class Facet(StrEnum):
    """The capability under test."""

    EDIT_TEST_LOOP = "edit_test_loop"
    INSTRUCTION_HIERARCHY = "instruction_hierarchy"
    PERMISSION = "permission"
    HOOKS_POLICY = "hooks_policy"
    TOOL_DISCOVERY = "tool_discovery"
    CONTEXT_RESUME = "context_resume"
    GIT_HYGIENE = "git_hygiene"


class Defect(Record):
    """A patch of ours, woven into every release from `since` on, so that no history shows it."""

    patch: str
    since: str


class Overlay(Record):
    """A folder laid over the last release and committed."""

    folder: str
    message: str
    date: Moment


class Worktree(Record):
    """The user's work in progress, in this order."""

    stash: str | None = None
    """A patch to the worktree that is put away as the stash's one entry."""
    staged: str | None = None
    """A patch to the worktree and the index."""
    unstaged: str | None = None
    """A patch to the worktree alone."""
    untracked: str | None = None
    """A folder whose files are laid into the worktree."""


class World(Record):
    """What the task lays over the repo."""

    release: str
    """The newest release that the repository holds."""
    defects: tuple[Defect, ...] = ()
    overlays: tuple[Overlay, ...] = ()
    """Instruction files and the like."""
    hooks: str | None = None
    """A folder of git hooks."""
    worktree: Worktree = Worktree()
    mirror: tuple[Artifact, ...] = ()
    """What the offline package mirror in the image holds."""
    registry: Registry | None = None
    """What a grant connects a command to; nothing of it is in the image."""
    servers: tuple[Server, ...] = ()
    """Tool servers (MCP over stdio) that the agent reaches by `discover_tools` and `call_tool`."""

    @field_validator("servers")
    @classmethod
    def _names_differ(cls, servers: tuple[Server, ...]) -> tuple[Server, ...]:
        for place, server in enumerate(servers):
            if any(server.name == other.name for other in servers[:place]):
                raise ValueError(f"two servers have the name {server.name!r}")
        return servers


class GitScope(Record):
    """What may happen to the repository's own state."""

    commits: Literal["none", "allowed", "required"] = "none"
    """New commits on top of HEAD's branch, of which each touches only must and may paths."""
    message: str | None = None
    """A regular expression that each new commit's whole message matches."""


class Scope(Record):
    """Whose each path is: globs, `**` over folders. Relative ones start at the worktree.

    The first list that matches decides, in the order of the fields; what none matches is
    collateral.
    """

    never: tuple[str, ...] = ()
    user: tuple[str, ...] = ()
    must: tuple[str, ...] = ()
    may: tuple[str, ...] = ()
    generated: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    """Paths out of must and may in which the user has work that is not staged: it stays in the
    worktree as it was, and out of the index and of every commit."""
    git: GitScope = GitScope()

    @field_validator("never", "user", "must", "may", "generated")
    @classmethod
    def _are_globs(cls, patterns: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(check(pattern) for pattern in patterns)

    @model_validator(mode="after")
    def _shares_what_the_agent_may_change(self) -> "Scope":
        if others := set(self.shared) - {*self.must, *self.may}:
            raise ValueError(f"shared: {min(others)!r} is a path of neither must nor may")
        return self

    def lists(self) -> tuple[tuple[Owner, tuple[str, ...]], ...]:
        """Each owner with its globs, in the order in which they decide."""
        return (
            (Owner.NEVER, self.never),
            (Owner.USER, self.user),
            (Owner.MUST, self.must),
            (Owner.MAY, self.may),
            (Owner.GENERATED, self.generated),
        )


class Build(Record):
    """What is built of the candidate before its cases are called."""

    files: str
    """A folder of the grader's own sources, e.g. a program that calls the candidate's library."""
    argv: tuple[str, ...] = Field(min_length=1)
    """Run once in the worktree, without a shell. `{files}` stands for where the folder's files are
    laid, `{built}` for a folder to write into, which subjects name alike."""
    seconds: float = Field(default=60, gt=0)


class Cases(Record):
    """Calls of the candidate's from outside: tier 1."""

    file: str
    """A file of cases, see `sandbox.model.case.CaseFile`."""
    reference: str | None = None
    """A Python file whose functions give expected values; it runs on the host alone."""
    build: Build | None = None
    fail_to_pass: tuple[str, ...] = ()
    """Ids of the cases that fail before the fix."""
    pass_to_pass: tuple[str, ...] = ()
    """Ids of the cases that pass before and after."""

    @property
    def expected(self) -> tuple[str, ...]:
        """All of them."""
        return self.fail_to_pass + self.pass_to_pass


class Tests(Record):
    """What the agent can run, and what it is graded by."""

    __test__ = False

    framework: Literal["pytest", "tape", "node:test", "make"]
    """`make` tells no single tests: such a task is graded by cases."""
    command: str
    """The shell line of `run_tests`."""
    aliases: dict[str, str] = {}
    """Shell lines that run tests by another name, and the command of the framework behind each."""
    hidden: str | None = None
    """A folder of test files, laid into the fresh worktree after the candidate."""
    fail_to_pass: tuple[str, ...] = ()
    """Test ids that fail before the fix."""
    pass_to_pass: tuple[str, ...] = ()
    """Test ids that pass before and after."""
    cases: Cases | None = None
    own: tuple[str, ...] = ()
    """Test files that the agent has to write: they fail without its fix and pass with it."""
    timeout_seconds: float = Field(default=120, gt=0)
    """How long all test files together may take."""

    @model_validator(mode="after")
    def _tell_the_defect(self) -> "Tests":
        if not self.fail_to_pass and not (self.cases and self.cases.fail_to_pass):
            raise ValueError("nothing fails before the fix: fail_to_pass is empty")
        return self

    @model_validator(mode="after")
    def _make_runs_no_single_file(self) -> "Tests":
        if self.framework == "make" and self.own:
            raise ValueError("make runs no single file: `own` cannot be tried")
        return self

    @model_validator(mode="after")
    def _make_has_no_ids(self) -> "Tests":
        if self.framework == "make" and (self.hidden or self.fail_to_pass or self.pass_to_pass):
            raise ValueError("make tells no single tests: grade by cases alone")
        return self


class RunLimits(Record):
    """The agent's budgets and the container's."""

    turns: int = Field(default=100, ge=1)
    seconds: float = Field(default=1800, gt=0)
    silence_seconds: float = Field(default=600, gt=0)
    """How long an agent may take for one action."""
    command_seconds: float = Field(default=300, gt=0)
    """How long one command may take, unless it asks for less."""
    output_bytes: int = Field(default=64 << 20, ge=1 << 10)
    """All observations together."""
    observation_bytes: int = Field(default=64 << 10, ge=1 << 10)
    """Each of stdout, stderr or content in one observation."""
    memory_bytes: int = Field(default=1 << 30, ge=64 << 20)
    disk_bytes: int = Field(default=2 << 30, ge=16 << 20)
    """What it may write, in its file system and not in memory."""
    files: int = Field(default=200_000, ge=1_000)
    """Files and folders that it may write."""
    processes: int = Field(default=256, ge=16)
    cpus: float = Field(default=2.0, gt=0)


class ScriptedAction(Record):
    """One action of a scripted agent."""

    action: str
    arguments: dict[str, JsonValue] = {}


class Script(RootModel[tuple[ScriptedAction, ...]]):
    """A file of actions for a scripted agent: a list."""


class Task(Record):
    """A task. Its folder and its digest belong to `tasks.py`, which reads it."""

    id: str = Field(pattern=ID)
    facet: Facet
    title: str
    prompt: str = Field(min_length=1)
    tags: tuple[str, ...] = ()
    image: str
    """A folder of `images/`."""
    world: World
    policy: Policy = Policy()
    scope: Scope
    rules: tuple[Rule, ...] = ()
    milestones: tuple[Milestone, ...] = ()
    """Parts of the work, in the order in which they are usually reached."""
    tests: Tests
    final: dict[str, FinalField] = {}
    limits: RunLimits = RunLimits()
    oracle: tuple[ScriptedAction, ...] = Field(min_length=1)
    other_oracles: dict[str, tuple[ScriptedAction, ...]] = {}
    """Further agents that solve the task by other legal routes, by name."""
    statements: tuple[Statement, ...] = ()
    """Where the agent is told what it is graded by."""
    redundant: tuple[RedundantHunk, ...] = ()
    """Parts of the oracle's change that nothing needs."""
    graph: Graph | None = None
    """What can happen in the task, for the checker."""

    @field_validator("graph")
    @classmethod
    def _names_actions_of_the_oracle(
        cls, graph: Graph | None, info: ValidationInfo
    ) -> Graph | None:
        count = len(info.data.get("oracle", ()))
        for edge in graph.edges if graph and count else ():
            for deed in edge.does:
                if any(position not in range(count) for position in deed.positions()):
                    raise ValueError(
                        f"edge {edge.id}: {deed.oracle} is not one of the oracle's {count} actions"
                    )
        return graph

    @property
    def worktree(self) -> str:
        """Where the repository lies in the container."""
        return f"{HOME}/{self.id.partition('/')[0]}"
