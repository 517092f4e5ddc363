"""The command `sandbox`: registers the verbs and turns errors into sentences and exit codes.

Exit codes: 0 passed, 1 failed, 2 usage, 3 infrastructure, 4 invalid, 130 interrupted, 141 where
the reader of a pipe has gone before the verdict was printed.
"""

import errno
import functools
import io
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Annotated, Any

import typer

from sandbox.cli import interrupts
from sandbox.cli.crash import told
from sandbox.cli.terminal import complain, mutter
from sandbox.cli.verbs import (
    agents,
    audit,
    baseline,
    build,
    call,
    check,
    close,
    compare,
    diff,
    doctor,
    gate,
    gc,
    generate,
    grade,
    harvest,
    mcp,
    mine,
    new,
    plant,
    policy,
    record,
    replay,
    report,
    resume,
    run,
    runs,
    schema,
    show,
    tasks,
    trace,
    validate,
    view,
)
from sandbox.cli.verbs import open as opening
from sandbox.model.errors import SandboxError
from sandbox.model.version import VERSION

app = typer.Typer(
    name="sandbox",
    help="Evaluate coding agents in real repositories inside containers, on the path they take.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

PIPE_CLOSED = 128 + 13
"""As a shell reports a program that SIGPIPE has ended."""

OUTPUT_FAILED = 3
OUTPUT_LOST = frozenset((errno.ENOSPC, errno.EIO, errno.EBADF, errno.EDQUOT))
"""What a full or closed output answers a write with."""

VERBS: dict[str, Callable[..., None]] = {
    "run": run.run,
    "resume": resume.resume,
    "open": opening.open_session,
    "call": call.call,
    "close": close.close,
    "build": build.build,
    "runs": runs.runs,
    "view": view.view,
    "diff": diff.diff,
    "tasks": tasks.tasks,
    "show": show.show,
    "trace": trace.trace,
    "grade": grade.grade,
    "record": record.record,
    "replay": replay.replay,
    "check": check.check,
    "validate": validate.validate,
    "generate": generate.generate,
    "new": new.new,
    "mine": mine.mine,
    "plant": plant.plant,
    "harvest": harvest.harvest,
    "audit": audit.audit,
    "report": report.report,
    "compare": compare.compare,
    "gate": gate.gate,
    "mcp": mcp.mcp,
    "doctor": doctor.doctor,
    "schema": schema.schema,
    "gc": gc.gc,
}


def print_version(wanted: bool) -> None:  # noqa: FBT001 - typer's signature of a callback
    """Print the version and end, where `--version` asks for it."""
    if wanted:
        typer.echo(f"sandbox {VERSION}")
        raise typer.Exit


@app.callback()
def options(
    *,
    version: Annotated[
        bool,
        typer.Option("--version", callback=print_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Evaluate coding agents in real repositories inside containers, on the path they take."""


def reported(verb: Callable[..., None]) -> Callable[..., None]:
    """Wrap a verb: what it raises becomes a sentence and an exit code.

    Done below typer, whose versions differ in what they make of an interrupt.
    """

    @functools.wraps(verb)
    def wrapped(*arguments: object, **options: object) -> None:
        try:
            try:
                verb(*arguments, **options)
            finally:
                # What cannot be written fails here, where it can be told.
                if sys.stdout is not None:
                    sys.stdout.flush()
        except SandboxError as error:
            complain(error)
            raise typer.Exit(error.exit_code) from error
        except KeyboardInterrupt as error:
            mutter("interrupted\n")
            raise typer.Exit(interrupts.EXIT_CODE) from error
        except BrokenPipeError as error:
            # As with `sandbox trace last | head`. What is still buffered has nowhere to go.
            _give_up_output()
            raise typer.Exit(PIPE_CLOSED) from error
        except OSError as error:
            if error.filename is not None or error.errno not in OUTPUT_LOST:
                raise
            _give_up_output()
            complain(
                SandboxError(
                    f"The output cannot be written: {error.strerror}.",
                    "What was run is stored all the same: `sandbox show last`.",
                )
            )
            raise typer.Exit(OUTPUT_FAILED) from error

    return wrapped


def _give_up_output() -> None:
    """Let what is still buffered go nowhere."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


for name, verb in VERBS.items():
    app.command(name)(reported(verb))

policy.policy.callback()(policy.about)
policy.policy.command("explain")(reported(policy.explain))
app.add_typer(policy.policy)

baseline.baseline.callback()(baseline.about)
baseline.baseline.command("pin")(reported(baseline.pin))
baseline.baseline.command("list")(reported(baseline.list_baselines))
app.add_typer(baseline.baseline)

agents.agents.callback()(agents.about)
for name, verb in (
    ("list", agents.list_presets),
    ("install", agents.install),
    ("check", agents.check),
    ("serve", agents.serve),
):
    agents.agents.command(name)(reported(verb))
app.add_typer(agents.agents)


def _defaults() -> dict[str, Any]:
    """Read the settings, where there is a file of them."""
    from sandbox.model.places import settings_file

    path = settings_file()
    if path is None:
        return {}
    from sandbox.cli.defaults import defaults
    from sandbox.model import settings

    return defaults(typer.main.get_command(app), settings.applied(path), path)


def main() -> None:
    """Run the command line and exit."""
    interrupts.Interrupts().install()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        app(prog_name="sandbox", default_map=_defaults())
    except SandboxError as error:
        complain(error)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(interrupts.EXIT_CODE)
    except OSError as error:
        if error.filename is not None or error.errno not in OUTPUT_LOST:
            complain(told(error))
        _give_up_output()
        sys.exit(OUTPUT_FAILED)
    except Exception as error:  # noqa: BLE001 - the last place where anything can be said of it
        complain(told(error))
        sys.exit(3)
