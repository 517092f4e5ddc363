"""From a candidate to a verdict: hidden tests in a fresh session, then all graders."""

from sandbox.grading.hidden import run_tests
from sandbox.grading.proof import Proof, base_report, gold_report
from sandbox.grading.verdict import GRADERS, grade

__all__ = ["GRADERS", "Proof", "base_report", "gold_report", "grade", "run_tests"]
