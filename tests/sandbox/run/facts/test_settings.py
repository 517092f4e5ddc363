"""Which files outside of a worktree leave a test runner as it is."""

import pytest

from sandbox.run.facts.settings import files_of, sets_nothing

GO, CARGO = "/home/agent/.config/go/env", "/home/agent/.cargo/config.toml"
RUNNER = b'[target."cfg(all())"]\nrunner = "/tmp/x"\n'


def test_each_framework_has_its_own() -> None:
    assert GO in files_of("go test")
    assert CARGO in files_of("cargo test")
    assert "/home/agent/conftest.py" in files_of("pytest")
    assert files_of("tape") == ()


@pytest.mark.parametrize(
    ("framework", "path", "data", "harmless"),
    [
        ("go test", GO, b"GOPROXY=off\nGOFLAGS=-mod=mod\n", True),
        ("go test", GO, b"# nothing\n\n", True),
        ("go test", GO, b"GOPROXY=off\nGOFLAGS=-exec=/tmp/x\n", False),
        ("go test", GO, b"CC=/tmp/cc\n", False),
        ("go test", "/home/agent/go.work", b"", False),
        ("cargo test", CARGO, b"[net]\noffline = true\n[term]\ncolor = 'never'\n", True),
        ("cargo test", CARGO, RUNNER, False),
        ("cargo test", CARGO, b"[net]\n[build]\nrustc = '/tmp/x'\n", False),
        ("cargo test", CARGO, b"build.rustc = '/tmp/x'\n", False),
        ("cargo test", CARGO, b"\xff", False),
        ("cargo test", CARGO, b"not toml", False),
        ("pytest", "/home/agent/pytest.ini", b"", False),
    ],
)
def test_only_what_says_nothing_of_tests_is_harmless(
    framework: str, path: str, data: bytes, harmless: bool
) -> None:
    assert sets_nothing(framework, path, data) is harmless
