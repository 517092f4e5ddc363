"""The folder READMEs name every file. `python -m tests.test_readmes` writes that of `sandbox/`."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "sandbox"
HEAD = """# The package

One line per file, taken from the files. [ARCHITECTURE.md](../ARCHITECTURE.md) says what may import
what.
"""


def first_line(path: Path) -> str:
    """The first sentence of a module's docstring, on one line."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(text.split("\n\n")[0].split())


def listing() -> str:
    """What `sandbox/README.md` has to be."""
    parts = [HEAD]
    folders = [PACKAGE, *sorted(path for path in PACKAGE.iterdir() if path.is_dir())]
    for folder in folders:
        files = [path for path in sorted(folder.glob("*.py")) if first_line(path)]
        if not files:
            continue
        if folder != PACKAGE:
            parts.append(f"\n## {folder.name}/\n")
        parts.append("\n| file | what it is |\n|---|---|\n")
        parts += [f"| `{path.name}` | {first_line(path)} |\n" for path in files]
    return "".join(parts)


def test_the_package_readme_is_current() -> None:
    written = (PACKAGE / "README.md").read_text(encoding="utf-8")
    assert written == listing(), "run: python -m tests.test_readmes"


def test_every_module_says_what_it_is() -> None:
    for path in [*PACKAGE.glob("**/*.py"), *ROOT.glob("graders/*.py")]:
        if path.name != "__init__.py":
            assert first_line(path), f"{path} has no docstring"


@pytest.mark.parametrize(
    ("readme", "pattern"),
    [
        ("graders/README.md", "graders/*.py"),
        ("sandbox/container/supervisor/README.md", "sandbox/container/supervisor/source/*.c"),
        ("images/README.md", "images/*"),
        ("sandbox/run/exploits/README.md", "sandbox/run/exploits/catalog/*"),
        ("task_repos/README.md", "task_repos/*/*"),
    ],
)
def test_a_folder_readme_names_what_is_in_it(readme: str, pattern: str) -> None:
    text = (ROOT / readme).read_text(encoding="utf-8")
    for path in ROOT.glob(pattern):
        if path.name not in ("README.md", "__init__.py", "__pycache__"):
            assert re.search(rf"`[^`]*\b{re.escape(path.stem)}\b", text), f"{readme}: {path.name}"


if __name__ == "__main__":
    (PACKAGE / "README.md").write_text(listing(), encoding="utf-8")
