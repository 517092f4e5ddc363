"""The way to the world's registry: open while a command runs that has used a grant for it."""

import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from sandbox.container.engines.base import Session
from sandbox.container.mirror import Mirror, Served
from sandbox.model.artifact import Artifact
from sandbox.model.connection import Listener
from sandbox.model.event import FaultInjected, NetworkConnected, RegistryRequested, RequestsLost
from sandbox.model.registry import Registry
from sandbox.rules.policy.grants import Grant

REQUESTS_TOLD = 1000
"""Requests of one action that are recorded; the rest is counted."""
TARGET_LENGTH = 500
"""Characters of a request's path that are recorded."""

NetworkEvent = NetworkConnected | RegistryRequested | FaultInjected | RequestsLost


class Route:
    """The route of one run; without a registry there is none. Safe for several threads.

    Who uses a grant is a command: all its processes have the route, and none of another command
    is alive while it is open (`Workspace` sees to that).
    """

    def __init__(
        self, session: Session, registry: Registry | None, files: Mapping[Artifact, Path]
    ) -> None:
        """Make the registry ready; SourceError where one of its files is not what was pinned."""
        self._session, self._registry = session, registry
        self._mirror = Mirror(registry, files, self._told) if registry else None
        self._lock = threading.Lock()
        self._tag: str | None = None
        """The action that is being carried out."""
        self._user = ""
        """The action that the route was opened for."""
        self._by_process = False
        """Whether a process, and not its action, has used the grant."""
        self._listener: Listener | None = None
        self._events: list[tuple[NetworkEvent, str | None]] = []
        self._requests = self._lost = 0

    @contextmanager
    def during(self, tag: str, grants: Iterable[Grant]) -> Iterator[None]:
        """Carry out an action that has used these grants; at its end the route is closed."""
        with self._lock:
            self._tag, self._requests, self._lost = tag, 0, 0
        try:
            self.use(grants, tag)
            yield
        finally:
            with self._lock:
                self._tag = None
                listener, self._listener = self._listener, None
            if listener is not None:
                listener.close()
            if self._lost:
                self._events.append((RequestsLost(count=self._lost), tag or None))

    def use_by_process(self, grants: Iterable[Grant], tag: str) -> None:
        """Open it for a process that has used these grants; `release` says that it has ended."""
        self.use(grants, tag, by_process=True)

    def release(self, tag: str) -> None:
        """Close it where it was opened for a process, which has ended with all that it started."""
        with self._lock:
            if tag != self._tag or not self._by_process:
                return
            listener, self._listener = self._listener, None
        if listener is not None:
            listener.close()

    def use(self, grants: Iterable[Grant], tag: str, *, by_process: bool = False) -> None:
        """Open the route where one of these grants, which an action has used, is for it."""
        registry, mirror = self._registry, self._mirror
        if registry is None or mirror is None:
            return
        found = [grant for grant in grants if grant.question.scope == registry.scope]
        with self._lock:
            if not found or tag != self._tag or self._listener is not None:
                return
            problem = ""
            try:
                self._listener = self._session.listen(registry.port, mirror.serve)
                self._user, self._by_process = tag, by_process
            except OSError as error:
                problem = os.strerror(error.errno) if error.errno else str(error)
            connected = NetworkConnected(
                scope=registry.scope,
                port=registry.port,
                granted_at=found[0].granted_at,
                problem=problem,
            )
            self._events.append((connected, tag or None))

    def take(self) -> list[tuple[NetworkEvent, str | None]]:
        """Give the events that there are, each with its action's id, and forget them."""
        with self._lock:
            events, self._events = self._events, []
        return events

    def _told(self, served: Served) -> None:
        """Keep what a request was answered; the registry's threads call."""
        target = served.target[:TARGET_LENGTH]
        request = RegistryRequested(
            method=served.method, target=target, status=served.status, size=served.size
        )
        with self._lock:
            self._requests += 1
            if self._requests > REQUESTS_TOLD:
                self._lost += 1
                return
            self._events.append((request, self._user or None))
            if strike := served.strike:
                fault = FaultInjected(
                    fault=strike.fault.id,
                    effect=strike.fault.effect,
                    target=target,
                    occurrence=strike.occurrence,
                )
                self._events.append((fault, self._user or None))
