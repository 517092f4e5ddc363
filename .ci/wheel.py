"""What a wheel has besides the packages: tasks, recipes, suites, supervisors, what draws plots."""

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
        self._carry_plots(build_data)
        for name in PROJECT:
            build_data["force_include"][str(Path(self.root) / name)] = f"sandbox/project/{name}"

    def _carry_plots(self, build_data: dict[str, Any]) -> None:
        """Add the plotting library's archive; a wheel without it fetches it at first use."""
        from sandbox.model import documents, places
        from sandbox.model.artifact import Artifact
        from sandbox.model.errors import SourceError
        from sandbox.tasks.sources.cache import Sources

        pages = Path("sandbox/cli/pages")
        pin = documents.load(Path(self.root) / pages / "plots.yaml", Artifact)
        try:
            file = Sources(places.cache()).fetch(pin, self.app.display_info)
        except SourceError as error:
            self.app.display_warning(f"The wheel has no plotting library: {error.message}")
            return
        build_data["force_include"][str(file)] = str(pages / "carried" / pin.filename)

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was compiled."""
        del version, build_data, artifact_path
        if hasattr(self, "_built"):
            shutil.rmtree(self._built, ignore_errors=True)
