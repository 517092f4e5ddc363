"""A latch is open for everybody once anybody has opened it."""

import threading
from concurrent.futures import ThreadPoolExecutor

from sandbox.model.latch import Latch


def test_all_who_wait_pass_once_it_is_open() -> None:
    latch = Latch()
    assert not latch.wait(0.01)
    with ThreadPoolExecutor(8) as pool:
        waiting = [pool.submit(latch.wait) for _ in range(8)]
        assert not any(each.done() for each in waiting)
        latch.open()
        assert all(each.result(60) for each in waiting)
    assert latch.wait(0)


def test_any_number_may_open_it() -> None:
    latch = Latch()
    threads = [threading.Thread(target=latch.open) for _ in range(16)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    latch.open()
    assert latch.wait()
