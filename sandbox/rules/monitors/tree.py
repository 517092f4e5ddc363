"""What the worktree held each time when a rule of the kind `fresh` was made fresh."""

from typing import TypeAlias

from pydantic import JsonValue

from sandbox.model.rule import Fresh
from sandbox.rules.monitors.atoms import Pattern
from sandbox.rules.monitors.context import Context
from sandbox.rules.monitors.steps import Step
from sandbox.rules.monitors.templates import BROKEN, FRESH, START

Patterns: TypeAlias = tuple[tuple[int, Pattern], ...]
"""Patterns of a rule, each with the bit that stands for it."""

Content: TypeAlias = frozenset[tuple[str, str | None]]
"""Paths with the SHA-256 of what they hold, None where nothing stands there."""


class Tree:
    """What a rule of the kind `fresh` is about, as it was each time when it was made fresh.

    Trees are compared, not times: what has come back to what was tested has been tested, and so
    has a commit that holds what was, whatever stands in the worktree. The automaton alone goes by
    the order of steps, which is all that a world graph tells.
    """

    def __init__(self, rule: Fresh, patterns: Patterns, context: Context) -> None:
        self._refreshes, self._spoils = patterns[0][1].matches, patterns[1][1].matches
        self._demands, self._shared = patterns[2][1].matches, frozenset(context.scope.shared)
        self._applies = rule.since.about == "changed" and not rule.variables
        self._now: dict[str, str | None] = {}
        self._tested: set[Content] = set()
        self._start: dict[str, JsonValue] = {}
        """What paths held before they were changed."""
        self._commits: dict[str, dict[str, str | None]] = {}
        """By commit: what it holds that the first one's parent does not."""
        self._unmoved: dict[str, str | None] = {}
        """What was committed of files that stood so from the start, as far as is known."""

    def foreseen(self, state: int, step: Step) -> int:
        """Give the state before a commit by what it holds, where that is known."""
        if not self._applies or step.kind != "committed" or not self._demands(step):
            return state
        delivered = self._delivered(step)
        if delivered is None:
            return state
        if delivered in self._tested:
            return FRESH
        # A part of what stands in the worktree, which is fresh, has been tested with the rest.
        return state if delivered <= self._content else START

    def _delivered(self, step: Step) -> Content | None:
        """Give what a commit holds of what has to be fresh, but for what it was at the start."""
        files, parents = step.arguments.get("files"), step.arguments.get("parents")
        if not isinstance(files, dict) or not isinstance(parents, list | tuple):
            return None
        parent = str(parents[0]) if parents else ""
        if not self._commits:
            self._commits[parent] = {}
        if parent not in self._commits:
            return None
        holds = {path: None if each is None else str(each) for path, each in files.items()}
        held = {**self._commits[parent], **holds}
        self._commits[str(step.arguments.get("id"))] = held
        wanted = {path for path in held if self._is_about(path)}
        if wanted & self._shared:  # in which the worktree has the user's lines, and no commit
            return None
        standing = step.arguments.get("standing")
        unmoved = set(standing if isinstance(standing, list | tuple) else ()) - self._start.keys()
        self._unmoved |= {path: held[path] for path in wanted & unmoved}
        return frozenset(
            (path, held[path])
            for path in wanted - unmoved
            if path not in self._start or self._start[path] != held[path]
        )

    def _is_about(self, path: str) -> bool:
        return self._spoils(Step(0, "changed", {}, None, (path,), "changed"))

    def judged(self, state: int, step: Step) -> int:
        """Give the state after a step, where the automaton came to `state`."""
        if not self._applies:
            return state
        if step.kind == "changed" and self._spoils(step):
            path = str(step.arguments.get("path", ""))
            if path in self._unmoved and self._unmoved.pop(path) != step.arguments.get("before"):
                return (
                    BROKEN  # it was written behind the commit, and did not stand so from the start
                )
            self._start.setdefault(path, step.arguments.get("before"))
            if step.arguments.get("as_at_start"):
                self._now.pop(path, None)
            else:
                digest = step.arguments.get("digest")
                # What is too large to be read is another content each time.
                self._now[path] = None if digest is None else str(digest or f"event {step.event}")
            return FRESH if self._content in self._tested else state
        if self._refreshes(step):
            meanwhile = step.arguments.get("meanwhile")
            paths = meanwhile if isinstance(meanwhile, list | tuple) else ()
            if any(self._is_about(str(each)) for each in paths):
                return START
            self._tested.add(self._content)
        return state

    @property
    def _content(self) -> Content:
        return frozenset(self._now.items())
