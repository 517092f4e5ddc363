from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox.container.engines.base import Engine, SessionSpec
from sandbox.container.engines.fake import Answer, FakeEngine
from sandbox.model.errors import ImageError
from sandbox.model.session import Command
from tests.sandbox.container.engines.conformance import SCRIPT, Conformance

TAG = "fake:root"


class TestFake(Conformance):
    image = TAG

    @pytest.fixture
    def engine(self, root_archive: Path) -> Engine:
        engine = FakeEngine(SCRIPT)
        engine.import_image(root_archive, tag=TAG, labels={"sandbox.test": "engines"})
        return engine


@pytest.fixture
def run(tmp_path: Path) -> Callable[[tuple[str, ...]], int | None]:
    (tmp_path / "Dockerfile").write_text("FROM scratch\n")
    engine = FakeEngine({("git", "*"): Answer(1), ("make", "**"): Answer(2)})
    engine.build(tmp_path, tag=TAG, labels={}, network="none", on_line=lambda _line: None)
    session = engine.start(SessionSpec(TAG))
    return lambda argv: session.run(Command(argv)).exit_code


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        (("git", "status"), 1),
        (("make",), 2),
        (("make", "a", "b"), 2),
    ],
)
def test_patterns_match_word_by_word(
    run: Callable[[tuple[str, ...]], int | None], argv: tuple[str, ...], code: int | None
) -> None:
    assert run(argv) == code


@pytest.mark.parametrize("argv", [("git", "status", "-s"), ("git",), ("ls",)])
def test_what_no_pattern_matches_is_no_program(
    run: Callable[[tuple[str, ...]], int | None], argv: tuple[str, ...]
) -> None:
    with pytest.raises(FileNotFoundError):
        run(argv)


def test_a_build_prints_its_steps(tmp_path: Path) -> None:
    lines: list[str] = []
    engine = FakeEngine()
    with pytest.raises(ImageError):
        engine.build(tmp_path, tag="a:1", labels={}, network="none", on_line=lines.append)
    (tmp_path / "Dockerfile").write_text("FROM scratch\nCOPY . /\n")
    first = engine.build(tmp_path, tag="a:1", labels={}, network="none", on_line=lines.append)
    again = engine.build(tmp_path, tag="a:1", labels={}, network="none", on_line=lines.append)
    assert lines[:2] == ["FROM scratch", "COPY . /"]
    assert first == again
