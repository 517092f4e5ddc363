"""Pages in a real browser: drawn, led by keys, and nothing foreign is executed."""

from pathlib import Path

import pytest

from sandbox.cli.pages import plots
from sandbox.cli.pages.run_page import run_page
from sandbox.cli.pages.site import page_of_experiment
from sandbox.model.store import Store
from sandbox.model.verdict import Verdict
from tests.end_to_end.looked import Looked
from tests.sandbox.cli.pages.stored import experiment, stored_run

pytestmark = [pytest.mark.thorough, pytest.mark.whole]

HOSTILE = (
    "<script>document.title = 'taken'</script>"
    '"><img src=x onerror="document.title = \'taken\'">'
    "</style></script><svg onload=\"document.title = 'taken'\">"
)


def test_what_is_foreign_is_read_and_not_executed(looked: Looked, tmp_path: Path) -> None:
    folder = stored_run(Store(tmp_path), "0000000a-run", text=HOSTILE, agent=HOSTILE)
    looked.open(run_page(folder), tmp_path)
    looked.page.keyboard.press("e")
    looked.page.wait_for_timeout(300)
    assert looked.page.title().startswith("failed: ")
    assert HOSTILE in looked.page.inner_text("#timeline")
    assert looked.complaints == []


def test_the_policy_holds_where_escaping_would_not(looked: Looked, tmp_path: Path) -> None:
    folder = stored_run(Store(tmp_path), "0000000a-run", text="MARK")
    looked.open(run_page(folder).replace("MARK", HOSTILE), tmp_path)
    looked.page.wait_for_timeout(300)
    assert looked.page.title().startswith("failed: ")
    assert any("Content Security Policy" in text for text in looked.complaints)


def test_keys_lead_through_the_steps(looked: Looked, tmp_path: Path) -> None:
    folder = stored_run(Store(tmp_path), "0000000a-run", text="hello")
    looked.open(run_page(folder), tmp_path)
    page = looked.page
    opened = "document.activeElement.querySelector('details').open"
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert "run_command" in page.evaluate("document.activeElement.innerText")
    assert page.evaluate(opened) is False
    page.keyboard.press("Enter")
    assert page.evaluate(opened) is True
    page.keyboard.press("k")
    assert "run_command" not in page.evaluate("document.activeElement.innerText")
    page.keyboard.press("/")
    page.keyboard.type("write_file")
    assert page.locator(".step:visible").count() == 1
    page.keyboard.press("Escape")
    assert page.locator(".step:visible").count() == 4


def test_a_reason_leads_to_its_event(looked: Looked, tmp_path: Path) -> None:
    folder = stored_run(Store(tmp_path), "0000000a-run", text="hello")
    looked.open(run_page(folder), tmp_path)
    looked.page.evaluate("document.querySelectorAll('details').forEach((d) => d.open = false)")
    looked.page.click("text=event 6")
    assert looked.page.locator("#e6").is_visible()


def test_plots_are_drawn_and_cells_lead_to_their_runs(looked: Looked, tmp_path: Path) -> None:
    store = Store(tmp_path)
    experiment(store, [Verdict.PASSED, Verdict.FAILED], planned=2)
    library = plots.library(lambda _: None)
    assert library.problem == ""
    looked.open(page_of_experiment(store, "many", library), tmp_path)
    assert looked.page.locator("canvas").count() == 5, (
        "turns, seconds, tokens, cost; cost to success"
    )
    looked.page.locator(".cells a.failed").first.click()
    assert looked.page.locator(":target").inner_text().startswith("00000001")
    looked.page.click("text=1/2")
    assert looked.page.locator(".run:visible").count() == 2
    looked.page.locator("header a[title=failed]").click()
    assert looked.page.locator(".run:visible").count() == 1
    assert looked.page.locator("#only").inner_text() == "only failed: show all"
    looked.page.keyboard.press("/")
    looked.page.keyboard.type("nothing like it")
    assert looked.page.locator(".run:visible").count() == 0
    looked.page.click("text=show all")
    assert looked.page.locator(".run:visible").count() == 2
    assert looked.complaints == []


def test_light_and_dark_are_followed(looked: Looked, tmp_path: Path) -> None:
    folder = stored_run(Store(tmp_path), "0000000a-run")
    looked.open(run_page(folder), tmp_path)
    colours = []
    for scheme in ("light", "dark"):
        looked.page.emulate_media(color_scheme=scheme)
        colours.append(looked.page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert colours == ["rgb(255, 255, 255)", "rgb(20, 24, 29)"]


def test_a_narrow_window_has_no_sideways_scrolling(looked: Looked, tmp_path: Path) -> None:
    folder = stored_run(Store(tmp_path), "0000000a-run", text="x" * 3000)
    looked.page.set_viewport_size({"width": 480, "height": 800})
    looked.open(run_page(folder), tmp_path)
    looked.page.keyboard.press("e")
    assert looked.page.evaluate("document.documentElement.scrollWidth") <= 480
