"""Presets as data: each is whole, and a client is started as it says."""

import json
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from sandbox.agents.clients import preset_files, usage
from sandbox.agents.clients.gate_reports import identify, keep, report
from sandbox.agents.clients.installation import Installation, locate, place, version
from sandbox.agents.clients.preset import Package, Preset, UsageReading, VersionReading
from sandbox.agents.clients.preset_client import Model, PresetClient, choose_model, offered
from sandbox.agents.mcp_agent import Address
from sandbox.model.client import GateCheck, GateReport
from sandbox.model.errors import ClientError, DocumentError, UsageError

NAMES = preset_files.names()
ADDRESS = Address(
    "http://127.0.0.1:1/mcp", "TOKEN", Path("/s/mcp.sock"), Path("/s/c"), ("read_file", "git_diff")
)


def program(folder: Path, prints: str = "1.2.3") -> Installation:
    place = folder / "client"
    place.write_text(f"#!/bin/sh\necho '{prints}'\n")
    place.chmod(0o755)
    return Installation(place, "/usr/bin:/bin")


def test_the_presets_are_those_of_the_documents() -> None:
    assert NAMES == [
        "claude-code",
        "codex",
        "codex-remote",
        "gemini",
        "kimi",
        "mini-swe-agent",
        "opencode",
        "qwen",
    ]


@pytest.mark.parametrize("name", NAMES)
def test_a_preset_is_whole(name: str, tmp_path: Path) -> None:
    preset = preset_files.find(name)
    assert preset.name == name
    assert preset.built_in
    for built_in in preset.built_in:
        assert "${canary}" in built_in.model_dump_json()
    installation = program(tmp_path, '{"models": []}')
    client = PresetClient(preset, installation, Model("MODEL", "http://127.0.0.1:2/v1", "KEY"))
    folder = tmp_path / "private"
    folder.mkdir()
    launch = client.launch(ADDRESS, "PROMPT", folder)
    written = "".join(path.read_text() for path in (folder / "home").rglob("*") if path.is_file())
    told = " ".join((*launch.arguments, *launch.environment.values(), written))
    assert "${" not in told
    for value in ("PROMPT", "MODEL", "http://127.0.0.1:2/v1", "KEY"):
        assert value in told
    assert "TOKEN" in told or "/s/mcp.sock" in told
    assert launch.environment["HOME"] == str(folder / "home")
    assert launch.cwd == folder / "work"
    assert list((folder / "work").iterdir()) == []


def test_nothing_else_of_the_callers_environment_is_passed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_OF_MINE", "x")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy/$x")
    monkeypatch.setenv("NO_PROXY", "intranet")
    preset = preset_files.find("claude-code")
    client = PresetClient(preset, program(tmp_path), Model("m", "u", "k"))
    environment = client.launch(ADDRESS, "p", tmp_path).environment
    assert "SECRET_OF_MINE" not in environment
    assert environment["HTTPS_PROXY"] == "http://proxy/$x"
    assert environment["NO_PROXY"] == "127.0.0.1,localhost,::1,intranet"
    assert environment["TMPDIR"] == str(tmp_path / "tmp")


def test_one_that_is_unknown_names_the_nearest() -> None:
    with pytest.raises(UsageError) as caught:
        preset_files.find("claude")
    assert "claude-code" in caught.value.next_step


def test_a_key_is_needed_and_what_is_said_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    preset = preset_files.find("codex")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(UsageError, match="OPENAI_API_KEY"):
        choose_model(preset, None, None)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    assert choose_model(preset, None, None) == Model("gpt-5.5", "https://api.openai.com/v1", "k")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://there")
    assert choose_model(preset, "m", None) == Model("m", "http://there", "k")
    assert choose_model(preset, "m", "http://here") == Model("m", "http://here", "k")


def test_offered_names() -> None:
    preset = preset_files.find("claude-code")
    assert offered(preset, ["read_file"]) == {"mcp__sandbox__read_file"}
    assert offered(preset_files.find("mini-swe-agent"), ["a", "b"]) == {"bash"}
    remote = preset_files.find("codex-remote")
    assert offered(remote, ["read_file", "final_answer"]) == {"mcp__sandbox.final_answer"}


def test_a_client_that_acts_in_the_container_knows_where_that_is(tmp_path: Path) -> None:
    preset = preset_files.find("codex-remote")
    installation = program(tmp_path, '{"models": []}')
    client = PresetClient(preset, installation, Model("MODEL", "http://127.0.0.1:2/v1", "KEY"))
    folder = tmp_path / "private"
    folder.mkdir()
    launch = client.launch(replace(ADDRESS, worktree="/home/agent/x"), "PROMPT", folder)
    written = tomllib.loads((folder / "home" / ".codex" / "environments.toml").read_text())
    assert written["include_local"] is False
    (environment,) = written["environments"]
    assert written["default"] == environment["id"]
    assert environment["program"] == sys.executable
    given = ["/s/mcp.sock", str(folder / "work"), "/home/agent/x"]
    assert environment["args"][-3:] == given
    assert "the repository is /home/agent/x" in launch.arguments[-1]
    configuration = tomllib.loads((folder / "home" / ".codex" / "config.toml").read_text())
    assert tuple(configuration["mcp_servers"]["sandbox"]["enabled_tools"]) == preset.given


