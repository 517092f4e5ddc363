"""By which variables a run of tests is another one than its words say."""

import pytest

from sandbox.rules.monitors.context import NOWHERE
from sandbox.rules.monitors.covered_tests import selected_by
from sandbox.run.facts.variables import misleading, pairs

ROOT = "/home/agent/repo"


@pytest.mark.parametrize(
    "given",
    [
        b"PYTEST_ADDOPTS=-q --color=yes",
        b"PYTHONPATH=src",
        b"PYTHONPATH=.:/home/agent/repo/lib:",
        b"PYTHONPATH=/usr/lib/python3",
        b"PYTHONWARNINGS=error",
        b"PYTHONWARNINGS=ignore::DeprecationWarning,error:some text:UserWarning:a.b:3",
        b"LD_PRELOAD=/usr/libexec/coreutils/libstdbuf.so",
        b"GCONV_PATH=/usr/lib/x86_64-linux-gnu/gconv",
        b"LD_LIBRARY_PATH=/usr/lib/x86_64-linux-gnu:/usr/lib/libfoo-1.2/:",
        b"npm_config_globalconfig=/etc/npmrc",
        b"GOFLAGS=-count=1 -mod=mod",
        b"RUSTFLAGS=-D warnings -Adead_code",
        b"NODE_PATH=",
        b"LD_PRELOAD=",
        b"NODE_OPTIONS=--max-old-space-size=4096 --no-warnings",
        b"MAKEFLAGS=w -j2 --jobserver-auth=3,4 -- CFLAGS=-O1",
        b"npm_config_userconfig=/home/agent/.npmrc",
        b"npm_config_script_shell=/bin/bash",
        b"GOFLAGS=-mod=readonly -v",
        b"GOENV=off",
        b"GOROOT=/usr/lib/go-1.19",
        b"CARGO_HOME=/home/agent/.cargo",
        b"CARGO_TARGET_DIR=/tmp/target",
    ],
)
def test_what_an_honest_run_may_have_is_harmless(given: bytes) -> None:
    assert misleading(pairs([given]), ROOT, ROOT) == ()


@pytest.mark.parametrize(
    "given",
    [
        b"PYTHONPATH=/tmp/mine",
        b"PYTHONPATH=src:../other",
        b"NODE_PATH=/home/agent/modules",
        b"PYTEST_PLUGINS=mine",
        b"LD_PRELOAD=/tmp/x.so",
        b"LD_LIBRARY_PATH=/tmp",
        b"GCONV_PATH=/tmp/g",
        b"GCONV_PATH=/usr/lib/../../tmp/gconv",
        b"LOCPATH=/tmp/l",
        b"PYTHONWARNINGS=ignore::evil.X",
        b"PYTHONWARNINGS=error,ignore::a.b:c",
        b"PYTHONPLATLIBDIR=../../tmp/x",
        b"PYTHONINSPECT=1",
        b"OPENSSL_CONF=/tmp/o.cnf",
        b"RUSTDOCFLAGS=--test-args zzz",
        b"LD_LIBRARY_PATH=/usr/../tmp",
        b"LD_PRELOAD=/usr/lib/../../tmp/libstdbuf.so",
        b"npm_config_globalconfig=/etc/../tmp/npmrc",
        b"GOFLAGS=-count=0",
        b"RUSTFLAGS=-D warnings -C linker=/tmp/x",
        b"BASH_ENV=/tmp/x",
        b"NODE_OPTIONS=--require /tmp/x.js",
        b"NODE_OPTIONS=--no-warnings -r ./x",
        b"MAKEFLAGS=n",
        b"MAKEFLAGS=--dry-run",
        b"MAKEFLAGS=" + b"a=a" * 300 + b" !",
        b"npm_config_script_shell=/bin/true",
        b"NPM_CONFIG_USERCONFIG=/tmp/npmrc",
        b"GOFLAGS=-run=NONE",
        b"GOFLAGS=-mod=readonly -toolexec=/tmp/x",
        b"GOENV=/tmp/env",
        b"GOROOT=/tmp/go",
        b"RUSTC_WRAPPER=/tmp/x",
        b"RUSTFLAGS=--cfg other",
        b"CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER=true",
        b"CARGO_HOME=/tmp/cargo",
    ],
)
def test_what_brings_other_code_or_runs_less_is_named(given: bytes) -> None:
    assert misleading(pairs([given]), ROOT, ROOT) == (f"${given.partition(b'=')[0].decode()}",)


@pytest.mark.parametrize(
    ("framework", "given", "harmless"),
    [
        ("go test", b"HOME=/home/agent", True),
        ("go test", b"HOME=/tmp/h", False),
        ("pytest", b"HOME=/tmp/h", True),
        ("go test", b"XDG_CONFIG_HOME=/tmp/h", False),
        ("go test", b"GOPROXY=off", True),
        ("go test", b"GOARCH=386", False),
        ("pytest", b"CC=/tmp/cc", True),
        ("make", b"CC=/tmp/cc", False),
        ("make", b"CC=clang-14", True),
        ("make", b"CFLAGS=-O0 -g -fsanitize=address,undefined -Wall", True),
        ("make", b"CFLAGS=-DNDEBUG", False),
        ("make", b"CFLAGS=-include /tmp/x.h", False),
        ("make", b"CFLAGS=-wrapper /tmp/x", False),
        ("make", b"CPPFLAGS=-I/tmp", False),
        ("make", b"MAKEFILES=/tmp/mk", False),
        ("make", b"CPATH=/tmp", False),
        ("cargo test", b"RUSTDOC=/tmp/x", False),
    ],
)
def test_who_reads_a_variable_is_misled_by_it(framework: str, given: bytes, harmless: bool) -> None:
    found = misleading(pairs([given]), ROOT, ROOT, framework)
    assert (found == ()) is harmless


@pytest.mark.parametrize(
    ("options", "selected"),
    [
        ("", ("tests",)),
        ("--junitxml=/tmp/report-0.xml -o junit_family=xunit1", ("tests",)),
        ("-q tests/more", ("tests/more", "tests")),
        ("--collect-only", None),
        ("-k nothing", None),
        ("-p mine", None),
        ("-o addopts=--co", None),
    ],
)
def test_options_of_the_environment_count_as_those_of_the_line(
    options: str, selected: tuple[str, ...] | None
) -> None:
    given = (("PYTEST_ADDOPTS", options),)
    assert selected_by(["pytest", "tests"], ".", NOWHERE, given) == selected
