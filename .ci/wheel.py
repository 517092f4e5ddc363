"""What a wheel has besides the packages: tasks, image recipes, suites, and supervisors."""

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PROJECT = ("images", "suites", "task_repos")
ARCHITECTURES = ("x86_64", "aarch64")


class Hook(BuildHookInterface):
    """Compiles the supervisor, and puts everything where an installed package looks for it."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the files to a wheel; an editable installation has them in its checkout."""
        if version == "editable":
            return
        sys.path.insert(0, self.root)
        from sandbox.container.supervisor import compiler

        self._built = Path(tempfile.mkdtemp(prefix="sandbox-wheel-"))
        below = Path("sandbox/container/supervisor") / compiler.CARRIED.name
        for architecture in ARCHITECTURES:
            name = compiler.carried_name(architecture)
            compiler.compile_to(self._built / name, architecture)
            build_data["force_include"][str(self._built / name)] = str(below / name)
        for name in PROJECT:
            build_data["force_include"][str(Path(self.root) / name)] = f"sandbox/project/{name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was compiled."""
        del version, build_data, artifact_path
        if hasattr(self, "_built"):
            shutil.rmtree(self._built, ignore_errors=True)
