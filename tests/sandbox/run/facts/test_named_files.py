"""A folder whose tests are all named one by one is covered, and no other."""

import pytest

from sandbox.run.facts.named_files import folders_named

JS = ("index.js", "test/a.js", "test/b.js", "test/data.json", "lib/x.js")
PY = ("src/a.py", "tests/conftest.py", "tests/test_a.py", "tests/more/test_b.py")


@pytest.mark.parametrize(
    ("framework", "files", "roots", "folders"),
    [
        ("tape", JS, ("test/a.js", "test/b.js"), ("test",)),
        ("tape", JS, ("test/a.js",), ()),
        ("tape", (*JS, "test/sub/c.js"), ("test/a.js", "test/b.js"), ()),
        ("tape", (*JS, "test/sub/c.js"), ("test/a.js", "test/b.js", "test/sub"), ("test",)),
        ("tape", JS, ("test",), ()),
        ("tape", JS, ("test/*",), ("test",)),
        ("tape", (*JS, "test/sub/c.js"), ("test/*",), ()),
        ("tape", JS, ("*",), ()),
        ("tape", JS, ("test/a.js", "test/b.js", "!test/b.js"), ()),
        ("pytest", PY, ("tests/test_a.py",), ()),
        ("pytest", PY, ("tests/more/test_b.py",), ("tests/more",)),
        ("pytest", PY, ("tests/test_a.py", "tests/more/test_b.py"), ("tests", "tests/more")),
        ("pytest", PY, (".",), ()),
        ("vitest", ("src/a.ts", "src/a.test.ts", "b.spec.ts"), ("src/a.test.ts",), ("src",)),
        ("vitest", ("src/a.test.ts", "src/b.spec.tsx"), ("src/a.test.ts",), ()),
        ("vitest", ("src/a.test.ts",), ("?a.test",), ()),
        ("vitest", ("src/a.test.ts",), ("?src/a.test.ts",), ("src",)),
        ("go test", ("a_test.go",), ("a_test.go",), ()),
        ("tape", JS, ("/tmp/copy/test/a.js",), ()),
    ],
)
def test_every_file_of_tests_has_to_be_named(
    framework: str, files: tuple[str, ...], roots: tuple[str, ...], folders: tuple[str, ...]
) -> None:
    assert folders_named(roots, files, framework) == folders
