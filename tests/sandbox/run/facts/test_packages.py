"""Names of packages in commands of go and cargo stand for the folders that hold them."""

import posixpath

import pytest

from sandbox.run.facts.packages import told_by_folder

ROOT = "/home/agent/mux"
FILES = {
    f"{ROOT}/go.mod": "// old\nmodule example.com/gorilla/mux/v2 // of it\n\ngo 1.19\n",
    f"{ROOT}/Cargo.toml": '[package] # ours\nname="semver" # it\n[lib]\nname = "x"\n',
    f"{ROOT}/inner/Cargo.toml": '[package]\nname = "other"\n',
    f"{ROOT}/broken/Cargo.toml": "[package\nname = 'semver'\n" + "[" * 100_000,
    f"{ROOT}/virtual/Cargo.toml": 'workspace = {members = ["a"]}\n',
}


def nearest(folder: str, name: str) -> str:
    above = folder
    while above != "/" and f"{above}/{name}" not in FILES:
        above = posixpath.dirname(above)
    return folder if above == "/" else above


def told(line: str, cwd: str = ROOT) -> tuple[str, str]:
    words, folder = told_by_folder(line.split(), cwd, nearest, lambda path: FILES.get(path, ""))
    return " ".join(words), folder


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("go test example.com/gorilla/mux/v2", f"go test {ROOT}"),
        (
            "/usr/bin/go test -v example.com/gorilla/mux/v2/...",
            f"/usr/bin/go test -v {ROOT}/...",
        ),
        ("go test example.com/gorilla/mux/v2/route ./x", f"go test {ROOT}/route ./x"),
    ],
)
def test_an_import_path_of_the_module_is_its_folder(line: str, meant: str) -> None:
    assert told(line) == (meant, ROOT)
    assert told(line, f"{ROOT}/route") == (meant, f"{ROOT}/route")


@pytest.mark.parametrize(
    "line",
    [
        "go test ./...",
        "go test example.com/gorilla/mux",
        "go test example.com/gorilla/mux/v22",
        "go vet example.com/gorilla/mux/v2",
        "go",
        "echo example.com/gorilla/mux/v2",
    ],
)
def test_others_are_left_as_they_are(line: str) -> None:
    assert told(line) == (line, ROOT)


def test_a_folder_without_a_module_has_no_import_paths() -> None:
    assert told("go test example.com/x", "/tmp") == ("go test example.com/x", "/tmp")


@pytest.mark.parametrize(
    "line",
    [
        "cargo test -p semver",
        "cargo test -psemver",
        "cargo test --package semver",
        "cargo test --package=semver",
        "cargo test --manifest-path Cargo.toml",
        f"cargo test --manifest-path={ROOT}/Cargo.toml",
        "cargo test -p semver --manifest-path ./Cargo.toml",
    ],
)
def test_the_package_at_hand_may_be_named(line: str) -> None:
    assert told(line) == ("cargo test", ROOT)
    assert told(line + " -q -- -p x") == ("cargo test -q -- -p x", ROOT)


def test_from_a_folder_of_the_package_cargo_takes_all_of_it() -> None:
    assert told("cargo test -p semver", f"{ROOT}/tests") == ("cargo test", ROOT)
    assert told("cargo test --manifest-path ../Cargo.toml", f"{ROOT}/tests") == ("cargo test", ROOT)


@pytest.mark.parametrize(
    "line",
    [
        "cargo test -p serde",
        "cargo test -p x",
        "cargo test -p",
        "cargo test -p semver@1.0.0",
        "cargo test --manifest-path inner/Cargo.toml",
        "cargo test -p semver -p serde",
    ],
)
def test_of_other_packages_nothing_is_left_out(line: str) -> None:
    assert told(line) == (line, ROOT)


@pytest.mark.parametrize("folder", ["broken", "virtual"])
def test_a_manifest_without_a_package_names_none(folder: str) -> None:
    cwd = f"{ROOT}/{folder}"
    assert told("cargo test -p semver", cwd) == ("cargo test -p semver", cwd)
    assert told("cargo test", cwd) == ("cargo test", cwd)
