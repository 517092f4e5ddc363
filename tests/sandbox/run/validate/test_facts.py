"""Facts that a task is graded by, and where they are stated."""

from collections.abc import Callable

import pytest
from pydantic import JsonValue

from sandbox.model.task import Task
from sandbox.run.validate.facts import Stated, facts, stated
from sandbox.tasks import library
from tests.sandbox.worlds import task

LOADED = library.load("humanize/file-sizes")

FILES = {"AGENTS.md": "Say `area: summary`;\n  keep   to src/.", "src/a.py": "pass\n"}
PROMPT = """Mend src/a.py, so that test_a passes. notes.md is mine. Leave all else alone, and
commit nothing. Finish with `count`. Look at README.md before you change anything."""

RULE: JsonValue = {
    "id": "look-first",
    "template": "precedes",
    "a": {"reads": "README.md"},
    "b": {"changes": "src/a.py"},
    "reason": "It is there to be read.",
    "stated_in": "prompt",
}


def statements() -> list[JsonValue]:
    return [
        {"says": "Mend src/a.py, so that test_a passes.", "facts": ["must src/a.py", "tests *"]},
        {"says": "notes.md is mine.", "facts": ["user notes.md"]},
        {"says": "Leave all else alone, and commit nothing.", "facts": ["collateral", "commits *"]},
        {"says": "Look at README.md", "facts": ["rule look-first"]},
    ]


def toy(*changed: JsonValue, **fields: JsonValue) -> Task:
    """A task that states everything, its first statements replaced."""
    every: list[JsonValue] = [*changed, *statements()[len(changed) :]]
    final: JsonValue = {"count": {"type": "integer", "expect": 3}}
    usual: dict[str, JsonValue] = {
        "prompt": PROMPT,
        "rules": [RULE],
        "final": final,
        "statements": every,
    }
    return task(**{**usual, **fields})


def problems(checked: Task, read: Callable[[str], str | None] = FILES.get) -> list[str]:
    return [f"{each.fact}: {text}" for each in stated(checked, read) for text in each.problems]


def test_the_toy_states_everything() -> None:
    assert problems(toy()) == []
    names = [fact.name for fact in facts(toy())]
    assert names == [
        "must src/a.py",
        "user notes.md",
        "collateral",
        "commits none",
        "rule look-first",
        "final count",
        "tests a",
    ]


def test_each_statement_is_needed() -> None:
    for place in range(len(statements())):
        rest = [each for number, each in enumerate(statements()) if number != place]
        found = problems(toy(statements=[*rest]))
        assert found
        assert all(text.endswith("no statement covers it") for text in found)


@pytest.mark.parametrize(
    ("first", "problem"),
    [
        (
            {"says": "Mend src/b.py.", "facts": ["must src/a.py", "tests *"]},
            "must src/a.py: prompt does not say 'Mend src/b.py.'",
        ),
        (
            {"says": "so that test_a passes", "facts": ["must src/a.py", "tests *"]},
            "must src/a.py: its statement does not hold 'src/a.py', nor says how that follows",
        ),
        (
            {"says": "pass", "stated_in": "gone.md", "facts": ["must src/a.py", "tests *"]},
            "must src/a.py: gone.md does not say 'pass'",
        ),
        (
            {"says": "Mend src/a.py", "facts": ["must *", "tests *", "never x"]},
            "never x: nothing that is graded is called 'never x'",
        ),
    ],
)
def test_what_is_wrong_with_a_statement_is_said(first: JsonValue, problem: str) -> None:
    assert problem in problems(toy(first))


def test_how_a_fact_follows_takes_the_place_of_its_words() -> None:
    says: JsonValue = {
        "says": "so that test_a passes",
        "facts": ["must *", "tests *"],
        "follows": "It is.",
    }
    assert problems(toy(says)) == []


def test_line_breaks_and_spaces_count_alike() -> None:
    says: JsonValue = {
        "says": "Say `area:\nsummary`; keep to src/.",
        "stated_in": "AGENTS.md",
        "facts": ["must *", "tests *"],
        "follows": "All of src/ is one file.",
    }
    assert problems(toy(says)) == []


def test_a_rule_is_stated_where_it_says() -> None:
    elsewhere: JsonValue = {**RULE, "stated_in": "AGENTS.md"}  # type: ignore[dict-item]
    (problem,) = problems(toy(rules=[elsewhere]))
    assert problem.startswith("rule look-first: the rule says that it is stated in AGENTS.md")


def test_a_field_that_the_prompt_does_not_name_is_not_stated() -> None:
    found = problems(toy(prompt=PROMPT.replace("`count`", "`counted`")))
    assert found == ["final count: no statement covers it"]


def test_what_a_policy_tells_is_a_place() -> None:
    policy: JsonValue = {
        "rules": [
            {
                "id": "no-push",
                "when": {"program": "git", "arguments": ["push"]},
                "decision": "deny",
                "reason": "Look at README.md instead.",
            }
        ]
    }
    says: list[JsonValue] = [
        *statements()[:3],
        {"says": "README.md", "stated_in": "policy", "facts": ["rule *"]},
    ]
    rule: JsonValue = {**RULE, "stated_in": "policy"}  # type: ignore[dict-item]
    assert problems(toy(policy=policy, statements=says, rules=[rule])) == []


def test_the_fixed_parts_of_a_message_have_to_be_said() -> None:
    scope: JsonValue = {
        "must": ["src/a.py"],
        "user": ["notes.md"],
        "git": {
            "commits": "required",
            "message": r"(?s)\A[a-z]+: [^\n]*[^\n. ]\n\n(?:.*\n)?Refs: TOY-12\n?\Z",
        },
    }
    says: list[JsonValue] = [*statements(), {"says": "Leave all else", "facts": ["commit message"]}]
    (problem,) = problems(toy(scope=scope, statements=says))
    assert "'Refs: TOY-12'" in problem


def test_the_real_task_states_all_that_it_grades() -> None:
    folder = LOADED.folder / "instructions"
    found: list[Stated] = stated(LOADED.task, lambda place: (folder / place).read_text())
    assert [each for each in found if each.problems] == []
    assert len(found) > 20
