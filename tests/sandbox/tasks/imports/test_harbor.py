"""Folders of Harbor and Terminal-Bench, read without running anything of them."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from sandbox.model.errors import DocumentError
from sandbox.tasks.imports import folders, harbor

HARBOR = {
    "task.toml": """
schema_version = "1.1"
[task]
name = "org/Count-Lines"
[agent]
timeout_sec = 900.0
[verifier]
timeout_sec = 60
env = { MODE = "strict", KEY = "${API_KEY}" }
[environment]
cpus = 1
memory_mb = 512
network_mode = "no-network"
""",
    "instruction.md": "<!-- harbor-canary GUID 1 -->\n\n# Count\n\nCount the lines.\n",
    "environment/Dockerfile": "FROM debian:bookworm\nCOPY data /app/data\nWORKDIR /app\n",
    "environment/data/log": "a\nb\n",
    "tests/test.sh": "pip install pytest==8.4.1\npytest /tests/test_it.py\n",
    "tests/test_it.py": "def test_it(): ...\n",
    "solution/solve.sh": "wc -l < data/log > count\n",
}
BENCH = {
    "task.yaml": """
# canary GUID 1
instruction: |-
  Count the lines.
parser_name: pytest
max_agent_timeout_sec: 600.0
max_test_timeout_sec: 30.0
""",
    "Dockerfile": "FROM ubuntu:24.04\nWORKDIR /app\nCOPY data ./data\n",
    "docker-compose.yaml": "services:\n  client:\n    build: .\n    volumes:\n      - a:b\n",
    "data/log": "a\nb\n",
    "run-tests.sh": "uv run pytest $TEST_DIR/test_outputs.py -rA\n",
    "tests/test_outputs.py": "def test_it(): ...\n",
    "solution.sh": "wc -l < data/log > count\n",
}

UNSET = "Variables that its tests would take from the host are not set."


def written(folder: Path, files: Mapping[str, str | None]) -> Path:
    for name, text in files.items():
        if text is not None:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
    return folder


def test_a_folder_of_harbor_is_read(tmp_path: Path) -> None:
    found = harbor.read("harbor", written(tmp_path, HARBOR))
    assert (found.name, found.instruction) == ("Count-Lines", "# Count\n\nCount the lines.")
    assert (found.workdir, found.result, found.entry) == ("/app", "reward", "test.sh")
    assert set(found.context) == {"Dockerfile", "data/log"}
    assert found.fetches.python == ("pytest==8.4.1",)
    assert (found.agent_seconds, found.test_seconds) == (900, 60)
    assert (found.cpus, found.memory_bytes) == (1, 512 << 20)
    assert found.variables == {"MODE": "strict"}
    assert found.notes == (UNSET,)


def test_a_folder_of_terminal_bench_is_read(tmp_path: Path) -> None:
    found = harbor.read("terminal-bench", written(tmp_path / "count", BENCH))
    assert (found.name, found.instruction) == ("count", "Count the lines.")
    assert (found.workdir, found.result, found.entry) == ("/app", "summary", "run-tests.sh")
    assert set(found.context) == {"Dockerfile", "data/log", "docker-compose.yaml"}
    assert set(found.tests) == {"run-tests.sh", "test_outputs.py"}
    assert (found.agent_seconds, found.test_seconds) == (600, 30)


def test_what_grades_and_lies_in_the_image_is_told(tmp_path: Path) -> None:
    changed = {**BENCH, "Dockerfile": f"{BENCH['Dockerfile']}COPY --chmod=755 ./tests/ /app/t\n"}
    found = harbor.read("terminal-bench", written(tmp_path, changed))
    assert "tests/test_outputs.py" in found.context
    assert found.notes == ("Its image holds what grades it: tests/test_outputs.py.",)


def test_a_network_that_is_not_there_is_told(tmp_path: Path) -> None:
    text = HARBOR["task.toml"].replace('network_mode = "no-network"\n', "")
    found = harbor.read("harbor", written(tmp_path, {**HARBOR, "task.toml": text}))
    assert found.notes == ("Its agent may use the network; here there is none.", UNSET)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"solution/solve.sh": None}, "it has no solution/solve.sh"),
        ({"tests/test.sh": None}, "it has no tests/test.sh"),
        ({"task.toml": "[task"}, "task.toml"),
        ({"task.toml": "steps = ['a']"}, "several steps"),
        ({"task.toml": "[environment]\ngpus = 1"}, "a GPU"),
        ({"task.toml": "[environment]\nworkdir = '/'"}, "working directory is not set"),
        ({"task.toml": "[environment]\nworkdir = '/etc/x'"}, "cannot be a checkout"),
        ({"task.toml": "[environment]\nworkdir = '/a/../b c'"}, "working directory is"),
        ({"task.toml": "[verifier]\nenvironment_mode = 'separate'"}, "an image of their own"),
        ({"environment/docker-compose.yaml": "services: {}"}, "several containers"),
        ({"environment/Dockerfile": "FROM debian\n"}, "working directory is not set"),
        ({"environment/Dockerfile": "FROM debian\nWORKDIR /usr\n"}, "cannot be a checkout"),
        ({"environment/Dockerfile": "FROM debian\nWORKDIR /a/../etc\n"}, "working directory is"),
        ({"instruction.md": "<!-- canary GUID 1 -->\n"}, "tells the agent nothing"),
        ({"task.toml": '[task]\nname = "a\\nb"'}, "not a plain one"),
        ({"task.toml": f"[task]\nname = '{'x' * 300}'"}, "not a plain one"),
        ({"task.toml": f"a = {'[' * 5_000}"}, "task.toml"),
        ({"task.toml": f"a = {'9' * 5_000}"}, "task.toml"),
    ],
)
def test_what_cannot_be_kept_refuses_a_folder_of_harbor(
    tmp_path: Path, changed: dict[str, str | None], said: str
) -> None:
    with pytest.raises(DocumentError) as raised:
        harbor.read("harbor", written(tmp_path, {**HARBOR, **changed}))
    assert said in raised.value.message


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"task.yaml": "instruction: a\nparser_name: swebench\n"}, "read by swebench"),
        ({"task.yaml": "instruction: ''\n"}, "tells the agent nothing"),
        ({"task.yaml": "a: &x [1]\nb: *x\n"}, "task.yaml:"),
        ({"docker-compose.yaml": "services:\n  client:\n    x: y\n  db:\n    x: y\n"}, "several"),
        ({"docker-compose.yaml": "services:\n    a:\n        x: y\n    b:\n"}, "several"),
        ({"run-tests.sh": None}, "it has no run-tests.sh"),
    ],
)
def test_what_cannot_be_kept_refuses_a_folder_of_terminal_bench(
    tmp_path: Path, changed: dict[str, str | None], said: str
) -> None:
    with pytest.raises(DocumentError) as raised:
        harbor.read("terminal-bench", written(tmp_path, {**BENCH, **changed}))
    assert said in raised.value.message


@pytest.mark.parametrize(
    ("said", "mebibytes"),
    [("memory_mb = inf", 2048), ("memory_mb = true", 2048), ("memory = '4G'", 4096)],
)
def test_an_odd_size_is_no_size(tmp_path: Path, said: str, mebibytes: int) -> None:
    text = HARBOR["task.toml"].replace("memory_mb = 512", said)
    found = harbor.read("harbor", written(tmp_path, {**HARBOR, "task.toml": text}))
    assert found.memory_bytes == mebibytes << 20


@pytest.mark.parametrize(
    "dockerfile",
    [
        "FROM ubuntu:24.04\nWORKDIR /app\nCOPY data \\\n  tests ./\n",
        "FROM ubuntu:24.04\r\nWORKDIR /app\r\nCOPY it's tests /x\r\n",
    ],
)
def test_odd_lines_of_a_dockerfile_are_read(tmp_path: Path, dockerfile: str) -> None:
    changed = {**BENCH, "Dockerfile": dockerfile}
    folder = written(tmp_path, changed)
    (folder / "Dockerfile").write_bytes(dockerfile.encode())
    found = harbor.read("terminal-bench", folder)
    assert found.workdir == "/app"
    assert "tests/test_outputs.py" in found.context


def test_folders_without_an_end_are_refused(tmp_path: Path) -> None:
    folder = written(tmp_path, HARBOR)
    (folder / "/".join(["x"] * 100)).mkdir(parents=True)
    with pytest.raises(DocumentError, match="levels of folders"):
        harbor.read("harbor", folder)


def test_links_lead_nowhere_and_giants_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    folder = written(tmp_path / "task", HARBOR)
    (folder / "environment/link").symlink_to(secret)
    (folder / "environment/up").symlink_to(tmp_path)
    found = harbor.read("harbor", folder)
    assert set(found.context) == {"Dockerfile", "data/log"}
    assert "Links were left out: environment/link, environment/up." in found.notes
    monkeypatch.setattr(folders, "MOST_BYTES", 100)
    with pytest.raises(DocumentError, match="holds more than"):
        harbor.read("harbor", folder)
