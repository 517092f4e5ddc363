"""Command lines and task files that nobody would write: no traceback, no hang."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from sandbox.cli.app import VERBS, application
from sandbox.cli.crash import HINTS
from tests.end_to_end.commands import NO_ENGINE, SANDBOX

pytestmark = pytest.mark.thorough

TASK = "inflection/house-terms"
GARBAGE = yaml.safe_load(Path(__file__).with_name("fuzzed-lines.yaml").read_text())
OPTIONS, VALUES = GARBAGE["options"], [*GARBAGE["values"], "\udcff", "x" * 5000]
STARTS = {"agents", "build", "doctor", "generate", "mcp", "mine", "open", "view"}
"""What installs, starts or serves something, or draws for a minute, whatever it is given."""

HARMLESS = sorted({*VERBS, "baseline", "import", "policy"} - STARTS)
READING = ("runs", "report", "show", "tasks", "trace", "check", "doctor", "gc", "export", "schema")
ENDS = (0, 1, 2, 3, 4, 130, 141)

words = st.lists(
    st.sampled_from(OPTIONS) | st.sampled_from(VALUES) | st.text(max_size=8), max_size=7
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("lines")


@pytest.fixture(autouse=True)
def apart(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", NO_ENGINE)
    monkeypatch.setenv("SANDBOX_RUNS", str(place / "runs"))
    monkeypatch.chdir(place)


def check(line: list[str]) -> None:
    ended = CliRunner().invoke(application(), line)
    if ended.exception is not None and not isinstance(ended.exception, SystemExit):
        refused = isinstance(ended.exception, OSError) and ended.exception.errno in HINTS
        assert refused, line  # such is told in a sentence, by `main`
    assert ended.exit_code in ENDS, line


environments = st.dictionaries(
    st.sampled_from(GARBAGE["variables"]), st.sampled_from(GARBAGE["contents"]), max_size=4
)


@settings(
    max_examples=int(os.environ.get("SANDBOX_FUZZ_LINES", "8000")),
    suppress_health_check=list(HealthCheck),
    deadline=20_000,
)
@given(st.sampled_from(HARMLESS), words)
def test_no_command_line_gives_a_traceback(verb: str, line: list[str]) -> None:
    check([verb, *line])


Descriptor = Literal["open", "closed", "full", "broken"]
DESCRIPTORS: tuple[Descriptor, ...] = ("open", "closed", "full", "broken")


def begun(descriptors: Sequence[Descriptor]) -> None:
    """Give a new process the descriptors 0, 1 and 2 that it is to have."""
    for number, kind in enumerate(descriptors):
        if kind == "closed":
            os.close(number)
        elif kind == "full":
            os.dup2(os.open("/dev/full", os.O_RDWR), number)
        elif kind == "broken":
            reading, writing = os.pipe()
            os.dup2(reading if number == 0 else writing, number)
            os.close(reading)
            os.close(writing)


@settings(
    max_examples=int(os.environ.get("SANDBOX_FUZZ_PROCESSES", "500")),
    suppress_health_check=list(HealthCheck),
    deadline=None,
)
@given(
    st.sampled_from(READING),
    words,
    environments,
    st.tuples(*[st.sampled_from(DESCRIPTORS)] * 3),
)
def test_no_environment_and_no_descriptor_gives_a_traceback(
    place: Path,
    verb: str,
    line: list[str],
    environment: dict[str, str],
    descriptors: tuple[Descriptor, ...],
) -> None:
    """A whole process, for what it does before and after the verb is tried, too."""
    plain = [word.replace("\0", "") for word in line]
    outputs = [place / "out", place / "err"]
    with outputs[0].open("w") as out, outputs[1].open("w") as err:
        done = subprocess.run(
            [SANDBOX, verb, *plain],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            env={**os.environ, "DOCKER_HOST": NO_ENGINE, **environment},
            cwd=place,
            timeout=60,
            preexec_fn=lambda: begun(descriptors),
            check=False,
        )
    told = "".join(each.read_text(errors="replace") for each in outputs)
    tried = (verb, plain, environment, descriptors, told[-2000:])
    assert done.returncode in ENDS, tried
    assert "Traceback" not in told, tried
    assert "mistake in sandbox itself" not in told, tried


documents = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=20,
)


@settings(
    max_examples=int(os.environ.get("SANDBOX_FUZZ_FILES", "2000")),
    suppress_health_check=list(HealthCheck),
    deadline=20_000,
)
@given(data=st.data())
def test_no_task_file_gives_a_traceback(place: Path, data: st.DataObject) -> None:
    from sandbox.model import places

    folder = place / "project" / "task_repos" / "inflection" / "house-terms"
    folder.mkdir(parents=True, exist_ok=True)
    whole = yaml.safe_load((places.project() / "task_repos" / TASK / "task.yaml").read_text())
    key = data.draw(st.sampled_from(sorted(whole)))
    part = whole[key]
    if isinstance(part, dict) and part and data.draw(st.booleans()):
        part[data.draw(st.sampled_from(sorted(map(str, part))))] = data.draw(documents)
    else:
        whole[key] = data.draw(documents)
    text = yaml.safe_dump(whole, allow_unicode=True)
    if data.draw(st.booleans()):
        at = data.draw(st.integers(0, len(text)))
        text = text[:at] + data.draw(st.text(max_size=5)) + text[at:]
    (folder / "task.yaml").write_text(text, errors="backslashreplace")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SANDBOX_PROJECT", str(place / "project"))
        for verb in ("show", "check"):
            check([verb, TASK])
