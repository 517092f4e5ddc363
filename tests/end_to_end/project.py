"""A copy of the project's data, to be spoilt or made quicker."""

import re
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

LIMITS = re.compile(r"\nlimits:\n(?:[ #].*\n)+")
CASES = re.compile(r"\n  cases:\n(?:    .*\n)+")
FEW = {
    "humanize/file-sizes": "test_size_units.py",
    "inflection/house-terms": "test_house_terms.py",
    "inflection/last-word": "test_last_word.py",
}
"""The file of hidden tests that a lean task keeps."""


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
        """Give tasks short times and small containers; their images stay what they are."""
        for name in ("humanize/file-sizes", "inflection/house-terms"):
            file = self.folder / "task_repos" / name / "task.yaml"
            limits = f"\n{QUICK.format(silence=silence).strip()}\n"
            file.write_text(LIMITS.sub(limits, file.read_text(), count=1))

    def make_lean(self) -> None:
        """Have tasks graded by a few hidden tests and no cases: half of what a short run takes."""
        for name, file in FEW.items():
            task = self.folder / "task_repos" / name
            text = (task / "task.yaml").read_text()
            (task / "task.yaml").write_text(CASES.sub("\n", text, count=1))
            lines = (task / "tests.yaml").read_text().splitlines(keepends=True)
            kept = [line for line in lines if not line.startswith(" ") or file in line]
            (task / "tests.yaml").write_text("".join(kept))


def copy(folder: Path) -> Project:
    """Copy the project's data into a new folder."""
    for name in ("images", "suites", "task_repos"):
        shutil.copytree(places.project() / name, folder / name)
    return Project(folder)
