"""Cases: what a candidate offers is called from outside, and compared where it cannot reach."""

from sandbox.grading.cases.case_runs import Ground, at_a_shell, run_at_a_shell, run_cases

__all__ = ["Ground", "at_a_shell", "run_at_a_shell", "run_cases"]
