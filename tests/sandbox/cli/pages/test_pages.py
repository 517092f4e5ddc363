"""Pages: what is foreign stays text, nothing is loaded, and every number leads to its runs."""

import base64
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from sandbox.cli.pages.plots import Library
from sandbox.cli.pages.run_page import run_page
from sandbox.cli.pages.site import index, page_of_experiment
from sandbox.container.changes.patch import name_of
from sandbox.model.errors import UsageError
from sandbox.model.store import Store
from sandbox.model.verdict import Verdict
from tests.sandbox.cli.pages.stored import experiment, stored_run

HOSTILE = (
    '<script>alert(1)</script>"><img src=x onerror=alert(2)>'
    "'--><svg onload=alert(3)></style></title><a href='javascript:alert(4)'>{{ 7 * 7 }}"
)
DRAWS = Library(("/* a library */", "/* what calls it */"), "/* its style */")


class Parsed(HTMLParser):
    """What a browser would find."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.scripts: list[str] = []
        self.text = ""
        self.said: list[tuple[dict[str, str], str]] = []
        self._inside = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.tags.append((tag, found))
        self._inside = tag
        if tag == "script" and "type" not in found:
            self.scripts.append("")

    def handle_endtag(self, _: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "script" and self.scripts:
            self.scripts[-1] += data
        elif self._inside != "style":
            self.text += data
            if self._inside == "a":
                self.said.append((self.tags[-1][1], data))

    def targets(self, prefix: str = "") -> set[str]:
        ids = {attrs["id"] for _, attrs in self.tags if "id" in attrs}
        return {each for each in ids if each.startswith(prefix)}

    def told(self, attribute: str) -> list[str]:
        """What the elements say that have an attribute, which is not empty."""
        return [text for attrs, text in self.said if attrs.get(attribute)]

    def links(self) -> list[str]:
        return [attrs["href"] for tag, attrs in self.tags if tag == "a"]


def check_inert(page: str) -> Parsed:
    """Nothing is executed but what the page's own policy names, and nothing is fetched."""
    parsed = Parsed(page)
    assert not {tag for tag, _ in parsed.tags} & {"img", "iframe", "object", "embed", "base"}
    for tag, attrs in parsed.tags:
        assert not [name for name in attrs if name.startswith("on")], tag
        assert "src" not in attrs, tag
        if tag != "link":
            assert re.match("^(#|/)", attrs.get("href", "#")), attrs
    (policy,) = [attrs["content"] for _, attrs in parsed.tags if "http-equiv" in attrs]
    assert "default-src 'none'" in policy
    allowed = set(re.findall("'sha256-([^']+)'", policy))
    digests = {
        base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        for script in parsed.scripts
    }
    assert digests == allowed
    return parsed


def test_what_an_agent_or_a_container_says_stays_text(tmp_path: Path) -> None:
    store = Store(tmp_path)
    folder = stored_run(store, "0000000a-run", text=HOSTILE, agent=HOSTILE)
    folder.agent_log.write_text(HOSTILE)
    parsed = check_inert(run_page(folder))
    assert HOSTILE in parsed.text


def test_what_turns_or_hides_text_is_shown(tmp_path: Path) -> None:
    folder = stored_run(Store(tmp_path), "0000000a-run", text="a\u202eb\x1b[31m\x00c")
    page = run_page(folder)
    assert "a\\x202eb\\x1b[31m\\x00c" in page
    assert not set(page) & {"\u202e", "\x1b", "\x00"}


def test_a_page_of_a_run_says_why_and_leads_to_the_event(tmp_path: Path) -> None:
    folder = stored_run(Store(tmp_path), "0000000a-run", text="you committed before the suite")
    parsed = check_inert(run_page(folder))
    assert "you committed before the suite" in parsed.text
    assert "/repo/tests/test_a.py:13: assert '1' == '1,3'" in parsed.text
    assert "#e6" in parsed.links()
    assert {link[1:] for link in parsed.links() if link.startswith("#")} <= parsed.targets()


