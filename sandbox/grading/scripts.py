"""An author's own test script, run on a candidate in the fresh session, and what it says.

Formats: Harbor (reward files), Terminal-Bench 1 (pytest's short summary); see docs/import.md. It
runs as root beside the candidate, as its author meant it: what it says is believed. The network is
off, so what it would fetch lies in `/opt/verifier`, and stand-ins answer for uv and pip.
"""

import json
import math
import re
from collections.abc import Mapping
from pathlib import Path

from sandbox.container.engines.base import Session
from sandbox.grading.patience import patient
from sandbox.model import path_text as paths
from sandbox.model.agent_environment import environment_of
from sandbox.model.grade import TestOutcome, TestReport
from sandbox.model.session import ROOT, Command
from sandbox.model.task_tests import TestScript
from sandbox.tasks.library import LoadedTask

OFFLINE = Path(__file__).with_name("offline")
STAND_INS = {"curl": ("curl",), "pip": ("pip", "pip3"), "uv": ("uv", "uvx")}
"""By file of that folder: the programs for which it stands."""
TESTS, LOGS, THERE = "/tests", "/logs/verifier", "/opt/verifier-offline"
VERIFIER = "/opt/verifier"
LOG_LIMIT, PRINTED_LIMIT = 64 << 10, 16 << 20
REWARD = "reward"
"""The id of what a reward file says."""

_LINE = re.compile(r"^(PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS) (\S+)", re.MULTILINE)
_SUMMARY = re.compile(r"=+ *short test summary info *=+", re.IGNORECASE)
_OUTCOMES: Mapping[str, TestOutcome] = {
    "PASSED": "passed",
    "XFAIL": "passed",
    "SKIPPED": "skipped",
}


def run_script(
    task: LoadedTask, session: Session, hidden: Mapping[str, bytes], script: TestScript
) -> TestReport:
    """Lay the script with its files and run it; raises as `Session.run` does."""
    container = task.task.world.container
    variables = environment_of(container.variables if container else {})
    _prepare(session, hidden)
    ended = session.run(
        Command(
            argv=("/bin/bash", f"{TESTS}/{script.entry}"),
            cwd=container.workdir if container else task.worktree,
            environment={
                **variables,
                "HOME": "/root",
                "USER": "root",
                "LOGNAME": "root",
                "PATH": f"{THERE}:{variables['PATH']}:{VERIFIER}/bin",
                "PYTHONPATH": _packages(session, variables.get("PYTHONPATH", "")),
                "TEST_DIR": TESTS,
                "DEBIAN_FRONTEND": "noninteractive",
                # git takes no repository of another user's for its own.
                "GIT_CONFIG_COUNT": "1",
                "GIT_CONFIG_KEY_0": "safe.directory",
                "GIT_CONFIG_VALUE_0": "*",
                **script.variables,
            },
            user=ROOT,
            timeout=patient(task.task.tests.timeout_seconds),
            stdout_limit=PRINTED_LIMIT,
            stderr_limit=LOG_LIMIT,
            kill_survivors=True,
        )
    )
    session.kill_all()
    printed = ended.stdout.decode("utf-8", "replace")
    log = f"{printed[-LOG_LIMIT:]}{ended.stderr.decode('utf-8', 'replace')}"
    if ended.timed_out:
        return TestReport(outcomes={}, problem="its test script took too long", log=log)
    outcomes = _rewarded(session) if script.result == "reward" else summary(printed)
    problem = "" if outcomes else "its test script told no result"
    return TestReport(outcomes=outcomes, problem=problem, log=log)


def _prepare(session: Session, hidden: Mapping[str, bytes]) -> None:
    for path, content in hidden.items():
        mode = 0o755 if path.endswith(".sh") or content.startswith(b"#!") else 0o644
        session.write(f"{TESTS}/{path}", content, mode=mode, user=ROOT, parents=True)
    for file, programs in STAND_INS.items():
        content = (OFFLINE / file).read_bytes()
        for name in programs:
            session.write(f"{THERE}/{name}", content, mode=0o755, user=ROOT, parents=True)
    session.write("/root/.local/bin/env", b"", user=ROOT, parents=True)
    session.run(Command(argv=("/bin/mkdir", "-p", LOGS), user=ROOT))


def _packages(session: Session, own: str) -> str:
    """Give the folders that any Python imports from, those of the tests' own packages last."""
    try:
        found = [paths.text(entry.path) for entry in session.list(f"{VERIFIER}/lib")]
    except OSError:
        found = []
    return ":".join(
        filter(None, (own, *(f"{VERIFIER}/lib/{each}/site-packages" for each in found)))
    )


def _rewarded(session: Session) -> dict[str, TestOutcome]:
    """Read the reward: `reward.json` wins over `reward.txt`, and 1 is solved."""
    for name, read in (("reward.json", _numbers), ("reward.txt", _number)):
        try:
            said = session.read(f"{LOGS}/{name}", limit=LOG_LIMIT, user=ROOT, follow=False)
        except OSError:
            continue
        try:
            rewards = read(said.decode())
        except (ValueError, TypeError, AttributeError, RecursionError):
            return {}
        if rewards and all(map(math.isfinite, rewards)):
            return {REWARD: "passed" if min(rewards) >= 1 else "failed"}
        return {}
    return {}


def _number(text: str) -> list[float]:
    return [float(text.strip())]


def _numbers(text: str) -> list[float]:
    return [float(each) for each in json.loads(text).values()]


def summary(printed: str) -> dict[str, TestOutcome]:
    """Read all that stands below the first summary, as Terminal-Bench does.

    A test that is told twice is as bad as its worst.
    """
    told = _SUMMARY.split(printed, maxsplit=1)[1:]
    outcomes: dict[str, TestOutcome] = {}
    for word, test in _LINE.findall(told[0]) if told else ():
        outcome = _OUTCOMES.get(word, "failed")
        outcomes[test] = outcomes.get(test, outcome) if outcome == "passed" else outcome
    if outcomes:
        red = any(each not in ("passed", "skipped") for each in outcomes.values())
        green = any(each == "passed" for each in outcomes.values())
        outcomes[REWARD] = "passed" if green and not red else "failed"
    return outcomes
