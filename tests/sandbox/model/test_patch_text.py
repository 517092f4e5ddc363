"""Which files a patch is about; git is the second opinion on what git writes."""

import os
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from sandbox.model.patch_text import PatchError, names, parse
from sandbox.model.path_text import text


@pytest.mark.parametrize(
    ("patch", "expected"),
    [
        ("--- a/x.sql\n+++ b/x.sql\n@@ -1,2 +1 @@\n a\n--- comment\n", ("x.sql",)),
        ("--- a/x.lua\n+++ b/x.lua\n@@ -1 +1,2 @@\n a\n+++ more\n", ("x.lua",)),
        ("diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n", ("x", "y")),
        ('diff --git "a/\\303\\251" b/y\nrename from "\\303\\251"\nrename to y\n', ("é", "y")),
        ('--- "a/t\\tb"\n+++ "b/t\\tb"\n@@ -1 +1 @@\n-a\n+b\n', ("t\tb",)),
        ("diff --git a/gone b/gone\ndeleted file mode 100644\nindex e69de29..0000000\n", ("gone",)),
        ("--- /dev/null\n+++ b/new.py\t2024-01-01\n@@ -0,0 +1 @@\n+a\n", ("new.py",)),
        ("--- x\n+++ x\n@@ -1 +1 @@\n-a\n+b\n-- \n2.39\n", ("x",)),
        ("nothing of a patch", ()),
    ],
)
def test_a_patch_names_its_files(patch: str, expected: tuple[str, ...]) -> None:
    assert names(patch) == expected


@pytest.mark.parametrize(
    "hunk", ["@@ -1,9 +1 @@\n-a\n--- comment\n+b\n", "@@ -1 +1 @@\n*\n", "@@ nonsense\n", ""]
)
def test_a_patch_whose_hunks_are_wrong_names_its_files_all_the_same(hunk: str) -> None:
    good = "--- a/z\n+++ b/z\n@@ -1 +1 @@\n-a\n+b\n"
    patch = f"--- a/x\n+++ b/x\n{hunk}{good}"
    assert names(patch) == ("x", "z")
    with pytest.raises(PatchError):
        parse(patch.encode())


@settings(deadline=None)
@given(st.text(st.sampled_from('-+ @1,a/b\n"\\'), max_size=80))
def test_every_text_can_be_asked_about(patch: str) -> None:
    assert isinstance(names(patch), tuple)


NAMES = st.text("ab \"\\é\t\n'\x07", min_size=1, max_size=6).filter(lambda name: name != "-")
ROWS = st.lists(
    st.sampled_from(["-- note", "++ note", "a", "b", "", "@@ -1 +1 @@", "diff --git x"])
)
TREES = st.dictionaries(NAMES, ROWS.filter(bool), max_size=4)


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(old=TREES, new=TREES, renames=st.booleans())
def test_what_git_writes_is_about_what_git_says(
    old: dict[str, list[str]], new: dict[str, list[str]], renames: bool
) -> None:
    assume(old != new)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        _git(root, "init", "--quiet")
        for tree in (old, new):
            for path in root.iterdir():
                if path.name != ".git":
                    path.unlink()
            for name, rows in tree.items():
                (root / name).write_text("".join(f"{row}\n" for row in rows))
            _git(root, "add", "--all", "--force")
            if tree is old:
                _git(root, "commit", "--quiet", "--allow-empty", "--message", "old")
        options = ("--cached", "--find-renames" if renames else "--no-renames")
        patch = _git(root, "diff", *options).decode()
        rows = _git(root, "diff", *options, "--name-status", "-z").decode().split("\0")[:-1]
    said = {row for row in rows if row not in ("A", "M", "D") and not row.startswith("R")}
    # A file may be called as a letter of git's is.
    said |= {name for name in ("A", "M", "D", *old, *new) if name in rows and name in {*old, *new}}
    assert set(names(patch)) == {text(os.fsencode(name)) for name in said}


def _git(root: Path, *words: str) -> bytes:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "core.autocrlf=false")
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    return subprocess.run(
        ["git", *identity, *words], cwd=root, capture_output=True, check=True, env=environment
    ).stdout
