"""Some works at once, none of which is waited for after an interrupt."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from sandbox.run.stop import Stop

Given = TypeVar("Given")
Made = TypeVar("Made")


def at_once(
    stop: Stop, jobs: int, work: Callable[[Given], Made], given: Iterable[Given]
) -> Iterator[Made]:
    """Give what comes of each, in their order, while so many are worked at.

    What a work raises, and an interrupt, ends the others first: they are to use an engine that
    `stop` stops.
    """
    with ThreadPoolExecutor(jobs) as pool:
        futures = [pool.submit(work, one) for one in given]
        try:
            for future in futures:
                yield future.result()
        except GeneratorExit:  # nobody wants more
            for future in futures:
                future.cancel()
            raise
        except BaseException:
            stop.finish(futures)
            raise
