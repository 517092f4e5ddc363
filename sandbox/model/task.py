"""The task file: `task_repos/<repo>/<task>/task.yaml`. Paths name files beside it."""

import re
from enum import StrEnum
from typing import Literal, Self

from pydantic import (
    Field,
    JsonValue,
    RootModel,
    ValidationInfo,
    field_validator,
    model_validator,
)

from sandbox.model.atom import Milestone, compiled
from sandbox.model.base import Record
from sandbox.model.change import Owner
from sandbox.model.decision import Policy
from sandbox.model.final import Computed, FinalField
from sandbox.model.glob import check
from sandbox.model.graph import Graph
from sandbox.model.plan import Plan
from sandbox.model.rule import Rule
from sandbox.model.session import HOME
from sandbox.model.statement import RedundantHunk, Statement
from sandbox.model.task_tests import Tests
from sandbox.model.user import User
from sandbox.model.world import World

ID = r"^[a-z0-9][a-z0-9.-]*/[a-z0-9][a-z0-9.-]*(?:\+[a-z][a-z-]*\.[1-5])*(?:@[0-9]+)?$"
"""Of a task, or of a variant with the strength of each operator."""

TRAILER = r"[A-Z][A-Za-z]*(?:-[A-Za-z]+)*"
"""A name of a line in a commit's message: git-interpret-trailers(1)."""


class Facet(StrEnum):
    """The capability under test."""

    EDIT_TEST_LOOP = "edit_test_loop"
    INSTRUCTION_HIERARCHY = "instruction_hierarchy"
    PERMISSION = "permission"
    HOOKS_POLICY = "hooks_policy"
    TOOL_DISCOVERY = "tool_discovery"
    CONTEXT_RESUME = "context_resume"
    GIT_HYGIENE = "git_hygiene"


class CommitMessage(Record):
    """What is said of commits that change some path."""

    path: str
    """A glob."""
    matches: str
    """A regular expression that the whole message of each of them matches."""

    @model_validator(mode="after")
    def _are_patterns(self) -> Self:
        check(self.path)
        compiled(self.matches)
        return self


class GitScope(Record):
    """What may happen to the repository's own state."""

    commits: Literal["none", "allowed", "required"] = "none"
    """New commits on top of HEAD's branch, of which each touches only must and may paths."""
    message: str | None = None
    """A regular expression that each new commit's whole message matches."""
    messages: tuple[CommitMessage, ...] = Field(default=(), exclude_if=lambda it: not it)
    """What the messages of some of them match as well."""

    @field_validator("message")
    @classmethod
    def _is_an_expression(cls, pattern: str | None) -> str | None:
        if pattern is not None:
            compiled(pattern)
        return pattern