def test_two_presets_of_one_client_share_its_installation(tmp_path: Path) -> None:
    assert place(preset_files.find("codex-remote"), tmp_path) == place(
        preset_files.find("codex"), tmp_path
    )


# Installations


def test_one_that_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ClientError, match="Kimi Code is not installed") as caught:
        locate(preset_files.find("kimi"), tmp_path)
    assert "sandbox agents install kimi" in caught.value.next_step


def test_one_on_the_path_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "kimi").symlink_to(program(tmp_path).program)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert locate(preset_files.find("kimi"), tmp_path / "cache").program == tmp_path / "kimi"


@pytest.mark.parametrize(
    ("prints", "found"), [("1.2.3", "1.2.3"), ("codex-cli 0.9.10-beta.1 (x)", "0.9.10-beta.1")]
)
def test_a_version_is_read(tmp_path: Path, prints: str, found: str) -> None:
    assert version(preset_files.find("kimi"), program(tmp_path, prints)) == found


def test_a_client_that_is_asked_for_its_version_leaves_the_callers_home_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    installation = program(tmp_path)
    installation.program.write_text("#!/bin/sh\ntouch $HOME/mess $TMPDIR/mess\necho 1.2.3\n")
    assert version(preset_files.find("kimi"), installation) == "1.2.3"
    assert list(tmp_path.iterdir()) == [installation.program]


def test_a_version_that_is_not_told_or_a_program_that_fails(tmp_path: Path) -> None:
    preset = preset_files.find("kimi")
    with pytest.raises(ClientError, match="does not say its version"):
        version(preset, program(tmp_path, "hello"))
    failing = VersionReading(command=("sh", "-c", "echo why >&2; exit 3"))
    with pytest.raises(ClientError, match="status 3: why"):
        version(preset.model_copy(update={"version": failing}), program(tmp_path))
    with pytest.raises(ClientError, match="could not be started"):
        version(
            preset.model_copy(update={"version": VersionReading(command=("no-such",))}),
            program(tmp_path),
        )


def test_another_version_and_a_gate_never_passed_are_said(tmp_path: Path) -> None:
    preset = preset_files.find("kimi")
    known = preset.package.version
    found = identify(preset, program(tmp_path), tmp_path)
    assert (found.version, found.known_version, found.gate) == ("1.2.3", known, "never")
    assert [part in found.warnings[0] for part in ("1.2.3", known)] == [True, True]
    assert "sandbox agents check kimi" in found.warnings[1]
    checks = [GateCheck(name="tools", passed=passed, message="") for passed in (True, False)]
    for passed in (True, False):
        made = GateReport(
            preset="kimi",
            preset_digest=preset_files.digest(preset),
            version="1.2.3",
            model="m",
            checked="",
            seconds=1,
            checks=tuple(checks[: 1 if passed else 2]),
        )
        keep(preset, made, tmp_path)
        assert report(preset, "1.2.3", tmp_path) == made
        again = identify(preset, program(tmp_path), tmp_path)
        assert again.gate == ("passed" if passed else "failed")
    keep(preset, made.model_copy(update={"preset_digest": "another"}), tmp_path)
    assert report(preset, "1.2.3", tmp_path) is None
    known_one = program(tmp_path, known)
    assert len(identify(preset, known_one, tmp_path).warnings) == 1


def test_a_wrong_template_is_said(tmp_path: Path) -> None:
    preset = preset_files.find("kimi").model_copy(update={"files": {"${home}/x": "${nothing}"}})
    with pytest.raises(ClientError, match="nothing"):
        PresetClient(preset, program(tmp_path), Model("m", "u", "k")).launch(ADDRESS, "p", tmp_path)


def test_a_preset_with_an_unknown_key_is_refused(tmp_path: Path) -> None:
    from sandbox.model.documents import load

    text = (preset_files.FOLDER / "kimi.yaml").read_text()
    (tmp_path / "x.yaml").write_text(text + "colour: red\n")
    with pytest.raises(DocumentError, match="colour: unknown key"):
        load(tmp_path / "x.yaml", Preset)
    assert Package.model_fields


# What was used

READING = UsageReading(
    where={"type": "result"}, input=("usage.in",), output=("usage.out",), cost=("models.*.cost",)
)


def test_usage_is_added_up_over_documents_and_places() -> None:
    row = {"type": "result", "usage": {"in": 3, "out": 2}, "models": {"a": {"cost": 0.5}, "b": {}}}
    text = "\n".join(["noise", json.dumps(row), json.dumps({"type": "other"}), json.dumps(row)])
    found = usage.read(READING, text)
    assert found is not None
    assert (found.input_tokens, found.output_tokens, found.cost) == (6, 4, 1.0)
    last = usage.read(READING.model_copy(update={"last": True}), text)
    assert last is not None
    assert last.input_tokens == 3
    assert usage.read(READING, "nothing") is None


VALUES = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats() | some.text(),
    lambda inner: (
        some.lists(inner)
        | some.dictionaries(
            some.sampled_from(["type", "usage", "in", "out", "models", "cost", "x"]), inner
        )
    ),
)


@pytest.mark.slow
@given(value=VALUES)
def test_whatever_a_client_prints_is_a_claim_or_nothing(value: object) -> None:
    reading = READING.model_copy(update={"where": {}})
    found = usage.read(reading, json.dumps(value))
    assert found is None or found.input_tokens >= 0
