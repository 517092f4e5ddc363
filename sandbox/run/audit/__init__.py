"""Whether a suite is too easy: nine warning signs, from its tasks and from stored runs."""

from sandbox.run.audit.audit import Audit

__all__ = ["Audit"]
