"""Presets on the command line: which there are, what stands against one, what is missing."""

import json
from pathlib import Path

import pytest

from sandbox.agents.clients import preset_files
from sandbox.cli.agent import choose_agent
from sandbox.cli.agent_choice import AgentChoice, Protocol
from sandbox.cli.verbs.agents import check, list_presets, rows
from sandbox.model.client import GateCheck, GateReport
from sandbox.model.errors import ClientError, UsageError
from sandbox.model.run_folder import RunFolder
from sandbox.tasks import library

LOADED = library.load("humanize/file-sizes")


@pytest.fixture(autouse=True)
def nothing_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDBOX_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    for name in preset_files.names():
        monkeypatch.delenv(preset_files.find(name).endpoint.key_variable, raising=False)


def kimi(folder: Path, version: str) -> None:
    place = folder / "kimi"
    place.write_text(f"#!/bin/sh\necho {version}\n")
    place.chmod(0o755)


def test_the_list_says_what_is_here(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kimi(tmp_path, "9.9.9")
    list_presets(as_json=True)
    found = {row["preset"]: row for row in json.loads(capsys.readouterr().out)}
    assert list(found) == preset_files.names()
    assert (found["kimi"]["version"], found["kimi"]["gate"]) == ("9.9.9", "never")
    assert (found["codex"]["version"], found["codex"]["gate"]) == (None, "-")
    list_presets()
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == ["preset", "client", "known", "installed", "gate"]
    assert len(lines) == len(found)


def test_one_that_is_not_installed_is_not_checked() -> None:
    with pytest.raises(ClientError, match="Codex is not installed"):
        check("codex")


def test_a_report_is_a_line_for_each_check(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    checks = (
        GateCheck(name="tools", passed=False, message="Tools offered: 11\x1b[2J."),
        GateCheck(name="ended", passed=True, message="The final answer arrived."),
    )
    report = GateReport(
        preset="kimi",
        preset_digest="",
        version="1",
        model="m",
        checked="",
        seconds=1.25,
        checks=checks,
    )
    shown = rows(report)
    assert shown[0] == "kimi 1 as m: failed in 1.2 s"
    assert "\x1b[2J" not in "".join(shown)
    assert [line.split()[:2] for line in shown[1:]] == [["tools", "failed"], ["ended", "passed"]]


def test_a_preset_needs_a_key_and_its_client(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match="MOONSHOT_API_KEY is not set"):
        choose_agent(AgentChoice("kimi"), LOADED)
    monkeypatch.setenv("MOONSHOT_API_KEY", "k")
    with pytest.raises(ClientError, match="not installed"):
        choose_agent(AgentChoice("kimi"), LOADED)
    kimi(tmp_path, "9.9.9")
    chosen = choose_agent(AgentChoice("kimi"), LOADED)
    assert chosen.client is not None
    assert chosen.client.version == "9.9.9"
    assert len(chosen.warnings) == 2
    assert chosen(RunFolder(tmp_path)).name == "kimi"


@pytest.mark.parametrize(
    "choice",
    [
        AgentChoice("kimi", Protocol.JSONL),
        AgentChoice("kimi", prices=Path("x")),
        AgentChoice("oracle", Protocol.MCP),
        AgentChoice("null", model="m"),
    ],
)
def test_options_that_do_not_go_together(choice: AgentChoice) -> None:
    with pytest.raises(UsageError):
        choose_agent(choice, LOADED)


@pytest.mark.parametrize("tag", ["branch", "=main", ""])
def test_a_tag_has_a_key(tag: str) -> None:
    with pytest.raises(UsageError, match="KEY=VALUE"):
        choose_agent(AgentChoice("oracle", tag=(tag,)), LOADED)


def test_two_models_of_one_client_are_two_agents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOONSHOT_API_KEY", "k")
    kimi(tmp_path, "9.9.9")
    plain, one, named = (
        choose_agent(choice, LOADED)
        for choice in (
            AgentChoice("kimi"),
            AgentChoice("kimi", model="k2"),
            AgentChoice("kimi", model="k2", name="ours", tag=("a=b=c",)),
        )
    )
    assert [plain.label, one.label, named.label] == ["kimi", "kimi:k2", "ours"]
    assert named.actor is not None
    assert (named.actor.model, named.actor.command) == ("k2", "kimi")
    assert named.actor.tags == {"a": "b=c"}


def test_others_have_nothing_that_speaks_against_them() -> None:
    assert choose_agent(AgentChoice("oracle"), LOADED).warnings == ()


@pytest.mark.parametrize(
    ("slip", "meant"), [("qwem", "Did you mean qwen?"), ("orcale", "Did you mean oracle?")]
)
def test_a_slip_in_an_agents_name_is_told_before_anything_begins(slip: str, meant: str) -> None:
    with pytest.raises(UsageError, match="neither an agent of this name nor a program") as caught:
        choose_agent(AgentChoice(slip), LOADED)
    assert caught.value.next_step == meant


@pytest.mark.parametrize("command", ["true", "python3 nowhere.py", "./agent --fast", "/bin/no x"])
def test_a_command_line_is_taken_as_it_is(command: str) -> None:
    assert choose_agent(AgentChoice(command), LOADED).label == command


def test_the_model_tells_agents_of_one_name_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    one, other = (
        choose_agent(AgentChoice("llm", model=model, base_url="http://x", name="mine"), LOADED)
        for model in ("a", "b")
    )
    assert one.label == other.label == "mine"
    assert (one.version, other.version) == ("a", "b")
