"""What the user of a task says: to questions, and when something has happened."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from pydantic import JsonValue, ValidationError

from graders import final
from sandbox.agents.messages import messages
from sandbox.model.briefing import brief
from sandbox.model.fact import Changed, Fact, UserSaid
from sandbox.model.grade import Evidence
from sandbox.model.task import Task
from sandbox.model.user import User
from sandbox.model.verdict import Verdict
from sandbox.run.facts import observer
from sandbox.run.facts.observer import Facts
from sandbox.run.facts.scripted_user import ScriptedUser
from tests.sandbox.runs import FINAL, World, script
from tests.sandbox.worlds import task

USER: dict[str, JsonValue] = {
    "answers": [
        {"id": "moved", "asked": [["port"]], "after": "moved", "says": "It is 81 now."},
        {"id": "first-port", "asked": [["port", "socket number"]], "says": "It is 80."},
        {
            "id": "both",
            "asked": [["name", "called"], "host"],
            "times": 1,
            "marks": ["named"],
            "says": "Call it box.",
        },
        {"id": "named", "asked": [["name"]], "after": "named", "says": "As I said."},
        {"id": "early", "asked": ["name"], "before": "named", "says": "Of what?"},
    ],
    "otherwise": "I cannot say.",
    "turns": [
        {"id": "move", "after": {"changes": "src/*.py"}, "marks": ["moved"], "says": "81, please."},
        {
            "id": "thanks",
            "after": {"kind": "user_said", "arguments": {"saying": "^moved$"}},
            "says": "That was all.",
        },
    ],
}
LABEL: dict[str, JsonValue] = {
    "label": {"type": "integer", "computed": {"latest": {"": 80, "move": 81}}}
}


def user() -> ScriptedUser:
    return ScriptedUser(task(user=USER))


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which PORT is it?", "It is 80."),
        ("the socket\n number, please", "It is 80."),
        ("Is it a seaport?", "I cannot say."),
        ("How is the host called?", "Call it box."),
        ("What name?", "Of what?"),
        ("", "I cannot say."),
    ],
)
def test_the_first_answer_that_fits_is_given(question: str, answer: str) -> None:
    assert user().answer(question).text == answer


def test_what_was_said_before_counts_and_so_does_how_often() -> None:
    one = user()
    asked = ["the name of the host?", "the name of the host?", "name?"]
    assert [one.answer(each).saying for each in asked] == ["both", "named", "named"]


def test_turns_come_in_order_each_once_when_their_fact_has_come() -> None:
    one = user()
    change = Changed(path="src/a.py", digest="1", before="0")
    one.follow(change.model_copy(update={"path": "notes.md"}))
    assert one.next_unheard() is None
    one.follow(change)
    one.follow(change)
    assert one.next_unheard() == UserSaid(saying="move", text="81, please.")
    assert one.next_unheard() is None
    answer = one.answer("port?")
    assert answer.text == "It is 81 now."
    one.follow(answer)
    assert one.next_unheard() == UserSaid(saying="thanks", text="That was all.")


@pytest.mark.parametrize(
    ("broken", "problem"),
    [
        ({"turns": [{"id": "a", "after": {"action": "run_tests"}, "says": "x"}]}, "follows a fact"),
        ({"answers": [{"id": "a", "after": "never", "says": "x"}]}, "which nothing sets"),
        ({"answers": [{"id": "a", "says": "x"}, {"id": "a", "says": "y"}]}, "a is said twice"),
        ({"answers": [{"id": "a", "says": ""}]}, "at least 1 character"),
        ({"answers": [{"id": "a", "says": " "}]}, "is blank"),
        ({"answers": [{"id": "a", "says": "x", "asked": [" "]}]}, "is blank"),
        (
            {"answers": [{"id": "a", "says": "x"}, {"id": "b", "asked": ["y"], "says": "y"}]},
            "answer b is never given: a before it fits every question",
        ),
        (
            {"answers": [{"id": "a", "after": "m", "marks": ["m"], "says": "x"}]},
            "which nothing sets",
        ),
        (
            {"answers": [{"id": "a", "after": "m", "before": "m", "marks": ["m"], "says": "x"}]},
            "that it may not have",
        ),
        (
            {
                "turns": [
                    {
                        "id": "a",
                        "after": {"kind": "user_said", "arguments": {"saying": "^a$"}},
                        "says": "x",
                    }
                ]
            },
            "turn a waits for what nobody says",
        ),
        (
            {
                "turns": [
                    {
                        "id": "a",
                        "after": {"kind": "committed", "arguments": {"nosuch": "x"}},
                        "says": "x",
                    }
                ]
            },
            "committed has no field 'nosuch'",
        ),
    ],
)
def test_a_user_who_cannot_be_is_refused(broken: dict[str, JsonValue], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        User.model_validate_json(json.dumps(broken))


def test_an_answer_field_speaks_of_what_the_user_says() -> None:
    wrong: dict[str, JsonValue] = {
        "label": {"type": "integer", "computed": {"latest": {"": 80, "moved-on": 81}}}
    }
    with pytest.raises(ValidationError, match=r"final\.label: the user never says 'moved-on'"):
        task(user=USER, final=wrong)


# In a run


@pytest.fixture
def world(tmp_path: Path) -> World:
    (tmp_path / "tree/src").mkdir(parents=True)
    return World(tmp_path, task=task(user=USER, final=LABEL))


def grade(world: World, entries_task: Task) -> tuple[Verdict, list[str]]:
    evidence = Evidence.model_construct(
        entries=world.entries,
        final=next(
            (entry.event.fields for entry in world.entries if entry.event.kind == "final"), None
        ),
    )
    graded = final.grade(entries_task, evidence)
    return graded.verdict, [reason.message for reason in graded.reasons]


def test_an_agent_asks_and_hears_what_is_said_meanwhile(world: World) -> None:
    agent = script(
        ("ask_user", {"question": "Which port?"}),
        ("write_file", {"path": "src/a.py", "content": "1\n"}),
        ("ask_user", {"question": "Which port?"}),
        ("final_answer", {"fields": {"label": 81}}),
    )
    world.run(agent)
    first, written, second, _ = agent.replies
    assert (first.result["answer"], first.said) == ("It is 80.", ())
    assert written.said == ("81, please.",)
    assert (second.result["answer"], second.said) == ("It is 81 now.", ("That was all.",))
    said = [entry for entry in world.entries if entry.event.kind == "user_said"]
    assert [entry.action_id for entry in said] == ["1", "2", "3", "3"]
    assert grade(world, world.task) == (Verdict.PASSED, [])
    told = str(messages("Do it.", world.entries))
    assert told.count("81, please.") == 1
    assert told.count("It is 81 now.") == 1


def test_who_does_not_listen_answers_wrongly(world: World) -> None:
    world.act(
        ("write_file", {"path": "src/a.py", "content": "1\n"}),
        ("final_answer", {"fields": {"label": 80}}),
    )
    verdict, reasons = grade(world, world.task)
    assert verdict is Verdict.FAILED
    assert reasons == ["The final answer's label is 80, not 81; the user has said: 81, please."]


def watching(facts: list[Fact]) -> Facts:
    notes = SimpleNamespace(note=lambda fact, _tag: facts.append(fact))
    session = SimpleNamespace(greeting=SimpleNamespace(coverage=lambda _: "exec"))
    return Facts(session, task(user=USER), "/w", notes, inside=True)


def test_a_flood_of_facts_does_not_silence_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observer, "FACTS_MOST", 1)
    facts: list[Fact] = []
    one = watching(facts)
    for path in ("a", "b", "c", "src/a.py"):
        one._note(Changed(path=path, digest="1", before="0"))
    assert one.heard("1") == ("81, please.",)
    assert one.asked("Which port?", "2") == "It is 81 now."
    assert [fact.kind for fact in facts] == ["changed", "facts_lost", "user_said", "user_said"]


def test_what_was_not_told_is_held_against_nobody() -> None:
    """An agent in the container hears what is said with a reply, and of nothing else."""
    facts: list[Fact] = []
    one = watching(facts)
    assert one.asked("Which port?", "in-1") == "It is 80."
    one._user.follow(Changed(path="src/a.py", digest="1", before="0"))
    assert [getattr(fact, "saying", "") for fact in facts] == ["first-port"]
    assert one.heard("in-2") == ("81, please.",)
    assert [getattr(fact, "saying", "") for fact in facts] == ["first-port", "move"]
    assert one.heard("in-3") == ()


@pytest.mark.parametrize(
    ("known", "value", "right"),
    [(2.0, 2, True), (2, 2.0, True), (2, 3, False), (1.5, 1.5, True)],
)
def test_a_number_that_is_latest_is_compared_as_numbers_are(
    world: World, known: float, value: float, right: bool
) -> None:
    label: dict[str, JsonValue] = {
        "label": {"type": "number", "computed": {"latest": {"": 1, "move": known}}}
    }
    world.task = task(user=USER, final=label)
    world.act(
        ("write_file", {"path": "src/a.py", "content": "1\n"}),
        ("final_answer", {"fields": {"label": value}}),
    )
    assert (grade(world, world.task)[0] is Verdict.PASSED) is right


def test_an_answer_of_no_interest_takes_nothing_back(world: World) -> None:
    world.act(
        ("write_file", {"path": "src/a.py", "content": "1\n"}),
        ("ask_user", {"question": "Is that all?"}),
        ("final_answer", {"fields": {"label": 81}}),
    )
    assert grade(world, world.task) == (Verdict.PASSED, [])


def test_before_the_user_has_spoken_the_first_word_holds(world: World) -> None:
    world.act(("final_answer", {"fields": {"label": 81}}))
    assert grade(world, world.task)[1] == [
        "The final answer's label is 81, not 80; the user has said nothing else"
    ]


def test_where_nobody_is_there_nobody_can_be_asked(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    world = World(tmp_path)
    world.act(("ask_user", {"question": "Is anybody there?"}), FINAL)
    assert world.codes[0] == "not_found"
    offered = [
        [each.name for each in brief(one, "r", "/w").actions] for one in (task(), task(user=USER))
    ]
    assert ["ask_user" in names for names in offered] == [False, True]
