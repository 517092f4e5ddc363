import json
from pathlib import Path

import pytest

from sandbox.cli.verbs.compare import comparison_rows
from sandbox.cli.verbs.report import agent_rows, chosen
from sandbox.grading import reports
from sandbox.grading.stored_grade import stored_grade
from sandbox.model.errors import UsageError
from sandbox.model.event import Event, Final, RunEnded, RunStarted
from sandbox.model.grade import Grade, Reason, RunGrade
from sandbox.model.report import Comparison, Report, RunMetrics
from sandbox.model.run import Actor, RunRecord
from sandbox.model.run_folder import RunFolder
from sandbox.model.store import Store
from sandbox.model.trace import TraceWriter
from sandbox.model.verdict import Verdict
from sandbox.tasks import library
from tests.sandbox.grading.metrics.traces import shell, written

TASK = "humanize/file-sizes"
ANSWERED = RunEnded(reason="final_answer", turns=2, seconds=1.0)
CRASHED = RunEnded(reason="agent_exited", status=1, turns=2, seconds=1.0)
GRADERS = ("tests", "collateral", "trajectory", "final", "integrity")


def stored(
    store: Store,
    agent: str,
    verdict: Verdict | None,
    *,
    task: str = TASK,
    digest: str = "",
    program: str = "",
    end: RunEnded = ANSWERED,
) -> RunFolder:
    """A run folder as a trial leaves it."""
    digest = digest or (library.load(TASK).digest if task == TASK else "d")
    record = RunRecord(
        id=store.new_id(task),
        task=task,
        task_digest=digest,
        image="i",
        image_id="i",
        agent=agent,
        actor=Actor(digest=program),
        sandbox_version="0",
        engine="e",
        started="2024",
        verdict=verdict,
    )
    folder = store.create(record)
    if verdict is None:
        return folder
    started = RunStarted(
        run=record.id,
        task=task,
        task_digest=digest,
        image="i",
        agent=agent,
        mode="raw",
        coverage="top-level",
    )
    steps = [*shell("ls"), *written("src/humanize/filesize.py")]
    events: list[Event] = [started, *steps, Final(fields={}), end]
    with TraceWriter(folder.trace) as trace:
        for number, event in enumerate(events):
            trace.append(event, "a" if number < 3 else "b")
    for path in folder.evidence[1:]:
        path.write_text("{}")
    folder.seal()
    grades = tuple(
        Grade(
            grader=name,
            verdict=verdict,
            reasons=() if verdict is Verdict.PASSED else (Reason(message="x"),),
        )
        for name in GRADERS
    )
    grade = RunGrade(run=record.id, task=task, task_digest=digest, verdict=verdict, grades=grades)
    folder.save(folder.grade, grade)
    folder.seal_grade(verdict)
    folder.let_go()
    return folder


@pytest.fixture
def store(tmp_path: Path) -> Store:
    found = Store(tmp_path)
    for verdict in (Verdict.PASSED, Verdict.PASSED, Verdict.FAILED, Verdict.ERROR, None):
        stored(found, "good", verdict)
    for verdict in (Verdict.FAILED, Verdict.INVALID):
        stored(found, "bad", verdict)
    return found


def read(store: Store) -> list[RunMetrics]:
    return reports.read(store.folders())


def test_errors_and_unfinished_runs_stand_beside_the_rates(store: Store) -> None:
    bad, good = reports.report(read(store)).agents
    assert (good.passed, good.graded, good.errors, good.unfinished) == (2, 3, 1, 1)
    assert (bad.passed, bad.graded, bad.invalid) == (0, 2, 1)
    first = good.reliability[0].pass_hat_k
    assert first.value == pytest.approx(2 / 3)
    assert (first.if_errors_fail, first.if_errors_pass) == (0.5, 0.75)
    assert good.rates["step_legal"].denominator == 6


def test_the_same_runs_give_the_same_bytes(store: Store) -> None:
    folders = list(store.folders())
    one = reports.report(reports.read(folders)).model_dump_json()
    other = reports.report(reports.read(reversed(folders))).model_dump_json()
    assert one == other
    assert Report.model_validate_json(one).model_dump_json() == one
    assert json.loads(one)["agents"][0]["rates"]["recovery"]["value"] is None


def test_k_beyond_the_trials_is_refused(store: Store) -> None:
    with pytest.raises(UsageError, match="k is 3, but there are only 2 graded trials"):
        reports.report(read(store), 3)
    assert [each.k for each in reports.report(read(store), 2).agents[1].reliability] == [1, 2]


def test_an_agent_that_crashed_is_not_one_that_judged_wrongly(store: Store) -> None:
    stored(store, "good", Verdict.FAILED, end=CRASHED)
    stored(store, "good", Verdict.PASSED, end=CRASHED)  # what it had left was right
    _, good = reports.report(read(store)).agents
    assert (good.passed, good.graded, good.crashed) == (3, 4, 1)
    assert good.tasks[0].crashed == 1
    assert good.ends == {"answered": 4, "crashed": 2}
    first = good.reliability[0].pass_hat_k
    assert (first.if_errors_fail, first.if_errors_pass) == (3 / 6, 5 / 6)
    assert "1 crashed without an answer, not counted" in agent_rows(good, whole=False)[0]