def test_an_altered_run_is_invalid_on_its_page(tmp_path: Path) -> None:
    folder = stored_run(Store(tmp_path), "0000000a-run", verdict=Verdict.PASSED)
    folder.trace.write_bytes(folder.trace.read_bytes().replace(b"hello", b"olleh"))
    page = run_page(folder)
    assert "<title>invalid: " in page
    assert "was altered" in page


def test_names_that_steer_keep_their_content_and_owner(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for number, name in enumerate(("a\u202eb.txt", "a\tb", "a\u200bb", "a\n# must: /repo/x")):
        folder = stored_run(store, f"0000000{number}-run", text=name)
        path = name_of(f"/repo/{name}")
        folder.patch.write_text(f"# collateral: {path}\n@@ -0,0 +1 @@\n+CONTENT\n")
        page = run_page(folder)
        assert "CONTENT" in page, name
        assert '<span class="plus">+1</span>' in page, name


@pytest.mark.parametrize("lost", ["trace", "changes", "tests", "patch"])
def test_a_run_of_which_something_is_lost_has_a_page_that_says_so(
    tmp_path: Path, lost: str
) -> None:
    folder = stored_run(Store(tmp_path), "0000000a-run")
    getattr(folder, lost).unlink()
    page = run_page(folder)
    assert ("That was not collected" in page) is (lost == "changes")
    assert ("is not whole" in page) is (lost == "trace")
    assert ("<title>invalid" in page) is (lost != "patch")


def test_each_number_of_an_experiment_leads_to_its_runs(tmp_path: Path) -> None:
    store = Store(tmp_path)
    experiment(store, [Verdict.PASSED, Verdict.FAILED, Verdict.FAILED], planned=5)
    parsed = check_inert(page_of_experiment(store, "many", DRAWS))
    assert "2 of 5 have not begun" in parsed.text
    assert "trajectory: suite-before-commit" in parsed.text, "what was broken first, at event 6"
    runs = {link[1:] for link in parsed.links()} - {"runs"}
    assert len(runs) == 3
    assert runs == parsed.targets("r0")
    numbers = [attrs["data-only"].split() for _, attrs in parsed.tags if attrs.get("data-only")]
    keys = [set(attrs["data-keys"].split()) for _, attrs in parsed.tags if "data-keys" in attrs]
    counts = [sum(row.issuperset(wanted) for row in keys) for wanted in numbers]
    shown = [int(text.split("/")[-1]) for text in parsed.told("data-only") if text]
    assert counts == shown
    assert sorted(counts[:2]) == [1, 2], "passed and failed, in the first line"
    assert "1/3" in parsed.text
    assert "mean of the worst 5 %" in parsed.text


def test_a_page_without_the_library_says_so_and_has_the_rest(tmp_path: Path) -> None:
    store = Store(tmp_path)
    experiment(store, [Verdict.PASSED], planned=1)
    page = page_of_experiment(store, "many", Library(problem="It cannot be fetched."))
    assert "Plots are missing: It cannot be fetched." in check_inert(page).text


def test_there_is_no_page_of_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no experiment"):
        page_of_experiment(Store(tmp_path), "../many", DRAWS)


def test_an_experiment_says_which_of_its_runs_are_gone_and_a_damaged_one_hides_no_other(
    tmp_path: Path,
) -> None:
    store = Store(tmp_path)
    made = experiment(store, [Verdict.PASSED, Verdict.PASSED], planned=3)
    store.remove(store.folder(made.runs()[0]))
    page = page_of_experiment(store, "many", DRAWS)
    assert "1 of 3 have not begun" in page
    assert "1 are gone" in page
    (tmp_path / "experiments" / "bad").mkdir()
    (tmp_path / "experiments" / "bad" / "plan.json").write_text("{")
    assert "experiment/many" in index(store)


def test_a_run_whose_record_names_another_one_is_listed(tmp_path: Path) -> None:
    record = stored_run(Store(tmp_path), "0000000a-run").path / "run.json"
    record.write_text(record.read_text().replace("0000000a-run", "0000000b-other"))
    assert "humanize/file-sizes" in Parsed(index(Store(tmp_path))).text
