"""Folders of Harbor and Terminal-Bench, read without running anything of them."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from sandbox.model.errors import DocumentError
from sandbox.tasks.imports import folders, foreign_folders
from sandbox.tasks.imports.foreign_task import Limits

HARBOR = {
    "task.toml": """
schema_version = "1.1"
[task]
name = "org/Count-Lines"
[agent]
timeout_sec = 900.0
[verifier]
timeout_sec = 60
env = { MODE = "strict", KEY = "${API_KEY}", LEVEL = "${LEVEL:-low}" }
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

UNSET = "Only a host could set these variables: KEY."
DISK = "Limits that it does not set are here: environment.storage_mb 4096 MiB."
NETWORK = "Its agent may use the network; here there is none."


def written(folder: Path, files: Mapping[str, str | None]) -> Path:
    for name, text in files.items():
        if text is not None:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
    return folder


def test_a_folder_of_harbor_is_read(tmp_path: Path) -> None:
    found = foreign_folders.read("harbor", written(tmp_path, HARBOR))
    assert (found.name, found.instruction) == ("Count-Lines", "# Count\n\nCount the lines.")
    assert (found.workdir, found.result, found.entry) == ("/app", "reward", "test.sh")
    assert set(found.context) == {"Dockerfile", "data/log"}
    assert found.fetches.python == ("pytest==8.4.1",)
    assert (found.limits.agent_seconds, found.limits.test_seconds) == (900, 60)
    assert (found.limits.cpus, found.limits.memory_bytes) == (1, 512 << 20)
    assert found.test_variables == {"MODE": "strict", "LEVEL": "low"}
    assert found.notes == (UNSET, DISK)


def test_a_folder_of_terminal_bench_is_read(tmp_path: Path) -> None:
    found = foreign_folders.read("terminal-bench", written(tmp_path / "count", BENCH))
    assert (found.name, found.instruction) == ("count", "Count the lines.")
    assert (found.workdir, found.result, found.entry) == ("/app", "summary", "run-tests.sh")
    assert set(found.context) == {"Dockerfile", "data/log", "docker-compose.yaml"}
    assert set(found.tests) == {"run-tests.sh", "test_outputs.py"}
    assert (found.limits.agent_seconds, found.limits.test_seconds) == (600, 30)
    assert found.notes == (NETWORK, "Volumes of its compose file are not mounted.")


def test_what_grades_and_lies_in_the_image_is_told(tmp_path: Path) -> None:
    changed = {**BENCH, "Dockerfile": f"{BENCH['Dockerfile']}COPY --chmod=755 ./tests/ /app/t\n"}
    found = foreign_folders.read("terminal-bench", written(tmp_path, changed))
    assert "tests/test_outputs.py" in found.context
    assert "Its image holds what grades it: tests/test_outputs.py." in found.notes


def test_a_network_that_is_not_there_is_told(tmp_path: Path) -> None:
    text = HARBOR["task.toml"].replace('network_mode = "no-network"\n', "")
    found = foreign_folders.read("harbor", written(tmp_path, {**HARBOR, "task.toml": text}))
    assert found.notes == (NETWORK, UNSET, DISK)


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
        ({"task.toml": "[environment]\ntpu = {type = 'v6e'}"}, "a TPU"),
        ({"task.toml": "[environment]\nos = 'Windows'"}, "another system than Linux"),
        ({"task.toml": "[[environment.mcp_servers]]\nname = 'a'"}, "tool servers of its own"),
        ({"task.toml": "[verifier]\nenvironment_mode = 'separate'"}, "an image of their own"),
        ({"task.toml": "[verifier]\nenvironment = {cpus = 1}"}, "an image of their own"),
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
        foreign_folders.read("harbor", written(tmp_path, {**HARBOR, **changed}))
    assert said in raised.value.message


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"task.yaml": "instruction: a\nparser_name: swebench\n"}, "read by swebench"),
        ({"task.yaml": "instruction: ''\n"}, "tells the agent nothing"),
        ({"task.yaml": "a: &x [1]\nb: *x\n"}, "task.yaml:"),
        ({"docker-compose.yaml": "services:\n  client:\n    x: y\n  db:\n    x: y\n"}, "several"),
        ({"docker-compose.yaml": "services:\n    a:\n        x: y\n    b:\n"}, "several"),
        ({"docker-compose.yaml": "services: {a: {image: x}, b: {image: y}}"}, "several"),
        ({"docker-compose.yaml": "services: [a]"}, "no services"),
        ({"docker-compose.yaml": "services: {a: 1}"}, "no fields"),
        ({"docker-compose.yaml": "services: {a: {build: other}}"}, "built of other"),
        ({"docker-compose.yaml": "services: {a: {build: {target: x}}}"}, "several stages"),
        ({"docker-compose.yaml": "a: &a [x]\nb: [*a, *a]\n"}, "docker-compose.yaml:"),
        ({"run-tests.sh": None}, "it has no run-tests.sh"),
    ],
)
def test_what_cannot_be_kept_refuses_a_folder_of_terminal_bench(
    tmp_path: Path, changed: dict[str, str | None], said: str
) -> None:
    with pytest.raises(DocumentError) as raised:
        foreign_folders.read("terminal-bench", written(tmp_path, {**BENCH, **changed}))
    assert said in raised.value.message


