"""Which of an engine's runtimes runs the containers: SANDBOX_RUNTIME, else the engine's own.

runc and its like run a container as processes of the host's kernel. Others have a kernel between:
gVisor (`runsc`), or a virtual machine (`kata`). Through those no unix socket leads to the host,
and what is written need not be in the overlay's upper directory.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sandbox.model.errors import UsageError

VARIABLE = "SANDBOX_RUNTIME"
ON_THE_HOSTS_KERNEL = ("runc", "crun", "youki")
GVISOR = "runsc"
"""How the names of its runtimes begin."""


@dataclass(frozen=True, slots=True)
class Runtime:
    """The runtime of all containers that an engine starts for us."""

    name: str
    chosen: bool
    """Whether it was asked for, else it is the engine's own."""
    rootless: bool
    """Whether the engine itself is not root."""

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> "Runtime":
        """Read what the engine says of itself; UsageError where it has not the one asked for."""
        wanted = os.environ.get(VARIABLE, "")
        known = sorted(facts.get("Runtimes") or {})
        if wanted and wanted not in known:
            raise UsageError(
                f"{VARIABLE} is {wanted!r}; the engine has {', '.join(known) or 'none to name'}.",
                f"Install it and add it to the engine's runtimes, or unset {VARIABLE}.",
            )
        options = facts.get("SecurityOptions") or ()
        return cls(
            wanted or str(facts.get("DefaultRuntime") or ""),
            bool(wanted),
            any("rootless" in str(option) for option in options),
        )

    @property
    def on_the_hosts_kernel(self) -> bool:
        """Whether its containers are processes of the host's kernel; an unknown one is not."""
        return self.name in ("", *ON_THE_HOSTS_KERNEL)

    @property
    def capabilities(self) -> tuple[str, ...]:
        """What the supervisor needs there besides: gVisor shows processes to their user alone."""
        return ("SYS_PTRACE",) if self.name.startswith(GVISOR) else ()

    @property
    def shows_upper(self) -> bool:
        """Whether what a container writes lies in its upper directory, under the owner it has."""
        return self.on_the_hosts_kernel and not self.rootless
