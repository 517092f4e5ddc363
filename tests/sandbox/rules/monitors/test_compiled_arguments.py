"""Runs of `go test` and `cargo test`, however they are spelt."""

import pytest

from sandbox.model.atom import Atom
from sandbox.rules.monitors.atoms import matcher
from sandbox.rules.monitors.context import Context
from tests.sandbox.rules.monitors.runs import ran

WHOLE = Atom(action="run_*", tests=(".",), exit_code=0)

GO = Context(worktree="/home/agent/chi", tests="go test ./...")
GO_FILE = Atom(action="run_*", tests=("middleware/logger_test.go",), exit_code=0)
GO_ROOT = Atom(action="run_*", tests=("mux_test.go",), exit_code=0)


@pytest.mark.parametrize(
    "line",
    [
        "go test ./...",
        "go test -v -count=1 -race ./...",
        "go test -count 1 -timeout 60s -p 1 -run . -bench . -cpu 1,2 ./...",
        "go test -vet off -run '' -coverprofile cover.out ./...",
        "cd middleware && go test -timeout=30s .. ../...",
        "go test -cover -coverprofile=/tmp/c . ./middleware",
        "go test . && go test ./middleware",
    ],
)
def test_spellings_of_a_run_in_go(line: str) -> None:
    assert matcher(GO_FILE, GO)(ran(line)) or "&& go test" in line
    assert matcher(GO_ROOT, GO)(ran(line))
    assert not matcher(GO_FILE, GO)(ran(line, 1))


def test_a_package_of_go_is_its_own_files_alone() -> None:
    for line in ("go test", "go test .", "go test -v ./"):
        assert matcher(GO_ROOT, GO)(ran(line))
        assert not matcher(GO_FILE, GO)(ran(line))
        assert not matcher(WHOLE, GO)(ran(line))
    assert matcher(GO_FILE, GO)(ran("cd middleware && go test"))
    assert not matcher(GO_ROOT, GO)(ran("cd middleware && go test ./..."))
    assert matcher(WHOLE, GO)(ran("go test ./..."))


@pytest.mark.parametrize(
    "line",
    [
        "go test -run TestLogger ./...",
        "go test -run=NONE ./...",
        "go test ./...zzz",
        "go test -count 0 ./...",
        "go test -run ./...",
        "go test -skip x ./...",
        "go test -short ./...",
        "go test -count=0 ./...",
        "go test -list . ./...",
        "go test -c ./middleware",
        "go test -exec true ./...",
        "go test -n ./...",
        "go test -tags x ./...",
        "go test -overlay=/tmp/x ./...",
        "go test -toolexec=/tmp/x ./...",
        "go test middleware/logger_test.go mux_test.go",
        "go vet ./...",
        "go build ./...",
        "go test ./... | head",
        "go test $(go list ./...)",
    ],
)
def test_what_is_no_run_of_them_in_go(line: str) -> None:
    for atom in (GO_FILE, GO_ROOT, WHOLE):
        assert not matcher(atom, GO)(ran(line))


RUST = Context(worktree="/home/agent/strsim", tests="cargo test --offline")
RUST_FILE = Atom(action="run_*", tests=("tests/lib.rs",), exit_code=0)


@pytest.mark.parametrize(
    "line",
    [
        "cargo test",
        "cargo test --offline -q --no-fail-fast -- --nocapture --test-threads=1",
        "cargo t -q -j 2 --color never --target-dir /tmp/t -- -q --test-threads 1",
        "cargo test --release --jobs=2",
        "cargo test --test lib",
        "cargo test --test=lib --test other",
    ],
)
def test_spellings_of_a_run_in_rust(line: str) -> None:
    assert matcher(RUST_FILE, RUST)(ran(line))
    assert matcher(WHOLE, RUST)(ran(line)) is ("--test lib" not in line and "=lib" not in line)


@pytest.mark.parametrize(
    "line",
    [
        "cargo test hamming",
        "cargo test -- hamming",
        "cargo test -- --skip hamming",
        "cargo test -- --list",
        "cargo test -- --ignored",
        "cargo test --no-run",
        "cargo test --lib",
        "cargo test --doc",
        "cargo test --test other",
        "cargo test --config build.rustc-wrapper=/tmp/x",
        "cargo test --manifest-path /tmp/Cargo.toml",
        "cargo build --tests",
        "cargo help test",
    ],
)
def test_what_is_no_run_of_them_in_rust(line: str) -> None:
    assert not matcher(RUST_FILE, RUST)(ran(line))
    assert not matcher(WHOLE, RUST)(ran(line))