def limited(folder: Path, said: str) -> Limits:
    text = f"[environment]\nnetwork_mode = 'no-network'\n{said}"
    found = foreign_folders.read("harbor", written(folder, {**HARBOR, "task.toml": text}))
    return found.limits


@pytest.mark.parametrize(
    ("said", "mebibytes"),
    [("memory_mb = inf", 2048), ("memory_mb = true", 2048), ("memory = '4G'", 4096)],
)
def test_an_odd_size_is_no_size(tmp_path: Path, said: str, mebibytes: int) -> None:
    assert limited(tmp_path, said).memory_bytes == mebibytes << 20


def test_limits_that_are_not_the_authors_are_told(tmp_path: Path) -> None:
    found = limited(tmp_path, "storage = '1G'\ncpus = nan\n[verifier]\ntimeout_sec = 1e9")
    assert (found.disk_bytes, found.cpus, found.test_seconds) == (1 << 30, 2, 86_400)
    unset, other = found.notes
    assert unset.endswith("agent.timeout_sec 3600 s, environment.memory_mb 2048 MiB.")
    assert other.startswith("Limits that cannot be as it sets them are here: ")
    assert other.endswith("verifier.timeout_sec 86400 s, environment.cpus 2 processors.")


def test_every_field_that_is_not_kept_is_told_and_no_other(tmp_path: Path) -> None:
    text = (
        HARBOR["task.toml"]
        + """
healthcheck = { command = "true" }
skills_dir = "/skills"
env = { LANGUAGE = "C", TOKEN = "${TOKEN}" }
odd = 1
allowed_hosts = []
[solution]
env = { WORDS = "two words" }
[metadata]
anything = "at all"
[surprise]
new = 1
"""
    )
    text = text.replace("[verifier]", "[verifier]\nuser = 'nobody'\ncollect = [{command = 'x'}]")
    text = f"artifacts = ['/app/out']\n{text}"
    found = foreign_folders.read("harbor", written(tmp_path, {**HARBOR, "task.toml": text}))
    assert found.variables == {"LANGUAGE": "C"}
    assert found.solution_variables == {"WORDS": "two words"}
    assert set(found.notes) == {
        "Its artifacts are not collected; a run's folder holds the files that were changed.",
        "Its tests run as root here, and not as the user that it names.",
        "What it collects before its tests (verifier.collect) is not collected.",
        "It waits for a health check; here the agent starts at once.",
        "Its agent is not given its folder of skills.",
        "Fields that are not known here were not read: environment.odd, surprise.new.",
        "Only a host could set these variables: KEY, TOKEN.",
        DISK,
    }


def test_what_a_compose_file_says_of_the_container_is_kept_or_told(tmp_path: Path) -> None:
    compose = """
services:
  client:
    build: {context: ., dockerfile: Dockerfile}
    image: ${T_BENCH_TASK_DOCKER_CLIENT_IMAGE_NAME}
    command: [sh, -c, sleep infinity]
    environment: ["TEST_DIR=${T_BENCH_TEST_DIR}", LANGUAGE=C, TOKEN]
    volumes: ["${T_BENCH_TASK_LOGS_PATH}:${T_BENCH_CONTAINER_LOGS_PATH}"]
    network_mode: none
    privileged: true
    mem_limit: 2g
    odd: 1
networks: {a: {}}
"""
    task = f"{BENCH['task.yaml']}run_tests_in_same_shell: true\ncategory: a\nodd: 1\n"
    changed = {**BENCH, "docker-compose.yaml": compose, "task.yaml": task}
    found = foreign_folders.read("terminal-bench", written(tmp_path, changed))
    assert found.variables == {"LANGUAGE": "C"}
    assert set(found.notes) == {
        "Its tests run in a shell of their own, and not in the agent's.",
        "Its container is not privileged.",
        "The bound on memory of its compose file is not kept.",
        "Not kept of its compose file: networks.",
        "Only a host could set these variables: TOKEN.",
        "Fields that are not known here were not read: odd.",
    }


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
    found = foreign_folders.read("terminal-bench", folder)
    assert found.workdir == "/app"
    assert "tests/test_outputs.py" in found.context


def test_folders_without_an_end_are_refused(tmp_path: Path) -> None:
    folder = written(tmp_path, HARBOR)
    (folder / "/".join(["x"] * 100)).mkdir(parents=True)
    with pytest.raises(DocumentError, match="levels of folders"):
        foreign_folders.read("harbor", folder)


def test_links_lead_nowhere_and_giants_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    folder = written(tmp_path / "task", HARBOR)
    (folder / "environment/link").symlink_to(secret)
    (folder / "environment/up").symlink_to(tmp_path)
    found = foreign_folders.read("harbor", folder)
    assert set(found.context) == {"Dockerfile", "data/log"}
    assert "Links were left out: environment/link, environment/up." in found.notes
    monkeypatch.setattr(folders, "MOST_BYTES", 100)
    with pytest.raises(DocumentError, match="holds more than"):
        foreign_folders.read("harbor", folder)
