"""`make bench`: each figure as a ratio to a floor that is measured in the same run.

`python -m tests.bench suite mcp` measures some parts; `--cold` also builds all images from nothing.

Prints a Markdown table and exits 1 where a figure misses its bound. Rounds are interleaved with
their floor, so that a machine whose speed drifts does not tilt the ratio.
"""

import argparse
import os
import platform
import sys
from dataclasses import dataclass

from tests.bench import (
    actions,
    batches,
    changes,
    checker,
    cluster,
    facts,
    hardening,
    interception,
    mcp,
    monitors,
    native,
    peers,
    pool,
    start,
    stored,
    suite,
    trials,
    validation,
    variants,
)

PARTS = (
    actions,
    mcp,
    start,
    native,
    pool,
    changes,
    monitors,
    checker,
    interception,
    facts,
    trials,
    hardening,
    validation,
    variants,
    suite,
    batches,
    cluster,
    peers,
    stored,
)


def number(milliseconds: float) -> str:
    """Two decimals, or two digits of what is smaller than that."""
    return f"{milliseconds:.2f}" if milliseconds >= 0.1 else f"{milliseconds:.2g}"


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    what: str
    floor: str
    ours_ms: float
    floor_ms: float
    bound: float
    faster: bool
    """Whether the bound says how many times faster than the floor, not how many times slower."""

    @property
    def ratio(self) -> float:
        return self.floor_ms / self.ours_ms if self.faster else self.ours_ms / self.floor_ms

    @property
    def met(self) -> bool:
        return self.ratio >= self.bound if self.faster else self.ratio <= self.bound

    def markdown(self) -> str:
        word = "x faster" if self.faster else "times the floor"
        limit = f"at least {self.bound:g}" if self.faster else f"at most {self.bound:g}"
        return (
            f"| {self.what} | {number(self.ours_ms)} | {self.floor} {number(self.floor_ms)} |"
            f" {self.ratio:.2f} {word} | {limit} | {'yes' if self.met else 'NO'} |"
        )


def main() -> int:
    named = {part.__name__.rpartition(".")[2]: part for part in PARTS}
    parser = argparse.ArgumentParser("python -m tests.bench")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"all, or {', '.join(named)}")
    parser.add_argument("--cold", action="store_true", help="build all images from nothing, too")
    chosen = parser.parse_args()
    if unknown := set(chosen.parts) - set(named):
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    measured = [measure for name in chosen.parts or named for measure in named[name].measure()]
    measured += suite.cold() if chosen.cold else []
    rows = [Row(*values) for values in measured]
    print(f"{platform.machine()}, {os.cpu_count()} processors; p50 in ms\n")
    print("| what | ours | floor | ratio | bound | met |")
    print("|---|---|---|---|---|---|")
    for row in rows:
        print(row.markdown())
    return 0 if all(row.met for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
