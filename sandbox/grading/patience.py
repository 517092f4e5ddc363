"""How long is waited for what is tested: longer where the machine has more to do than it can."""

import os


def patient(seconds: float) -> float:
    """Stretch a bound by how many processes there are for each processor, by getloadavg(3).

    What takes a minute on a machine of its own takes five where five share it, and is no slower
    for that. What never ends is ended all the same.
    """
    try:
        running, _, _ = os.getloadavg()
    except OSError:  # where the system does not say
        return seconds
    return seconds * max(1.0, running / (os.cpu_count() or 1))