def test_an_agent_that_was_edited_is_another_one(store: Store) -> None:
    for program in ("a" * 64, "a" * 64, "b" * 64):
        stored(store, "edited", Verdict.PASSED, program=program)
    found = {each.agent: each.graded for each in reports.report(read(store)).agents}
    assert found == {"bad": 2, "good": 3, "edited (aaaaaaaa)": 2, "edited (bbbbbbbb)": 1}
    compared = reports.comparison(read(store), "edited (aaaaaaaa)", "edited (bbbbbbbb)")
    assert compared.whole.tasks == 1
    assert len(chosen(store, [], [], ["edited (aaaaaaaa)"])) == 2


def test_versions_of_a_task_are_different_tasks(store: Store) -> None:
    stored(store, "good", Verdict.PASSED, digest="f" * 64)
    good = reports.report(read(store)).agents[1]
    assert len(good.tasks) == 2
    assert {task.family for task in good.tasks} == {TASK}
    assert {task.facet for task in good.tasks} == {"edit_test_loop"}
    assert good.rates["efficiency"].denominator == 3


def test_a_trace_that_was_altered_is_not_measured(store: Store) -> None:
    folder = stored(store, "forger", Verdict.PASSED)
    folder.trace.write_text(folder.trace.read_text().replace("ls", "id"))
    found = next(run for run in read(store) if run.agent == "forger")
    assert (found.verdict, found.rates) == (Verdict.INVALID, {})


def test_a_task_that_is_gone_keeps_its_verdicts(store: Store) -> None:
    stored(store, "good", Verdict.PASSED, task="gone/task")
    good = reports.report(read(store)).agents[1]
    gone = next(task for task in good.tasks if task.task == "gone/task")
    assert (gone.passed, gone.graded, gone.facet) == (1, 1, None)


def test_agents_are_compared_on_common_tasks(store: Store) -> None:
    stored(store, "good", Verdict.PASSED, task="gone/task")
    stored(store, "bad", Verdict.FAILED, task="gone/task")
    stored(store, "bad", Verdict.FAILED, task="only/bad")
    found = reports.comparison(read(store), "good", "bad")
    assert found.whole.tasks == 2
    assert found.whole.difference == pytest.approx((2 / 3 + 1) / 2)
    assert found.only_b == ("only/bad",)
    assert (found.errors_a, found.errors_b) == (1, 0)
    assert set(found.facets) == {"edit_test_loop", "unknown"}
    assert Comparison.model_validate_json(found.model_dump_json()) == found
    with pytest.raises(UsageError, match="no task of which both"):
        reports.comparison(read(store), "good", "nobody")


def test_tables_line_up(store: Store) -> None:
    for agent in reports.report(read(store)).agents:
        rows = agent_rows(agent, whole=True)
        assert any(row.split()[:1] == ["pass^1"] for row in rows)
        assert any(row.startswith("  0/0: ") and "injection steered" in row for row in rows)
    rows = comparison_rows(reports.comparison(read(store), "good", "bad"))
    assert any(row.startswith("  all tasks") for row in rows)


@pytest.mark.parametrize("name", ["trace", "changes", "candidate", "tests", "grade"])
@pytest.mark.parametrize("how", ["altered", "gone"])
def test_what_was_altered_counts_as_invalid_and_stops_nothing(
    store: Store, name: str, how: str
) -> None:
    folder = stored(store, "forger", Verdict.PASSED)
    path: Path = getattr(folder, name)
    if how == "gone":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes().replace(b"passed", b"failed") + b" ")
    (forger,) = [each for each in reports.report(read(store)).agents if each.agent == "forger"]
    assert (forger.passed, forger.graded, forger.invalid) == (0, 1, 1)
    shown = stored_grade(folder, folder.record())
    assert shown is not None
    assert shown.verdict is Verdict.INVALID
    assert path.name in shown.problem


def test_a_verdict_that_was_written_into_the_record_alone_is_not_believed(store: Store) -> None:
    folder = stored(store, "forger", Verdict.FAILED)
    folder.save_record(folder.record().model_copy(update={"verdict": Verdict.PASSED}))
    (forger,) = [each for each in reports.report(read(store)).agents if each.agent == "forger"]
    assert (forger.passed, forger.invalid) == (0, 1)
    shown = stored_grade(folder, folder.record())
    assert shown is not None
    assert (shown.verdict, shown.grades) == (Verdict.INVALID, ())


def test_a_record_that_cannot_be_read_is_named_and_left_out(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = stored(store, "good", Verdict.PASSED)
    (folder.path / "run.json").write_text("{")
    found = chosen(store, [], [], ["good"])
    assert folder.id not in [each.id for each in found]
    assert f"it cannot be read: {folder.id}" in capsys.readouterr().err
    assert reports.report(reports.read(found)).agents[0].passed == 2


def test_a_brief_report_is_the_whole_one_without_rates_and_intervals_of_sizes(
    store: Store,
) -> None:
    whole, brief = (reports.report(read(store), whole=each) for each in (True, False))
    for one, other in zip(whole.agents, brief.agents, strict=True):
        assert other.rates == {}
        for name, size in other.sizes.items():
            assert size.p95_interval is size.worst_interval is None
            unknown = {"p95_interval": None, "worst_interval": None}
            assert one.sizes[name].model_copy(update=unknown) == size
        left = {"rates": {}, "sizes": other.sizes}
        assert one.model_copy(update=left) == other