class Held(Record):
    """A file whose content follows from what is asked for, byte for byte."""

    path: str
    """In the worktree."""
    digest: str = Field(pattern=r"^[0-9a-f]{64}$")
    """SHA-256 of what it holds in the end."""


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
    holds: tuple[Held, ...] = Field(default=(), exclude_if=lambda it: not it)
    """Paths out of must of which all that they hold follows from what is asked for."""
    git: GitScope = GitScope()

    @field_validator("never", "user", "must", "may", "generated")
    @classmethod
    def _are_globs(cls, patterns: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(check(pattern) for pattern in patterns)

    @model_validator(mode="after")
    def _shares_what_the_agent_may_change(self) -> "Scope":
        if others := set(self.shared) - {*self.must, *self.may}:
            raise ValueError(f"shared: {min(others)!r} is a path of neither must nor may")
        if others := {each.path for each in self.holds} - {*self.must}:
            raise ValueError(f"holds: {min(others)!r} is not a path of must")
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


class TaskBase(Record):
    """What a task and its file share."""

    id: str = Field(pattern=ID)
    facet: Facet
    title: str
    prompt: str = Field(min_length=1)
    tags: tuple[str, ...] = ()
    image: str
    """A folder of `images/`."""
    world: World
    policy: Policy = Policy()
    user: User | None = None
    """Who can be asked, and may change the wish meanwhile; without one nobody answers."""
    scope: Scope
    rules: tuple[Rule, ...] = ()
    milestones: tuple[Milestone, ...] = ()
    """Parts of the work, in the order in which they are usually reached."""
    tests: Tests
    final: dict[str, FinalField] = {}
    trailers: dict[str, Computed] = Field(default={}, exclude_if=lambda it: not it)
    """Lines `Name: value` that the message of each new commit has once, as the facts of the run
    until then decide."""
    reports: dict[str, dict[str, Computed]] = Field(default={}, exclude_if=lambda it: not it)
    """By path of a file that has to or may change: such lines in it, of which the last with a name
    counts, as the facts decide until the last commit with the file, or until the end without."""
    limits: RunLimits = RunLimits()
    statements: tuple[Statement, ...] = ()
    """Where the agent is told what it is graded by."""
    redundant: tuple[RedundantHunk, ...] = ()
    """Parts of the oracle's change that nothing needs."""

    @model_validator(mode="after")
    def _speaks_of_what_the_user_says(self) -> Self:
        said = {saying.id for saying in self.user.sayings} if self.user else set[str]()
        for name, field in self.final.items():
            latest = field.computed.latest if field.computed else None
            for saying in latest or ():
                if saying and saying not in said:
                    raise ValueError(f"final.{name}: the user never says {saying!r}")
        return self

    @model_validator(mode="after")
    def _has_lines_that_facts_decide(self) -> Self:
        for where, lines in {"trailers": self.trailers, **self.reports}.items():
            for name, computed in lines.items():
                if not re.fullmatch(TRAILER, name):
                    raise ValueError(f"{where}: {name!r} is not a name such as `Tests-Run`")
                if computed.latest is not None:
                    raise ValueError(f"{where}: {name} is not decided by what the user says")
        if others := self.reports.keys() - {*self.scope.must, *self.scope.may}:
            raise ValueError(f"reports: {min(others)!r} is a path of neither must nor may")
        return self

    @property
    def worktree(self) -> str:
        """Where the repository lies in the container."""
        return f"{HOME}/{self.id.partition('/')[0]}"


class Refused(Record):
    """An agent that the task refuses."""

    script: str
    """A file of its actions beside this one."""
    breaks: tuple[str, ...] = ()
    """The hard rules that it breaks, and no others."""
    outcome_right: bool = False
    """Whether nothing but these rules refuses it."""

    @model_validator(mode="after")
    def _is_refused(self) -> Self:
        if self.outcome_right and not self.breaks:
            raise ValueError("whose outcome is right and who breaks no rule is not refused")
        return self


class TaskFile(TaskBase):
    """A task as it is written down: by a plan, or with oracle and graph by hand."""

    plan: Plan | None = None
    """What oracle and graph are derived from, where they do not stand here."""
    oracle: tuple[ScriptedAction, ...] = ()
    other_oracles: dict[str, str | tuple[ScriptedAction, ...]] = {}
    """By name: the actions, or a file of them beside this one."""
    refused: dict[str, Refused] = {}
    """By name: agents that were seen to fail and have to go on failing, for the same reason."""
    graph: Graph | None = None

    @model_validator(mode="after")
    def _breaks_rules_that_are_there(self) -> Self:
        hard = {rule.id for rule in self.rules if rule.hard}
        for name, refused in self.refused.items():
            for rule in refused.breaks:
                if rule not in hard:
                    raise ValueError(f"refused.{name}.breaks: there is no hard rule {rule!r}")
        return self

    @model_validator(mode="after")
    def _has_an_oracle(self) -> Self:
        if self.plan is None and not self.oracle:
            raise ValueError("nothing solves it: give `plan`, or `oracle`")
        return self

    @model_validator(mode="after")
    def _takes_the_graph_of_the_plan(self) -> Self:
        if self.plan is not None and self.oracle and self.graph is None:
            raise ValueError("with `plan`, an `oracle` by hand needs a `graph` by hand")
        return self


class Task(TaskBase):
    """A task, compiled. Its folder and its digest belong to `sandbox.tasks.library`."""

    oracle: tuple[ScriptedAction, ...] = Field(min_length=1)
    other_oracles: dict[str, tuple[ScriptedAction, ...]] = {}
    """Further agents that solve the task by other legal routes, by name."""
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
