"""The command `sandbox`: registers the verbs and turns errors into sentences and exit codes.

Exit codes: 0 passed, 1 failed, 2 usage, 3 infrastructure, 4 invalid, 130 interrupted.
"""

import platform
import sys
import traceback
from collections.abc import Callable

import typer

import sandbox
from sandbox.cli import build, diff, doctor, gc, grade, run, show, tasks, trace
from sandbox.cli.terminal import complain
from sandbox.errors import SandboxError

app = typer.Typer(
    name="sandbox",
    help="Evaluate coding agents in real repositories inside containers, on the path they take.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

VERBS: dict[str, Callable[..., None]] = {
    "run": run.run,
    "build": build.build,
    "diff": diff.diff,
    "tasks": tasks.tasks,
    "show": show.show,
    "trace": trace.trace,
    "grade": grade.grade,
    "doctor": doctor.doctor,
    "gc": gc.gc,
}

for name, verb in VERBS.items():
    app.command(name)(verb)


def crash_report(error: BaseException) -> str:
    """Everything that a report of an unexpected error needs, ready to paste."""
    return "\n".join(
        (
            "This is a mistake in sandbox itself. Please report it with the lines below.",
            f"sandbox {sandbox.__version__}",
            f"Python {platform.python_version()}, {platform.platform()}",
            f"command: {' '.join(sys.argv)}",
            "".join(traceback.format_exception(error)).rstrip(),
        )
    )


def main() -> None:
    """Run the command line and exit."""
    try:
        app(prog_name="sandbox")
    except SandboxError as error:
        complain(error)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.stderr.write("\ninterrupted\n")
        sys.exit(130)
    except BrokenPipeError:
        # The reader of a pipe has gone, as with `sandbox trace last | head`.
        sys.stderr.close()
        sys.exit(0)
    except Exception as error:  # noqa: BLE001 - the last place where anything can be said of it
        sys.stderr.write(crash_report(error) + "\n")
        sys.exit(3)
