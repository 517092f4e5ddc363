"""What is run for an action at the moment, so that another thread can end it."""

import threading

from sandbox.container.engines.base import Process, Session
from sandbox.model.observation import ErrorCode
from sandbox.model.session import Command, Completed
from sandbox.run.actions.outcome import Refusal


class Running:
    """The commands of one action after the other; `cancel` may come from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._action = ""
        self._process: Process | None = None
        self._cancelled: set[str] = set()

    def begin(self, action_id: str) -> None:
        """Say whose commands follow."""
        with self._lock:
            self._action = action_id

    def cancel(self, action_id: str) -> None:
        """Kill what runs for an action, and let it start nothing more."""
        with self._lock:
            self._cancelled.add(action_id)
            if self._action == action_id and self._process is not None:
                self._process.kill()

    def run(self, session: Session, command: Command) -> Completed:
        """Do as `Session.run`; Refusal where the action was cancelled."""
        self._check()
        process = session.start(command)
        try:
            with self._lock:
                self._process = process
                if self._action in self._cancelled:
                    process.kill()
            completed = process.wait()
        except KeyboardInterrupt:
            process.kill()
            raise
        finally:
            with self._lock:
                self._process = None
        self._check()
        return completed

    def _check(self) -> None:
        with self._lock:
            cancelled = self._action in self._cancelled
        if cancelled:
            message = "The agent took it back; what had been started for it was killed."
            raise Refusal(ErrorCode.CANCELLED, message)
