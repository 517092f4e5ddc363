"""An experiment's journal: each cell once, whatever ended the process that worked at it."""

import fcntl
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandbox.model.errors import StoreError, UsageError
from sandbox.model.experiment import Plan, PlannedAgent
from sandbox.model.job import Job, JobResult
from sandbox.model.run import RunRecord
from sandbox.model.store import Store
from sandbox.model.verdict import Verdict
from sandbox.run.experiment import Experiment, moment, named, opened

NULL = PlannedAgent(agent="null")


def plan(trials: int = 3, *, agent: str = "null", digest: str = "d") -> Plan:
    return Plan(
        created=moment(),
        folder="/",
        agents=(NULL,),
        approver="script",
        cells=tuple(
            Job(task="a/b", task_digest=digest, agent=agent, trial=trial)
            for trial in range(1, trials + 1)
        ),
    )


def record(store: Store, run: str, verdict: Verdict | None) -> None:
    folder = store.create(
        RunRecord(
            id=run,
            task="a/b",
            task_digest="d",
            image="i",
            image_id="i",
            agent="null",
            sandbox_version="0",
            engine="e",
            started="2026",
            verdict=verdict,
        )
    )
    folder.let_go()


def run(
    made: Experiment, store: Store, cell: int, name: str, verdict: Verdict = Verdict.FAILED
) -> None:
    """What a run of a cell leaves that nobody disturbs."""
    job = made.plan.cells[cell]
    made.begins(job, store.folder(name))
    record(store, name, verdict)
    made.over(JobResult(job=job, run=name, verdict=verdict))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def test_what_is_over_is_not_done_again_and_errors_are(store: Store) -> None:
    made = opened(store, plan(), None)
    run(made, store, 0, "one")
    run(made, store, 1, "two", Verdict.ERROR)
    assert [job.trial for job in made.left()] == [2, 3]
    run(made, store, 1, "three", Verdict.PASSED)
    again = opened(store, plan(), None)
    assert again.name == made.name
    assert [(each.job.trial, each.run) for each in again.done()] == [(1, "one"), (2, "three")]


def test_one_run_of_a_cell_counts(store: Store) -> None:
    made = opened(store, plan(4), None)
    run(made, store, 0, "one")
    run(made, store, 1, "two", Verdict.ERROR)
    run(made, store, 1, "three", Verdict.PASSED)
    run(made, store, 2, "four", Verdict.ERROR)
    run(made, store, 2, "five", Verdict.ERROR)
    assert made.replaced() == {"two", "four"}


def test_who_gives_the_same_command_when_all_is_over_begins_anew(store: Store) -> None:
    first = opened(store, plan(1), None)
    run(first, store, 0, "one")
    second = opened(store, plan(1), None)
    assert (second.name, second.left()) == (f"{first.name}-2", list(plan(1).cells))
    assert {each.name for each in named(store)} == {first.name, second.name}


@pytest.mark.parametrize(
    ("other", "what"),
    [
        (plan(4), "trials"),
        (plan(digest="e"), "versions of tasks"),
        (plan(agent="oracle"), "agents"),
        (plan().model_copy(update={"approver": "allow"}), "options"),
    ],
)
def test_a_name_is_one_experiments(store: Store, other: Plan, what: str) -> None:
    assert opened(store, plan(), "mine").name == "mine"
    assert opened(store, plan(), "mine").name == "mine"
    with pytest.raises(UsageError, match=f"its {what} are others"):
        opened(store, other, "mine")


@pytest.mark.parametrize("name", ["", "a/b", "..", "x" * 101])
def test_a_name_stays_in_its_folder(store: Store, name: str) -> None:
    with pytest.raises(UsageError):
        opened(store, plan(), name)


def test_who_works_at_it_shares_it_but_with_older_versions(store: Store) -> None:
    first, second = opened(store, plan(), "mine"), opened(store, plan(), "mine")
    first.hold()
    second.hold()
    first.let_go()
    second.let_go()
    with (first.path / ".lock").open("wb") as older:
        fcntl.flock(older, fcntl.LOCK_EX)
        with pytest.raises(UsageError, match="of an older version, works at"):
            first.hold()
    first.hold()
    first.let_go()


