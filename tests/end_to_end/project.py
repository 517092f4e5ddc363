"""A copy of the project's data, to be spoilt or made quicker."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from sandbox.model import places

QUICK = """
limits:
  seconds: 120
  silence_seconds: {silence}
  command_seconds: 20
  memory_bytes: 268435456
  processes: 64
"""


@dataclass(frozen=True, slots=True)
class Project:
    """What SANDBOX_PROJECT names."""

    folder: Path

    @property
    def task(self) -> Path:
        return self.folder / "task_repos" / "humanize" / "file-sizes" / "task.yaml"

    @property
    def environment(self) -> dict[str, str]:
        return {"SANDBOX_PROJECT": str(self.folder)}

    def replace(self, file: Path, old: str, new: str) -> int:
        """Replace the first `old` in a file; the line where it stood."""
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new, 1))
        return text[: text.index(old)].count("\n") + 1

    def limit(self, silence: float = 60) -> None:
        """Give the task short times and a small container; its image stays what it is."""
        text = self.task.read_text()
        start = text.index("\nlimits:\n")
        self.task.write_text(
            text[:start]
            + QUICK.format(silence=silence)
            + "\n"
            + text[text.index("\nplan:\n") + 1 :]
        )


def copy(folder: Path) -> Project:
    """Copy the project's data into a new folder."""
    for name in ("images", "task_repos"):
        shutil.copytree(places.project() / name, folder / name)
    return Project(folder)
