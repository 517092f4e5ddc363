"""What READMEs say of files is true, each room has a short one, and licences are told.

`python -m tests.test_readmes` writes the table of licences in `task_repos/README.md`.
"""

import ast
import re
from pathlib import Path

import yaml

from tests import ROOT
from tests.test_layers import FLOORS

PACKAGE = ROOT / "sandbox"
UPSTREAMS = ROOT / "task_repos" / "README.md"
MARKS = ("<!-- licences -->\n", "<!-- end of licences -->\n")
SCREENS = 60
"""Lines of two screens, long ones of a table counted once."""


def first_line(path: Path) -> str:
    """The first sentence of a module's docstring, on one line."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(text.split("\n\n")[0].split())


def test_each_room_has_a_short_readme() -> None:
    for room in {room for floor in FLOORS for room in floor}:
        folder = ROOT / room if room == "graders" else PACKAGE / room
        lines = (folder / "README.md").read_text(encoding="utf-8").splitlines()
        assert len(lines) <= 10, room
        assert lines[0].startswith(f"# {room}: "), room
        assert any(line.startswith("Never: ") for line in lines), room
        text = "\n".join(lines)
        for part in folder.iterdir():
            if part.is_dir() and (part / "__init__.py").exists():
                assert f"`{part.name}/`" in text, f"{room} does not name {part.name}"


def test_the_architecture_fits_on_two_screens() -> None:
    assert len((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").splitlines()) <= SCREENS


def test_every_module_says_what_it_is() -> None:
    for path in [*PACKAGE.glob("**/*.py"), *ROOT.glob("graders/*.py")]:
        if path.name != "__init__.py":
            assert first_line(path), f"{path} has no docstring"


def test_files_that_are_named_exist() -> None:
    """In READMEs and in the docstrings of modules: `name.py`, beside or below the one who names."""
    named = 0
    texts = {
        path: path.read_text(encoding="utf-8")
        for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *PACKAGE.glob("**/README.md")]
        if path.name not in ("CHANGELOG.md", "write-a-task.md", "task-file.md")
    }
    for path in [*PACKAGE.glob("**/*.py"), *ROOT.glob("graders/*.py")]:
        texts[path] = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    places = [
        each.relative_to(ROOT).as_posix()
        for room in ("sandbox", "graders", "tests", "docs")
        for each in (ROOT / room).glob("**/*.py")
    ]
    for path, text in texts.items():
        for name in re.findall(r"`(?:sandbox/|graders/)?([a-z_]+(?:/[a-z_]+)*\.py)`", text):
            named += 1
            known = any(f"/{place}".endswith(f"/{name}") for place in places)
            assert known, f"{path.relative_to(ROOT)} names {name}, which does not exist"
    assert named > 50


def test_links_between_documents_lead_somewhere() -> None:
    for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *PACKAGE.glob("**/README.md")]:
        for link in re.findall(r"\]\((?!https?:)([^)#]+)", path.read_text(encoding="utf-8")):
            assert (path.parent / link).exists(), f"{path.relative_to(ROOT)} links to {link}"


def test_folders_of_data_are_described() -> None:
    for readme, pattern in (
        ("images/README.md", "images/*"),
        ("sandbox/run/exploits/README.md", "sandbox/run/exploits/catalog/*"),
        ("task_repos/README.md", "task_repos/*/*"),
    ):
        text = (ROOT / readme).read_text(encoding="utf-8")
        for path in ROOT.glob(pattern):
            if path.name not in ("README.md", "__pycache__"):
                found = re.search(rf"`[^`]*\b{re.escape(path.stem)}\b", text)
                assert found, f"{readme} does not describe {path.name}"


def licences() -> str:
    """The table of the projects that tasks are made of."""
    rows = ["| project | licence | home |\n|---|---|---|\n"]
    for path in sorted(ROOT.glob("task_repos/*/repo.yaml")):
        about = yaml.safe_load(path.read_text(encoding="utf-8"))
        rows.append(f"| {about['name']} | {about['license']} | {about['home']} |\n")
    return "".join(rows)


def test_licences_of_upstream_projects_are_told() -> None:
    text = UPSTREAMS.read_text(encoding="utf-8")
    assert text.partition(MARKS[0])[2].partition(MARKS[1])[0] == licences()
    for path in ROOT.glob("task_repos/*/repo.yaml"):
        told = yaml.safe_load(path.read_text(encoding="utf-8"))["license"]
        assert re.match("[A-Z]", told), f"{path.parent.name}: {told!r} is no licence"


def test_the_project_has_a_licence() -> None:
    assert "Apache License" in (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert "the sandbox authors" in (ROOT / "NOTICE").read_text(encoding="utf-8")
    about = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert 'license = "Apache-2.0"' in about


if __name__ == "__main__":
    before, _, rest = UPSTREAMS.read_text(encoding="utf-8").partition(MARKS[0])
    text = f"{before}{MARKS[0]}{licences()}{MARKS[1]}{rest.partition(MARKS[1])[2]}"
    UPSTREAMS.write_text(text, encoding="utf-8")
