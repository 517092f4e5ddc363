"""Cases: what a candidate offers is called from outside, and compared where it cannot reach."""

from sandbox.grading.cases.case_runs import Ground, run_at_a_shell, run_cases

__all__ = ["Ground", "run_at_a_shell", "run_cases"]
