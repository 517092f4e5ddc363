"""Turns on a busy machine: who is let in, in which order, and what waiting is charged to."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sandbox.run import admission
from sandbox.run.admission import FREE, PER_CPU, Place, Queue
from tests.sandbox.runs import FINAL, World, command, script
from tests.sandbox.worlds import task

PATIENCE = 20.0
"""Seconds that something may take on a busy machine, which it never takes here."""


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Set how many threads of the machine want to run."""
    place = tmp_path / "loadavg"
    monkeypatch.setattr(admission, "LOAD", place)

    def runnable(count: int) -> None:
        place.write_text(f"0.52 0.58 0.59 {count}/467 11042\n")

    runnable(50)
    return runnable


@contextmanager
def full(queue: Queue) -> Iterator[list[threading.Event]]:
    """Have all turns of a queue taken; each event gives one back."""
    leave = [threading.Event() for _ in range(PER_CPU * queue.cpus)]
    have = threading.Semaphore(0)

    def work(over: threading.Event) -> None:
        with queue.place().turn():
            have.release()
            over.wait(PATIENCE)

    workers = [threading.Thread(target=work, args=(over,)) for over in leave]
    for worker in workers:
        worker.start()
    for _ in workers:
        assert have.acquire(timeout=PATIENCE)
    try:
        yield leave
    finally:
        for over in leave:
            over.set()
        for worker in workers:
            worker.join()


def waits(place: Place, done: Callable[[], None]) -> threading.Thread:
    """Take a turn in another thread."""

    def work() -> None:
        with place.turn():
            done()

    thread = threading.Thread(target=work)
    thread.start()
    return thread


@pytest.mark.usefixtures("load")
def test_who_is_alone_never_waits() -> None:
    with FREE.turn() as first, FREE.turn() as second:
        assert (first, second) == (0.0, 0.0)


@pytest.mark.usefixtures("load")
def test_a_busy_machine_lets_nobody_in_until_a_turn_is_over() -> None:
    queue, came = Queue(1), threading.Event()
    with full(queue) as leave:
        waiting = waits(queue.place(), came.set)
        assert not came.wait(0.3)
        leave[0].set()
        assert came.wait(PATIENCE)
    waiting.join()


@pytest.mark.usefixtures("load")
def test_the_run_that_began_first_comes_first() -> None:
    waiting, order = set[int](), list[int]()
    queue = Queue(1, lambda: waiting.add(threading.get_ident()))
    first, second, third = queue.place(), queue.place(), queue.place()
    with full(queue) as leave:
        waiting.clear()  # those who have their turns may have waited for each other
        threads = [
            waits(place, lambda number=number: order.append(number))  # type: ignore[misc]
            for number, place in ((3, third), (1, first), (2, second))
        ]
        deadline = time.monotonic() + PATIENCE
        while len(waiting) < len(threads):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        leave[0].set()
        for thread in threads:
            thread.join()
    assert order == [1, 2, 3]


def test_works_that_only_wait_keep_nobody_out(load: Callable[[int], None]) -> None:
    queue, came = Queue(2), threading.Event()
    with full(queue):
        load(2)
        waits(queue.place(), came.set).join()
    assert came.is_set()


def test_a_load_that_cannot_be_told_is_a_busy_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue, came = Queue(1), threading.Event()
    for place, text in ((tmp_path / "absent", None), (tmp_path / "garbled", "0.1 x")):
        if text is not None:
            place.write_text(text)
        monkeypatch.setattr(admission, "LOAD", place)
        with full(queue) as leave:
            waiting = waits(queue.place(), came.set)
            assert not came.wait(0.2)
            leave[0].set()
            assert came.wait(PATIENCE)
        waiting.join()
        came.clear()


@pytest.mark.usefixtures("load")
def test_who_is_to_wait_no_longer_leaves_the_queue() -> None:
    wanted = True

    def check() -> None:
        if not wanted:
            raise KeyboardInterrupt

    queue, came = Queue(1, check), threading.Event()
    with full(queue) as leave:
        wanted = False
        with pytest.raises(KeyboardInterrupt), queue.place().turn():
            pass
        wanted = True
        leave[0].set()
        waits(queue.place(), came.set).join()
    assert came.is_set()


@pytest.mark.slow
@pytest.mark.usefixtures("load")
def test_waiting_is_not_taken_from_the_agents_time(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    world = World(tmp_path, task=task(limits={"seconds": 3.0}))
    queue = Queue(1)
    world.place = queue.place()
    with full(queue) as leave:
        threading.Timer(3.5, leave[0].set).start()
        ended = world.run(script(command("true"), FINAL))
    assert ended.reason == "final_answer"
    assert ended.waited_seconds >= 3.0
    assert ended.seconds < 3.0
