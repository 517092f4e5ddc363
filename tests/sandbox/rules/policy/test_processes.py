"""A program is decided by what it is, however it is spelt, named, wrapped or started."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sandbox.rules.policy.policies import ROOT, line, process, rule, rules

PUSH = rules(rule("{program: git, arguments: [push, '**']}"))
INSTALL = rules(rule("{program: npm, arguments: [install, '**']}"))
PIP = rules(rule("{program: pip, arguments: [install, '**']}"))
CONTENT = {
    "/tmp/ls": "git",
    "/tmp/x.js": "npm",
    "/opt/venv/bin/pip": "pip",
    "/usr/bin/git": "git",
}.get


@pytest.mark.parametrize(
    "command",
    [
        "git push",
        "git push origin main",
        "/usr/bin/git push",
        "git -C /tmp -c a.b=c --no-pager push",
        "git --git-dir=/x/.git push",
        "cd /tmp && git push || true",
        "A=1 git push",
        "env -u X A=1 git push",
        "sh -c 'git push'",
        "bash -o pipefail -ec 'true; git push'",
        "sh -c \"bash -c 'git push'\"",
        "(git push)",
        "if git push; then true; fi",
        "for x in a b; do git push; done",
        "! git push",
        "true | git push",
        "git push &",
        "nohup git push &",
        "setsid -f git push",
        "timeout -k 5 10 git push",
        "nice -n 5 git push",
        "sudo -u root git push",
        "stdbuf -oL git push",
        "echo x | xargs -n 1 git push",
        "find . -name x -exec git push {} \\;",
        "eval 'git push'",
        "echo $(git push)",
        "busybox sh -c 'git push'",
        "exec git push",
    ],
)
def test_a_line_is_judged_by_the_programs_that_its_text_names(command: str) -> None:
    assert line(PUSH, command).rule == "rule"


@pytest.mark.parametrize(
    "command",
    [
        "git commit -m 'git push'",
        "git stash push",
        "echo git push",
        "grep -r 'git push' .",
        "git log --grep push",
        "cat <<E\ngit push\nE",
        "ls push",
    ],
)
def test_a_line_that_only_speaks_of_it_is_free(command: str) -> None:
    assert line(PUSH, command).rule is None


@pytest.mark.parametrize(
    ("argv", "program", "resolved"),
    [
        (("git", "push"), "git", "/usr/bin/git"),
        (("ls", "push"), "/usr/bin/git", "/usr/bin/git"),
        (("ls", "push"), "/tmp/link", "/usr/bin/git"),
        (("ls", "push"), "/tmp/ls", "/tmp/ls"),
        (("git-push", "origin"), "/usr/lib/git-core/git-push", "/usr/bin/git"),
        (("git-push",), "/usr/bin/git", "/usr/bin/git"),
        (("ld.so", "--argv0", "x", "/usr/bin/git", "push"), "/lib/ld-linux-x86-64.so.2", None),
        (("ld.so", "/tmp/ls", "push"), "/lib64/ld-linux-x86-64.so.2", None),
        (("git", "push"), "/dev/fd/5", "/tmp/ls"),
        (("busybox", "git", "push"), "/bin/busybox", "/bin/busybox"),
        (("git", "push"), "/tmp/git", "/bin/busybox"),
        (("git", "push"), "/tmp/git", ""),
    ],
)
def test_a_process_is_judged_by_its_file(
    argv: tuple[str, ...], program: str, resolved: str | None
) -> None:
    decided = process(PUSH, *argv, program=program, resolved=resolved, identify=CONTENT)
    assert decided.rule == "rule"
    other = [word if word != "push" else "status" for word in argv]
    if "git-push" not in argv:
        found = process(PUSH, *other, program=program, resolved=resolved, identify=CONTENT)
        assert found.rule is None


@pytest.mark.parametrize(
    "argv",
    [
        ("npm", "install"),
        ("npm", "i", "left-pad"),
        ("npm", "--prefix", "/x", "isntall"),
        ("npm", "inst"),
        ("/usr/bin/node", "/usr/bin/npm", "i"),
        ("node", "--require", "x", "/usr/lib/node_modules/npm/bin/npm-cli.js", "add"),
        ("node", "/tmp/x.js", "i"),
        ("node", "../../../tmp/x.js", "i"),
    ],
)
def test_aliases_and_scripts_of_npm(argv: tuple[str, ...]) -> None:
    assert process(INSTALL, *argv, identify=CONTENT).rule == "rule"


@pytest.mark.parametrize(
    "words",
    [
        ("ci",),
        ("--prefer-offline", "ci"),
        ("ci", "--offline", "--no-offline"),
        ("ci", "--offline=false"),
        ("ci", "--offline", "false"),
        ("--offline", "false", "ci"),
        ("--cache-min", "5", "ci"),
        ("ci", "--offline", "--registry=http://127.0.0.1:1/"),
        ("dedupe",),
        ("prune",),
        ("uninstall", "x"),
        ("link",),
        ("x", "--", "npm", "ci"),
    ],
)
def test_what_takes_offline_back_wants_the_network(words: tuple[str, ...]) -> None:
    assert process(rules(rule("{program: npm, network: true}")), "npm", *words).rule


@pytest.mark.parametrize(
    "words",
    [("ci", "--offline"), ("--offline", "i"), ("--loglevel", "silly", "test"), ("ls", "ci")],
)
def test_what_is_offline_does_not(words: tuple[str, ...]) -> None:
    assert not process(rules(rule("{program: npm, network: true}")), "npm", *words).rule


def test_what_npm_does_besides_is_free() -> None:
    for argv in (("npm", "test"), ("npm", "ci"), ("npm", "run", "install"), ("node", "install")):
        assert process(INSTALL, *argv, identify=CONTENT).rule is None


@pytest.mark.parametrize(
    "argv",
    [
        ("pip", "install", "x"),
        ("pip3.11", "install", "x"),
        ("python", "-m", "pip", "install", "x"),
        ("python3.11", "-I", "-W", "error", "-m", "pip", "install", "x"),
        ("python3", "-Im", "pip", "install", "x"),
        ("python3", "-mpip", "install", "x"),
        ("python3", "-m", "pip.__main__", "install", "x"),
        ("python3", "/opt/venv/bin/pip", "install", "x"),
        ("python3", "/opt/venv/lib/pip/__main__.py", "install", "x"),
        ("python3", "/opt/venv/lib/pip", "install", "x"),
    ],
)
def test_modules_of_python(argv: tuple[str, ...]) -> None:
    assert process(PIP, *argv).rule == "rule"
    assert line(PIP, shlex.join(argv)).rule == "rule"


@pytest.mark.parametrize(
    "argv",
    [
        ("python", "-c", "print('-m pip install')", "-m", "pip", "install"),
        ("python", "x.py", "-m", "pip", "install"),
        ("python", "-X", "m", "install"),
        ("pip", "list"),
    ],
)
def test_what_is_no_module(argv: tuple[str, ...]) -> None:
    assert process(PIP, *argv).rule is None


def test_a_rule_may_use_any_name_of_a_program() -> None:
    book = rules(rule("{program: python3, arguments: ['-c', '**']}"))
    assert process(book, "python3.12", "-c", "x").rule == "rule"
    assert process(book, "pypy", "-c", "x").rule == "rule"
    assert process(book, "perl", "-c", "x").rule is None


def test_absolute_paths_and_globs() -> None:
    book = rules(rule("{program: [/opt/**, 'x*']}"))
    assert process(book, "/opt/tools/run").rule == "rule"
    assert process(book, "run", program="run", resolved="/opt/tools/run").rule == "rule"
    assert process(book, "/usr/bin/xz").rule == "rule"
    assert process(book, "/usr/bin/run").rule is None


def test_words_match_in_order_with_alternatives() -> None:
    book = rules(rule("{program: curl, arguments: ['**', [-d, --data*], '*', '**', 'http*']}"))
    assert process(book, "curl", "-s", "-d", "x", "http://a").rule == "rule"
    assert process(book, "curl", "--data-raw", "x/y", "-s", "http://a").rule == "rule"
    assert process(book, "curl", "-d", "http://a").rule is None
    assert process(book, "curl", "http://a", "-d", "x").rule is None


def test_the_file_that_is_written_is_where_the_rule_says() -> None:
    book = rules(rule("{program: cp, arguments: ['**', '{path}'], path: 'docs/**'}"))
    assert process(book, "cp", "a", "docs/b").rule == "rule"
    assert process(book, "cp", "a", "b", cwd=f"{ROOT}/docs").rule == "rule"
    assert process(book, "cp", "a", f"{ROOT}/x/../docs/b").rule == "rule"
    assert process(book, "cp", "docs/a", "b").rule is None
    joined = rules(rule("{program: dd, arguments: ['**', 'of={path}', '**'], path: /etc/*}"))
    assert process(joined, "dd", "if=x", "of=../../../etc/passwd", "bs=1").rule == "rule"
    assert process(joined, "dd", "if=/etc/passwd", "of=x").rule is None


def test_directories_start_at_the_worktree() -> None:
    book = rules(rule("{program: make, cwd: ['.', 'src/**', /tmp]}"))
    assert process(book, "make").rule == "rule"
    assert process(book, "make", cwd=f"{ROOT}/src/x").rule == "rule"
    assert process(book, "make", cwd="/tmp").rule == "rule"
    assert process(book, "make", cwd=f"{ROOT}/docs").rule is None
    assert process(book, "make", cwd="/").rule is None
    assert line(book, "make", cwd="src/x").rule == "rule"
    assert line(book, "make", cwd="docs").rule is None


def test_the_network_is_wanted_by_what_the_table_says() -> None:
    book = rules(rule("{network: true}", "ask"))
    for command in ("curl x", "git fetch", "npm ci", "pip install x", "python -m pip download x"):
        assert line(book, command).scope == "network"
    for command in ("git log", "npm ci --offline", "pip install --no-index x", "npm test", "ls"):
        assert line(book, command).rule is None


def test_who_started_it() -> None:
    book = rules(rule("{program: curl, started_by: [make, 'pytest*']}"))
    assert process(book, "curl", ancestors=("sh", "/usr/bin/make", "bash")).rule == "rule"
    assert process(book, "curl", ancestors=("py.test",)).rule == "rule"
    assert process(book, "curl", ancestors=("bash",)).rule is None
    shell = rules(rule("{program: curl, started_by: timeout}"))
    assert line(shell, "xargs timeout 5 curl").rule == "rule"
    assert line(shell, "xargs curl").rule is None


def test_the_action_that_started_it() -> None:
    book = rules(rule("{action: run_tests, program: git}"))
    assert line(book, "git log", "run_tests").rule == "rule"
    assert line(book, "git log", "run_command").rule is None


# Which decision holds


def test_the_strictest_program_of_a_line_decides() -> None:
    book = rules(
        rule("{program: git, arguments: [status, '**']}", "allow", "look"),
        rule("{program: curl}", "ask", "ask"),
        rule("{program: git}", "deny", "no"),
    )
    assert line(book, "git status").rule == "look"
    assert line(book, "git status; curl x").rule == "ask"
    assert line(book, "git status; curl x; git log").rule == "no"


def test_a_rule_about_actions_does_not_free_a_process() -> None:
    book = rules(rule("{action: run_*}", "allow", "free"), rule("{program: git}", "deny", "no"))
    assert line(book, "git log").rule == "no"
    assert process(book, "git", "log").rule == "no"
    assert line(book, "ls").rule == "free"


def test_no_file_is_allowed_for_its_name_alone() -> None:
    book = rules(rule("{program: git}", "allow", "git"), rule("{program: '*'}", "deny", "rest"))
    known = {"/usr/bin/git": "git"}.get
    assert process(book, "/usr/bin/git", identify=known).rule == "git"
    assert process(book, "/tmp/git", identify=known).rule == "rest"
    assert process(book, "/tmp/ls", identify={"/tmp/ls": "git"}.get).rule == "rest"
    assert line(book, "git log").rule == "git"


def test_what_python_turns_into_is_judged_too() -> None:
    book = rules(
        rule("{program: python}", "allow", "python"),
        rule("{program: pip}", "deny", "pip"),
    )
    known = {"/usr/bin/python3": "python3"}.get
    assert process(book, "/usr/bin/python3", "x.py", identify=known).rule == "python"
    assert process(book, "/usr/bin/python3", "-m", "pip", identify=known).rule == "pip"


@given(st.lists(st.text(max_size=8), max_size=6))
def test_any_words_can_be_judged(words: list[str]) -> None:
    for book in (PUSH, INSTALL, PIP):
        process(book, "python", *words)
        process(book, "env", *words)
        line(book, " ".join(words))


@given(st.lists(st.sampled_from(["-C", "/x", "-c", "push", "a=b", "--no-pager"]), max_size=4))
def test_what_holds_of_a_program_holds_of_its_copy(options: list[str]) -> None:
    argv = ("git", *options, "push")
    known = {"/tmp/copy": "git"}.get
    direct = process(PUSH, *argv)
    assert process(PUSH, *argv, program="/tmp/copy", identify=known) == direct
