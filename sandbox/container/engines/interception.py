"""How much of an agent's processes may be seen at most: SANDBOX_INTERCEPTION lowers it."""

import os

from sandbox.model.coverage import COVERAGES, Coverage
from sandbox.model.errors import UsageError

VARIABLE = "SANDBOX_INTERCEPTION"


def allowed(most: Coverage = "exec") -> Coverage:
    """The lower of `most` and what the environment says; UsageError where that is no level."""
    said = os.environ.get(VARIABLE) or "exec"
    for coverage in COVERAGES:
        if said == coverage:
            return max(coverage, most, key=COVERAGES.index)
    known = ", ".join(COVERAGES)
    raise UsageError(f"{VARIABLE} is {said!r}.", f"Set it to one of {known}, or not at all.")
