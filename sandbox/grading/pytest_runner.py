"""Runs pytest in the grading container: `python pytest_runner.py CONFIGURATION`.

It is laid into the container, owned by root; nothing of the project is there beside it. Each
outcome is one line of JSON in the file that the configuration names; what is printed counts for
nothing. The configuration is JSON: `arguments` for pytest, and `results`, the file.
"""

import json
import sys
from pathlib import Path
from typing import IO

import pytest


class Outcomes:
    """Writes what happens to a stream, each line at once."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def write(self, **fields: object) -> None:
        """Write one line."""
        self._stream.write(json.dumps(fields) + "\n")
        self._stream.flush()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Name all tests before the first one runs."""
        self.write(collected=[item.nodeid for item in session.items])

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Tell one phase of one test; a subtest's report is a part of its test's."""
        if type(report) is pytest.TestReport:
            self.write(
                test=report.nodeid,
                phase=report.when,
                outcome=report.outcome,
                expected=hasattr(report, "wasxfail"),
            )


def main(configuration: Path) -> int:
    """Run pytest; the last line says that it came to its end."""
    settings = json.loads(configuration.read_text(encoding="utf-8"))
    with Path(settings["results"]).open("w", encoding="utf-8") as stream:
        outcomes = Outcomes(stream)
        code = int(pytest.main(settings["arguments"], plugins=[outcomes]))
        outcomes.write(end=code)
    return code


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
