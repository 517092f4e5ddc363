"""Where projects lie, and what their files are under a foreign patch."""

from pathlib import Path

import pytest

from sandbox.model.errors import UsageError
from sandbox.tasks.imports.checkouts import find, patched

FILES = {"a.py": b"one\ntwo\n", "b.py": b"three\n"}
CHANGE = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n-one\n+ONE\n two\n"
ADDING = "--- /dev/null\n+++ b/new/c.py\n@@ -0,0 +1 @@\n+four\n"
REMOVING = (
    "diff --git a/b.py b/b.py\ndeleted file mode 100644\n"
    "--- a/b.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-three\n"
)


def test_a_patch_changes_adds_and_removes() -> None:
    found = patched(FILES, CHANGE + ADDING + REMOVING)
    assert found == {"a.py": b"ONE\ntwo\n", "new/c.py": b"four\n", "b.py": None}


def test_a_last_line_without_an_end_is_no_obstacle() -> None:
    assert patched(FILES, CHANGE.rstrip("\n")) == {"a.py": b"ONE\ntwo\n"}


@pytest.mark.parametrize(
    ("patch", "said"),
    [
        (CHANGE.replace("-one", "-ein"), "does not apply"),
        (CHANGE.replace("a.py", "../a.py"), "not a plain path"),
        (CHANGE.replace("a.py", ".git/config"), "not a plain path"),
        (CHANGE + "--- /dev/null\n+++ /etc/hostname\n@@ -0,0 +1 @@\n+x\n", "not a plain path"),
        (CHANGE + "diff --git a/../b/s b/../b/s\n", "not a plain path"),
        (CHANGE.replace("a.py", "a\x07.py"), "not a plain path"),
        ("diff --git a/x b/x\nBinary files a/x and b/x differ\n", "cannot be read"),
        ("@@ -1 +1 @@\n-a\n+b\n", "cannot be read"),
    ],
)
def test_one_that_cannot_be_used_is_refused(patch: str, said: str) -> None:
    with pytest.raises(UsageError) as raised:
        patched(FILES, patch)
    assert said in raised.value.message


def test_a_patch_that_makes_a_link_leads_nowhere(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    link = (
        "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n"
        f"+{outside}\n\\ No newline at end of file\n"
    )
    with pytest.raises(UsageError):
        patched(FILES, link)
    assert not list(outside.iterdir())


@pytest.mark.parametrize("name", ["owner/till", "owner__till", "till", "till.git", "till.bundle"])
def test_a_project_is_found_by_its_names(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir(parents=True)
    assert find(tmp_path, "owner/till") == tmp_path / name


def test_one_that_is_missing_is_told_with_where_to_put_it(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as raised:
        find(tmp_path, "owner/till")
    assert "owner/till" in raised.value.message
    assert str(tmp_path / "owner__till") in raised.value.next_step
