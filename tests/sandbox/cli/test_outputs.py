"""What verbs print as JSON has a published schema; every test that asks for it checks it."""

import json
from typing import Any

import pytest
import typer

from sandbox.cli import outputs
from sandbox.cli.app import application
from tests import ROOT
from tests.end_to_end.commands import sandbox


def options(command: Any, name: str = "") -> dict[str, set[str]]:  # noqa: ANN401 - click's
    """The options of each verb."""
    below = getattr(command, "commands", None)
    if below is None:
        return {name: {option for each in command.params for option in each.opts}}
    found: dict[str, set[str]] = {}
    for word, each in below.items():
        found |= options(each, f"{name} {word}".strip())
    return found


def test_the_published_schema_is_current_and_whole() -> None:
    published = json.loads((ROOT / "docs/output.schema.json").read_text())
    assert published == outputs.schema(), (
        "write docs/output.schema.json anew: sandbox schema > docs/output.schema.json"
    )
    verbs = options(typer.main.get_command(application()))
    with_json = {verb for verb, known in verbs.items() if "--json" in known}
    assert with_json == {*outputs.TYPES, *outputs.KINDS} - {"call"}


def test_a_verbs_schema_stands_by_itself() -> None:
    found = json.loads(sandbox("schema", "policy", "explain").out)
    assert found["$ref"] == "#/$defs/Explanation"
    assert "Decision" in found["$defs"]


def test_of_a_verb_with_several_kinds_each_has_a_schema() -> None:
    whole, one = (
        json.loads(sandbox("schema", *verb).out) for verb in (("run",), ("run", "single"))
    )
    assert one["$ref"] == "#/$defs/RunGrade"
    assert whole["anyOf"][0] == {"$ref": one["$ref"]}
    assert whole["anyOf"][1]["items"] == {"$ref": "#/$defs/JobResult"}


@pytest.mark.parametrize(
    ("verb", "said"), [("reprot", "Did you mean report?"), ("zzz", "There is agents check")]
)
def test_a_verb_without_json_is_told(verb: str, said: str) -> None:
    ended = sandbox("schema", verb)
    assert (ended.code, said in ended.err) == (2, True)


def test_what_could_steer_a_terminal_is_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    from sandbox.cli.output_records import Removed

    outputs.write("gc", Removed(folders=("a\x1b[31m\x9b", "b")))
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\x9b" not in out
    assert json.loads(out)["folders"] == ["a\x1b[31m\x9b", "b"]
