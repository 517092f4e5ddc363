"""Which lines of named files an agent was shown."""

from pydantic import JsonValue

from sandbox.model.fact import Shown
from sandbox.run.facts.shown import ShownFiles

TEXT = """# Instructions that win

- The nearest file wins.
- Another sentence here.
short
- The fourth long line.
"""


def files() -> ShownFiles:
    return ShownFiles({"AGENTS.md": TEXT})


def shown(files: ShownFiles, *texts: str) -> list[Shown]:
    return [fact for text in texts for fact in files.take({"stdout": text})]


def test_the_whole_file_is_shown_once() -> None:
    known = files()
    (fact,) = shown(known, f"before\n{TEXT}after")
    assert (fact.lines, fact.seen, fact.total, fact.most) == (4, 4, 4, True)
    assert shown(known, TEXT) == []


def test_parts_add_up() -> None:
    first, second = shown(files(), TEXT[:30], "3:- The nearest file wins.", "nothing of it")
    assert (first.seen, first.most) == (1, False)
    assert (second.lines, second.seen, second.most) == (1, 2, True)


def test_a_name_or_a_count_is_no_reading() -> None:
    assert shown(files(), "AGENTS.md", "6 AGENTS.md", "-rw-r--r-- AGENTS.md", "short") == []


def test_it_is_found_in_whatever_an_agent_is_told() -> None:
    known = files()
    told: dict[str, JsonValue] = {
        "matches": [{"path": "AGENTS.md", "text": "- The nearest file wins."}],
        "count": 1,
    }
    (fact,) = known.take(told)
    assert fact.lines == 1


def test_a_file_of_short_lines_has_them_all() -> None:
    known = ShownFiles({"names": "a\nb\nc\n"})
    (fact,) = shown(known, "a b c")
    assert (fact.total, fact.most) == (3, True)


def test_another_text_is_shown_anew() -> None:
    known = files()
    shown(known, TEXT)
    known.replace("AGENTS.md", "- A sentence that is new.\n")
    (fact,) = shown(known, "- A sentence that is new.")
    assert (fact.seen, fact.total) == (1, 1)
