"""Python's collector of cyclic garbage, paused while thousands of records are read and kept.

It is called for by the number of new objects and then looks through all that are kept, so half of
the time of a page over thousands of runs would be its own. Records that are kept have no cycles.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused() -> Iterator[None]:
    """Collect nothing unasked while the context is open; who has paused it first ends that."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def collect_new() -> None:
    """Collect what has come since the last time, while it is paused; it takes little then."""
    if not gc.isenabled():
        gc.collect(0)
