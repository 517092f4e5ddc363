"""A seed that only costs more: counted operations judge it, and nobody stops the count."""

from pathlib import Path

import pytest

from sandbox.container.engines.base import Engine
from tests.end_to_end import scripts
from tests.end_to_end.commands import recorded, run

pytestmark = [pytest.mark.engine, pytest.mark.slow]

TASK = "more-itertools/bare-5f277252"
"""`classify_unique` looks through a list of what it has seen."""
BEGIN = (
    "    seen_set = set()\n    seen_list = []\n    use_key = key is not None\n    previous = None\n"
)
SCANNED = (
    "            if k not in list(seen_set):\n                seen_set.add(k)\n                is_"
)
EDIT = """python3 - <<'END'
from pathlib import Path
file = Path("more_itertools/more.py")
text = file.read_text()
for old, new in {edits!r}:
    assert text.count(old) == 1, old
    text = text.replace(old, new)
file.write_text(text)
END"""


def agent(path: Path, *edits: tuple[str, str]) -> Path:
    return scripts.write(
        path,
        scripts.command(EDIT.format(edits=edits)),
        ("final_answer", {"fields": {}}),
    )


def test_who_mends_it_in_a_way_of_their_own_passes(tmp_path: Path, engine: Engine) -> None:
    kept = BEGIN.replace("set()", "{}"), SCANNED.replace(".add(k)", "[k] = True")
    edits = (BEGIN, kept[0]), (SCANNED, kept[1].replace("list(seen_set)", "seen_set"))
    ended = run(agent(tmp_path / "agent.yaml", *edits), tmp_path / "runs", task=TASK)
    assert ended.code == 0, ended
    assert recorded(tmp_path / "runs", engine).grade.verdict == "passed"


@pytest.mark.parametrize(
    "begin",
    [
        "    import sys; sys.settrace(None)\n",
        "    import sys; sys.setprofile(None)\n",
        "    import _thread; _thread.start_new_thread(len, ((),))\n",
    ],
)
def test_who_stops_the_count_or_goes_around_it_fails(
    begin: str, tmp_path: Path, engine: Engine
) -> None:
    edits = (BEGIN, begin + BEGIN), (SCANNED, SCANNED.replace("list(seen_set)", "seen_set"))
    assert run(agent(tmp_path / "agent.yaml", *edits), tmp_path / "runs", task=TASK).code == 1
    (failed,) = (
        each
        for each in recorded(tmp_path / "runs", engine).grade.grades
        if each.verdict != "passed"
    )
    assert failed.grader == "tests"
    assert any("classify_unique" in str(each) for each in failed.reasons)
