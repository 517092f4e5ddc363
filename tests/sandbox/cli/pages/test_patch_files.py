"""A patch, file by file: no content is taken for the head of a file."""

from sandbox.cli.pages.patch_files import LINES, patch_files

OWNERS = {"/r/a.py": "must", "/r/b.py": "user", "/r/c.py": "user"}


def test_each_file_has_its_owner_and_its_counts() -> None:
    text = (
        "# must: /r/a.py\n--- /r/a.py\n+++ /r/a.py\n@@ -1 +1,2 @@\n-x\n+y\n+# user: /r/c.py\n"
        "# user: /r/b.py\n# added: file, mode 644\n--- /dev/null\n+++ /r/b.py\n@@ -0,0 +1 @@\n+z\n"
        "# 41 paths generated, not shown\n"
    )
    first, second = patch_files(text, OWNERS)
    assert (first.path, first.owner, first.added, first.removed) == ("/r/a.py", "must", 2, 1)
    assert (second.path, second.owner, second.added, second.removed) == ("/r/b.py", "user", 1, 0)
    assert "+# user: /r/c.py" in first.text
    assert "41 paths" not in second.text


def test_a_long_one_is_cut_and_says_so() -> None:
    lines = "\n".join(f"+{number}" for number in range(LINES + 6))
    (file,) = patch_files(f"# must: /r/a.py\n@@ -0,0 +1 @@\n{lines}\n", OWNERS)
    assert (file.left_out, file.added) == (7, LINES + 6)
    assert file.text.endswith(f"+{LINES - 2}")


def test_a_path_that_is_not_known_takes_its_lines_from_no_other() -> None:
    text = "# must: /r/a.py\n@@ -0,0 +1 @@\n+a\n# collateral: /r/other.py\n+x\n"
    (file,) = patch_files(text, OWNERS)
    assert file.text == "@@ -0,0 +1 @@\n+a"


def test_lines_that_begin_with_more_signs_are_counted() -> None:
    text = "# must: /r/a.py\n--- /r/a.py\n+++ /r/a.py\n@@ -1,2 +1,2 @@\n--- sql\n+++ x\n+y\n"
    (file,) = patch_files(text, OWNERS)
    assert (file.added, file.removed) == (2, 1)
