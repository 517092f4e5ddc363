"""Cases: what a candidate offers is called from outside, and compared where it cannot reach."""

from sandbox.grading.cases.case_runs import run_cases

__all__ = ["run_cases"]
