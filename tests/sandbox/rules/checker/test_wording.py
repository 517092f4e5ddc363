"""Hard rules that go by how a line was spelt."""

import pytest

from sandbox.model.atom import Atom, Predicate
from sandbox.model.decision import Outcome, Pattern, PolicyRule
from sandbox.model.rule import Never
from sandbox.rules.checker.wording import worded

POLICY = tuple(
    PolicyRule(id=name, when=when, decision=Outcome.DENY, reason="x")
    for name, when in (
        ("by-text", Pattern(command="git stash")),
        ("by-program", Pattern(program=("git",), arguments=(("push",), ("**",)))),
    )
)


def rule(atom: Atom, *, hard: bool = True) -> Never:
    return Never(id="r", template="never", a=atom, hard=hard, reason="x", stated_in="prompt")


@pytest.mark.parametrize(
    ("atom", "instead"),
    [
        (Atom(action="run_command", arguments={"command": r"\bgit stash\b"}), "kind: stashed"),
        (Atom(arguments={"command": "curl"}), "kind: exec"),
        (Atom(action="run_*", argv=("git", "commit", "**")), "kind: committed"),
        (Atom(action="run_command", argv=("git", "push", "**")), "kind: refused"),
        (Atom(argv=("npm", "ci")), "kind: exec"),
        (Atom(action="run_tests", tests=(".",), exit_code=0), "Leave `action` out"),
        (Atom(action="read_file", reads="docs/*.md"), "Leave `action` out"),
        (Atom(action="run_agent", arguments={"command": "git stash"}), "kind: stashed"),
        (
            Atom(action="run_*", where={"arguments.command": Predicate(matches="git push")}),
            "kind: refused",
        ),
        (Atom(kind="exec", arguments={"argv": "git stash"}), "globs over its words"),
        (
            Atom(kind="exec", where={"arguments.argv": Predicate(has="--no-verify")}),
            "globs over its words",
        ),
        (Atom(kind="exec", argv=("sh", "-c", "*git stash*")), "kind: stashed"),
        (Atom(kind="exec", argv=(("dash", "bash"), "**")), "kind: exec"),
        (Atom(kind="exec", argv=("*sh", "-c", "*commit*")), "kind: committed"),
        (Atom(kind="exec", argv=("/bin/bash", "-c", "**")), "kind: exec"),
        (Atom(kind="exec", argv=("env", "bash", "-c", "**")), "kind: exec"),
        (Atom(kind="exec", argv=("**", "*git commit*")), "kind: committed"),
        (Atom(kind="refused"), "rule by-text"),
        (Atom(kind="refused", where={"arguments.rule": Predicate(equals="by-text")}), "by-text"),
        (
            Atom(kind="refused", where={"arguments.rule": Predicate(one_of=("x", "by-text"))}),
            "by-text",
        ),
    ],
)
def test_a_hard_rule_that_goes_by_words_is_refused(atom: Atom, instead: str) -> None:
    (finding,) = worded([rule(atom)], POLICY)
    assert finding.kind == "words"
    assert finding.message.startswith("The hard rule r goes by how a line was spelt")
    assert instead in finding.message
    assert list(worded([rule(atom, hard=False)], POLICY)) == []


@pytest.mark.parametrize(
    "atom",
    [
        Atom(tests=(".",), exit_code=0),
        Atom(reads="docs/*.md"),
        Atom(changes="src/**"),
        Atom(action="apply_patch", changes="src/**"),
        Atom(action="run_*", error_code="approval_*"),
        Atom(action="request_approval", arguments={"command": "^npm ci$"}),
        Atom(kind="exec", argv=("git", "push", "**")),
        Atom(kind="exec", argv=("bash",)),
        Atom(kind="exec", arguments={"path": "^/hooks/pre-commit$"}),
        Atom(kind="committed"),
        Atom(kind="refused", where={"arguments.rule": Predicate(equals="by-program")}),
    ],
)
def test_facts_and_the_interface_itself_are_not_words(atom: Atom) -> None:
    assert list(worded([rule(atom)], POLICY)) == []
