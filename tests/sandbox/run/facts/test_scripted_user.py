"""What the user of a task says: to questions, and when something has happened."""

import json
from pathlib import Path

import pytest
from pydantic import JsonValue, ValidationError

from graders import final
from sandbox.agents.messages import messages
from sandbox.model.briefing import brief
from sandbox.model.fact import Changed, UserSaid
from sandbox.model.grade import Evidence, Verdict
from sandbox.model.task import Task
from sandbox.model.user import User
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
    assert one.follow(change.model_copy(update={"path": "notes.md"})) is None
    said = one.follow(change)
    assert said == UserSaid(saying="move", text="81, please.")
    assert one.follow(change) is None
    assert one.unheard() == ("81, please.",)
    assert one.unheard() == ()
    answer = one.answer("port?")
    assert answer.text == "It is 81 now."
    assert one.follow(answer) == UserSaid(saying="thanks", text="That was all.")


@pytest.mark.parametrize(
    ("broken", "problem"),
    [
        ({"turns": [{"id": "a", "after": {"action": "run_tests"}, "says": "x"}]}, "follows a fact"),
        ({"answers": [{"id": "a", "after": "never", "says": "x"}]}, "which nothing sets"),
        ({"answers": [{"id": "a", "says": "x"}, {"id": "a", "says": "y"}]}, "a is said twice"),
        ({"answers": [{"id": "a", "says": ""}]}, "at least 1 character"),
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
