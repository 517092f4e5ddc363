"""Rules that cannot work, and examples that are not as their rule says, are refused by line."""

import pytest

from sandbox.model.errors import DocumentError
from tests.sandbox.rules.policy.policies import policy

RULE = (
    "  - {{id: x, when: {when}, decision: deny, reason: r, match: {match}, not_match: {other}}}\n"
)


def read(when: str, match: str = "[]", other: str = "[]") -> None:
    policy("rules:\n" + RULE.format(when=when, match=match, other=other))


@pytest.mark.parametrize(
    ("when", "match", "other"),
    [
        ("{program: git}", "[git log, [git, log], 'sh -c \"git log\"']", "[ls, [ls, git]]"),
        ("{command: 'x+y'}", "[axxyb]", "[xz]"),
        ("{action: run_tests, program: make}", "[make]", "[ls]"),
        ("{program: git, cwd: docs/**}", "[git log]", "[]"),
        ("{program: git, started_by: make}", "[git log]", "[]"),
        ("{started_by: make}", "[anything]", "[]"),
        ("{network: true}", "[npm i]", "[npm i --offline]"),
        (
            "{program: cp, arguments: ['**', '{path}'], path: /etc/*}",
            "[cp a /etc/b]",
            "[cp /etc/a b]",
        ),
    ],
)
def test_examples_that_are_as_they_say(when: str, match: str, other: str) -> None:
    read(when, match, other)


def test_an_example_that_is_not_is_named() -> None:
    with pytest.raises(DocumentError) as caught:
        policy(
            "rules:\n"
            "  - id: no-push\n"
            "    when: {program: git, arguments: [push]}\n"
            "    decision: deny\n"
            "    reason: r\n"
            "    match:\n"
            "      - git push\n"
            "      - git push origin\n"
            "    not_match:\n"
            "      - [git, push]\n"
        )
    assert caught.value.message.splitlines() == [
        "policy.yaml:8: rules[0].match[1]: the rule 'no-push' does not match 'git push origin'",
        "policy.yaml:10: rules[0].not_match[0]: the rule 'no-push' matches 'git push'",
    ]


@pytest.mark.parametrize(
    ("when", "problem"),
    [
        ("{arguments: [x]}", "`arguments` go with a `program`"),
        ("{program: git, command: x}", "by which no process is known"),
        ("{program: bin/git}", "neither a name nor an absolute path"),
        ("{program: cp, path: x}", "needs `{path}`"),
        ("{program: cp, arguments: ['{path}']}", "needs `path`"),
        ("{program: cp, arguments: ['{path}x'], path: x}", "at the end of a word"),
        ("{program: cp, arguments: [[a, '**']]}", "stands alone"),
        ("{program: []}", "at least 1 item"),
        ("{program: 3}", "valid array"),
        ("{programme: git}", "did you mean program?"),
        ("{cwd: a//b}", "names must not be empty"),
    ],
)
def test_a_pattern_that_cannot_work_is_refused(when: str, problem: str) -> None:
    with pytest.raises(DocumentError, match=r"policy.yaml:2: rules\[0\]\.when") as caught:
        read(when)
    assert problem in caught.value.message


def test_two_rules_of_one_id_are_refused() -> None:
    text = "  - {id: x, when: {}, decision: deny, reason: r}\n"
    with pytest.raises(DocumentError, match="two rules have the id 'x'"):
        policy("rules:\n" + text * 2)
