"""What a lab has stored: 10,000 runs listed and reported, a half-done experiment of 10,000 cells.

The runs are copies of two real ones; of their files those that name the run are written anew, and
the measures that reports keep are filled in, as each run's end does.
"""

import functools
import hashlib
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from sandbox.grading import measured
from sandbox.model.run_folder import RunFolder
from sandbox.model.store import Store
from tests.bench.clock import Measure, milliseconds
from tests.end_to_end.looked import BROWSER

RUNS = 10_000
TASK = "inflection/house-terms"
SANDBOX = Path(sys.executable).with_name("sandbox")
ROUNDS = 3
PAGE = f"the page of {RUNS // 2:,} runs, loaded in Chromium"


def sandbox(*words: str | Path) -> None:
    done = subprocess.run((SANDBOX, *words), capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr


def copied(store: Store, whole: list[RunFolder], count: int) -> list[str]:
    """Make runs that are like the given ones; their names."""
    tasks = measured.Tasks()
    made, told = [], {}
    for folder in whole:
        run, row = measured._anew(folder, tasks)
        told[folder.id] = (run, row[1])
    for number in range(count):
        old = whole[number % len(whole)]
        name = f"{number:08x}{old.id[8:]}"
        folder = RunFolder(store.root / name)
        folder.path.mkdir()
        for file in old.path.iterdir():
            if file.name not in ("run.json", "grade.json"):
                os.link(file, folder.path / file.name)
        grade = old.grade.read_text().replace(old.id, name)
        folder.grade.write_text(grade)
        record = json.loads((old.path / "run.json").read_text().replace(old.id, name))
        record["grade"] = hashlib.sha256(grade.encode()).hexdigest()
        if "grade.json" in record["evidence"]:
            record["evidence"]["grade.json"] = record["grade"]
        (folder.path / "run.json").write_text(json.dumps(record, indent=1))
        made.append((folder, old.id))
    rows = []
    for folder, old_id in made:  # once all links are made, which are a part of a file's state
        run, task = told[old_id]
        text = run.model_copy(update={"run": folder.id}).model_dump_json()
        state = measured._state(folder)
        rows.append((folder.id, task, measured._rests_on(state, tasks.digest(task), text), text))
    measured._keep(store.root, rows)
    return [folder.id for folder, _ in made]


def half_done(store: Store, name: str, runs: list[str]) -> None:
    """Make an experiment have so many cells as there are runs, of which half are over."""
    folder = store.root / "experiments" / name
    plan = json.loads((folder / "plan.json").read_text())
    cell = plan["cells"][0]
    plan["cells"] = [{**cell, "trial": number + 1} for number in range(len(runs))]
    (folder / "plan.json").write_text(json.dumps(plan))
    lines = [
        {"cell": number, "run": run, "verdict": verdict, "crashed": False}
        for number, run in enumerate(runs[: len(runs) // 2])
        for verdict in (None, "passed")
    ]
    (folder / "journal.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))


def until_it_works(store: Store, name: str) -> float:
    """Milliseconds from the command to the first run that it begins."""
    journal = store.root / "experiments" / name / "journal.jsonl"
    size = journal.stat().st_size
    begun = time.perf_counter()
    words = (SANDBOX, "resume", name, "--runs", store.root)
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as going:
        while journal.stat().st_size == size:
            assert going.poll() is None
            time.sleep(0.002)
        taken = (time.perf_counter() - begun) * 1000
        going.send_signal(signal.SIGINT)
        try:
            going.wait(60)
        finally:
            going.kill()
    return taken


def memory(store: Store, name: str, first: int, more: int) -> tuple[float, float]:
    """MB of an experiment that goes on, after its first runs and after further ones."""
    journal = store.root / "experiments" / name / "journal.jsonl"
    lines = journal.read_bytes().count(b"\n")
    words = (SANDBOX, "resume", name, "--jobs", "4", "--runs", store.root)
    found = []
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as going:
        for runs in (first, first + more):
            while journal.read_bytes().count(b"\n") < lines + 2 * runs:  # begun, and over
                assert going.poll() is None
                time.sleep(0.1)
            status = Path(f"/proc/{going.pid}/status").read_text()
            found.append(int(status.partition("VmRSS:")[2].split()[0]) / 1024)
        going.send_signal(signal.SIGINT)
        try:
            going.wait(60)
        finally:
            going.kill()
    return found[0], found[1]


def loaded(page: Path) -> float | None:
    """Milliseconds until a browser has loaded a page; None where there is no browser."""
    if BROWSER is None or importlib.util.find_spec("playwright") is None:
        return None
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        taken = []
        for _ in range(ROUNDS):
            fresh = browser.new_page()
            taken.append(milliseconds(functools.partial(fresh.goto, page.as_uri())))
            fresh.close()
        browser.close()
    return min(taken)


def measure() -> list[Measure]:
    place = Path(tempfile.mkdtemp(prefix="stored-"))
    try:
        store = Store(place)
        for agent in ("oracle", "null"):
            sandbox("run", TASK, "--agent", agent, "--experiment", agent, "--runs", place)
        names = copied(store, list(store.folders()), RUNS)
        half_done(store, "oracle", names)
        sandbox("runs", "--runs", place)  # which takes them into the index
        listing = min(milliseconds(lambda: sandbox("runs", "--runs", place)) for _ in range(ROUNDS))
        report = min(
            milliseconds(lambda: sandbox("report", "--runs", place)) for _ in range(ROUNDS)
        )
        page = place / "page.html"
        drawn = functools.partial(sandbox, "view", "oracle", "--html", page, "--runs", place)
        made = min(milliseconds(drawn) for _ in range(ROUNDS))
        opened = loaded(page)
        resumed = min(until_it_works(store, "oracle") for _ in range(ROUNDS))
        early, late = memory(store, "oracle", 20, 100)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    return [
        (f"`sandbox runs` over {RUNS:,} runs", "the bound, ms", listing, 300, 1, False),
        (f"`sandbox report` over {RUNS:,} runs", "the bound, ms", report, 3_000, 1, False),
        (f"`sandbox resume` of {RUNS:,} cells at work", "the bound, ms", resumed, 1_000, 1, False),
        (
            f"the page of {RUNS // 2:,} runs, made",
            "the report over twice as many",
            made,
            report,
            1,
            False,
        ),
        *([] if opened is None else [(PAGE, "the bound, ms", opened, 2_000, 1, False)]),
        ("MB of that experiment after 120 runs", "after 20, MB", late, early, 1.2, False),
    ]