def test_a_cell_is_claimed_by_one_until_its_run_is_over(store: Store) -> None:
    first, second = opened(store, plan(), "mine"), opened(store, plan(), "mine")
    mine = first.taken()
    job = next(mine)
    assert job.trial == 1
    assert [each.trial for each in second.taken()] == [2, 3]
    assert (first.elsewhere(), second.elsewhere()) == (2, 1)
    assert list(mine) == [], "the others are not this one's"
    run(first, store, 0, "one")
    second.let_go()
    assert (first.elsewhere(), second.elsewhere()) == (0, 0)
    assert [each.trial for each in first.taken([plan().cells[2]])] == [2]
    unbegun = JobResult(job=plan().cells[1], run=None, verdict=Verdict.ERROR, problem="no room")
    first.over(unbegun)
    assert [each.trial for each in second.taken()] == [2, 3], "an error may be tried by anybody"


def test_any_number_share_it_and_do_each_cell_once(store: Store) -> None:
    cells = 60
    opened(store, plan(cells), "mine")

    def work(worker: int) -> list[int]:
        made = opened(store, plan(cells), "mine")
        found = []
        for job in made.taken():
            run(made, store, job.trial - 1, f"{worker}-{job.trial}")
            found.append(job.trial)
        return found

    with ThreadPoolExecutor(8) as pool:
        done = [trial for each in pool.map(work, range(8)) for trial in each]
    assert sorted(done) == list(range(1, cells + 1))
    made = opened(store, plan(cells), "mine")
    assert len(made.done()) == cells
    assert list((made.path / "claims").iterdir()) == []


CLAIM_ALL = """
import sys, time
from pathlib import Path
from sandbox.model.store import Store
from sandbox.run.experiment import called
claimed = list(called(Store(Path(sys.argv[1])), "mine").taken())
print(len(claimed), flush=True)
time.sleep(600)
"""


def test_what_a_killed_process_had_claimed_is_free(store: Store) -> None:
    made = opened(store, plan(), "mine")
    with subprocess.Popen(
        [sys.executable, "-c", CLAIM_ALL, store.root], stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"3\n"
        assert (list(made.taken()), made.elsewhere()) == ([], 3)
        other.kill()
    assert made.elsewhere() == 0
    assert [each.trial for each in made.taken()] == [1, 2, 3]


@pytest.mark.parametrize("verdict", [None, *Verdict])
def test_a_kill_between_a_runs_end_and_its_note_loses_nothing(
    store: Store, verdict: Verdict | None
) -> None:
    made = opened(store, plan(), None)
    made.begins(made.plan.cells[0], store.folder("one"))
    record(store, "one", verdict)
    is_over = verdict not in (None, Verdict.ERROR)
    assert len(made.done()) == int(is_over)
    assert store.folder("one").record().verdict is (verdict or Verdict.ERROR)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(cut=st.integers(0, 500), data=st.data())
def test_a_journal_that_was_cut_anywhere_goes_on(
    store: Store, cut: int, data: st.DataObject
) -> None:
    """All runs have come to an end; what the journal still says of them decides on each cell."""
    made = opened(store, plan(), f"n{data.draw(st.integers(0, 10**9))}")
    journal = made.path / "journal.jsonl"
    journal.unlink(missing_ok=True)
    for cell in range(3):
        name = f"{made.name}-{cell}"
        if not store.folder(name).path.exists():
            run(made, store, cell, name)
        else:
            made.begins(made.plan.cells[cell], store.folder(name))
            made.over(JobResult(job=made.plan.cells[cell], run=name, verdict=Verdict.FAILED))
    whole = journal.read_bytes()
    journal.write_bytes(whole[:cut])
    begun = whole[:cut].count(b'"verdict":null,"crashed":false}')
    assert len(made.done()) == begun, "every run that was noted has its end in its own folder"
    for job in made.left():
        made.begins(job, store.folder(f"again-{made.name}-{job.trial}"))
        made.over(JobResult(job=job, run=f"again-{job.trial}", verdict=Verdict.PASSED))
    assert made.left() == []
    assert len({each.run for each in made.done()}) == 3


def test_a_damaged_plan_and_a_full_disk_are_told(store: Store) -> None:
    made = opened(store, plan(), "mine")
    (made.path / "journal.jsonl").mkdir()
    with pytest.raises(StoreError, match="cannot be written"):
        made.begins(made.plan.cells[0], store.folder("one"))
    (made.path / "plan.json").write_text("{")
    with pytest.raises(StoreError, match=r"plan\.json cannot be read"):
        opened(store, plan(), "mine")
