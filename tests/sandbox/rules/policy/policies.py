"""Policies for tests, and the processes that they judge."""

from pathlib import Path

from sandbox.model import documents
from sandbox.model.decision import Decision, Policy
from sandbox.model.shell.reader import Started
from sandbox.rules.policy import examples
from sandbox.rules.policy.invocation import Identify
from sandbox.rules.policy.rules import Rulebook, nobody
from sandbox.rules.policy.subject import Process, Subject

ROOT = "/home/agent/toy"
FILE = Path("policy.yaml")


def policy(text: str) -> Policy:
    return documents.parse(text, FILE, Policy, examples.problems)


def rulebook(text: str) -> Rulebook:
    return Rulebook(policy(text), ROOT)


def rule(when: str, decision: str = "deny", name: str = "rule") -> str:
    scope = ", scope: network" if decision == "ask" else ""
    return f"  - {{id: {name}, when: {when}, decision: {decision}{scope}, reason: Because.}}\n"


def rules(*each: str) -> Rulebook:
    return rulebook("rules:\n" + "".join(each))


def line(book: Rulebook, command: str, action: str = "run_command", cwd: str = ".") -> Decision:
    return book.action(Subject(action, command, cwd=cwd)).decision


def process(
    book: Rulebook,
    *argv: str,
    program: str = "",
    resolved: str | None = None,
    cwd: str = ROOT,
    ancestors: tuple[str, ...] = ("bash",),
    identify: Identify = nobody,
) -> Decision:
    program = program or argv[0]
    found = Started(program, argv[1:], argv[0], program if resolved is None else resolved, cwd)
    return book.process(Process(found, ancestors=ancestors), identify).decision
