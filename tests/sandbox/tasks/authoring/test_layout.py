"""What a project's files say of its language, its code and its tests."""

import io
import tarfile
from pathlib import Path

import pytest

from sandbox.model.artifact import ArtifactKind
from sandbox.tasks.authoring.layout import told

CACHE = "/home/agent/.cache/go-build"
VENV = ("/opt/venv/lib/**/__pycache__", "/opt/venv/lib/**/__pycache__/**")
GO_CACHE = ("/home/agent/.cache", CACHE, f"{CACHE}/**")
VITE = ("**/node_modules", "**/node_modules/.vite", "**/node_modules/.vite/**")
VITE_TEMP = ("**/node_modules/.vite-temp", "**/node_modules/.vite-temp/**")
CARGO_LOCK = ("/home/agent/.cargo", "/home/agent/.cargo/.package-cache")


def release(folder: Path, *names: str) -> Path:
    path = folder / "release.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name in names:
            member = tarfile.TarInfo(f"project-1.0/{name}")
            member.size = 1
            archive.addfile(member, io.BytesIO(b"\n"))
    return path


@pytest.mark.parametrize(
    ("names", "image", "framework", "sources", "tests", "leaves"),
    [
        (
            ("go.mod", "list.go", "list_test.go", "deep/tree.go", "Makefile"),
            *("go", "go test", ("**/*.go",), ("**/*_test.go",), GO_CACHE),
        ),
        (
            ("Cargo.toml", "src/lib.rs", "src/deep/tree.rs", "tests/lib.rs", "build.rs"),
            *("rust", "cargo test", ("src/**/*.rs",), ("tests/*.rs",)),
            ("target", "target/**", "Cargo.lock", *CARGO_LOCK),
        ),
        (
            ("pyproject.toml", "src/a/b.py", "tests/test_b.py"),
            *("python", "pytest", ("src/**/*.py",), ("tests/**/test_*.py",)),
            (*("**/__pycache__", "**/__pycache__/**", ".pytest_cache", ".pytest_cache/**"), *VENV),
        ),
        (
            ("package.json", "src/a.ts", "src/a.test.ts", "src/__tests__/b.test.ts", "dist/a.js"),
            *("node", None, ("src/**/*.ts",), ("**/*.test.ts", "**/__tests__/**/*.ts")),
            (*VITE, *VITE_TEMP),
        ),
        (("a.c", "a.h", "tests/a.c"), "c", None, ("*.c",), ("tests/**/*.c",), ()),
    ],
)
def test_the_language_decides(
    tmp_path: Path,
    names: tuple[str, ...],
    image: str,
    framework: str | None,
    sources: tuple[str, ...],
    tests: tuple[str, ...],
    leaves: tuple[str, ...],
) -> None:
    seen = told(release(tmp_path, *names), ArtifactKind.DEBIAN)
    assert (seen.image, seen.framework) == (image, framework)
    assert (seen.sources, seen.tests, seen.leaves) == (sources, tests, leaves)


@pytest.mark.parametrize(
    ("files", "framework"),
    [
        ({"package.json": '{"devDependencies": {"vitest": "^3"}}'}, "vitest"),
        ({"test/a.test.ts": "import { test } from 'vitest';"}, "vitest"),
        ({"test/a.test.ts": "import { test } from 'vitest-like';"}, None),
        ({"package.json": "{"}, None),
    ],
)
def test_the_framework_is_what_a_package_names_or_its_tests_load(
    tmp_path: Path, files: dict[str, str], framework: str | None
) -> None:
    path = tmp_path / "release.tgz"
    with tarfile.open(path, "w:gz") as archive:
        for name, text in {"src/a.ts": "", "test/a.test.ts": "", **files}.items():
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    assert told(path, ArtifactKind.NPM).framework == framework
