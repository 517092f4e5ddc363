"""The command `sandbox`: registers the verbs and turns errors into sentences and exit codes.

Exit codes: 0 passed, 1 failed, 2 usage, 3 infrastructure, 4 invalid, 130 interrupted, 141 where
the reader of a pipe has gone before the verdict was printed.
"""

import atexit
import errno
import functools
import gc
import io
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Annotated, Any

import typer

from sandbox.cli import interrupts
from sandbox.cli.crash import told
from sandbox.cli.options import EngineOption
from sandbox.cli.terminal import complain, mutter
from sandbox.model.errors import NameSpaceError, SandboxError
from sandbox.model.version import VERSION

SAYS = "Evaluate coding agents in real repositories inside containers, on the path they take."
COMPLETING = "_SANDBOX_COMPLETE"
"""Set by a shell that asks which words may come."""

PIPE_CLOSED = 128 + 13
"""As a shell reports a program that SIGPIPE has ended."""

OUTPUT_FAILED = 3
OUTPUT_LOST = frozenset((errno.ENOSPC, errno.EIO, errno.EBADF, errno.EDQUOT))
"""What a full or closed output answers a write with."""

VERBS = (
    "run",
    "resume",
    "open",
    "call",
    "close",
    "build",
    "runs",
    "view",
    "diff",
    "tasks",
    "show",
    "trace",
    "grade",
    "record",
    "replay",
    "check",
    "validate",
    "generate",
    "harden",
    "new",
    "mine",
    "estrange",
    "plant",
    "harvest",
    "audit",
    "report",
    "compare",
    "gate",
    "judge",
    "mcp",
    "doctor",
    "export",
    "schema",
    "gc",
)
"""Each a module of its name in `sandbox/cli/verbs/`; what is not called is not loaded."""
FUNCTIONS = {"open": "open_session"}
"""What a verb is there, where its own name means something to Python."""

GROUPS = {
    "policy": {"explain": "explain"},
    "baseline": {"pin": "pin", "list": "list_baselines"},
    "import": {
        "harbor": "harbor",
        "recording": "recording",
        "swebench": "swebench",
        "terminal-bench": "terminal_bench",
    },
    "agents": {"list": "list_presets", "install": "install", "check": "check", "serve": "serve"},
}
"""Verbs of two words: by the first, a module, the second ones with their functions."""
MODULES = {"import": "imports"}
"""The module of a verb whose own name Python keeps for itself."""


def print_version(wanted: bool) -> None:  # noqa: FBT001 - typer's signature of a callback
    """Print the version and end, where `--version` asks for it."""
    if wanted:
        typer.echo(f"sandbox {VERSION}")
        raise typer.Exit


def options(
    *,
    version: Annotated[
        bool,
        typer.Option("--version", callback=print_version, is_eager=True, help="Print the version."),
    ] = False,
    engine: EngineOption = None,
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
        except NameSpaceError:
            from sandbox.container.engines.native import user_name_space

            user_name_space.enter()
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


def application(words: Sequence[str] = ()) -> typer.Typer:
    """Make the command line: the verb that the words begin with, or all verbs.

    To load them all takes a tenth of a second, which each command would wait for.
    """
    app = typer.Typer(
        name="sandbox",
        help=SAYS,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
    )
    app.callback()(options)
    first = words[0] if words else ""
    known = first in VERBS or first in GROUPS
    for name in VERBS:
        if first == name or not known:
            app.command(name)(reported(getattr(_module(name), FUNCTIONS.get(name, name))))
    for name, verbs in GROUPS.items():
        if first == name or not known:
            app.add_typer(_group(name, verbs))
    return app


def _group(name: str, verbs: Mapping[str, str]) -> typer.Typer:
    module = _module(name)
    group = typer.Typer(name=name, no_args_is_help=True)
    group.callback()(module.about)
    for verb, function in verbs.items():
        group.command(verb)(reported(getattr(module, function)))
    return group


def _module(name: str) -> Any:  # noqa: ANN401 - a module
    return import_module(f"sandbox.cli.verbs.{MODULES.get(name, name)}")


def _defaults() -> dict[str, Any]:
    """Read the settings, where there is a file of them."""
    from sandbox.model.places import settings_file

    path = settings_file()
    if path is None:
        return {}
    from sandbox.cli.defaults import defaults
    from sandbox.model import settings

    return defaults(typer.main.get_command(application()), settings.applied(path), path)


ALLOCATIONS_PER_COLLECTION = 100_000
"""New objects between two collections of garbage."""


WIDEST = 9999
"""The largest terminal that is believed, in characters."""


def main() -> None:
    """Run the command line and exit."""
    # Ten thousand records hold no cycles: looking through them time and again takes a fifth.
    gc.set_threshold(ALLOCATIONS_PER_COLLECTION)
    # What is left at the end goes with the process: looking through it takes a fifth of a second.
    atexit.register(gc.freeze)
    if len(os.environ.get("COLUMNS", "")) > len(str(WIDEST)):
        del os.environ["COLUMNS"]  # what draws frames would fill a line of that width
    signals = interrupts.Interrupts()
    signals.install()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        words = () if COMPLETING in os.environ else sys.argv[1:]
        application(words)(prog_name="sandbox", default_map=_defaults())
    except SandboxError as error:
        complain(error)
        sys.exit(error.exit_code)
    except SystemExit as left:
        # typer and rich end with 1 where nobody reads on (`sandbox --help | head -1`).
        if isinstance(left.__context__, BrokenPipeError):
            _give_up_output()
            sys.exit(PIPE_CLOSED)
        raise
    except KeyboardInterrupt:
        sys.exit(interrupts.EXIT_CODE)
    except OSError as error:
        if error.filename is not None or error.errno not in OUTPUT_LOST:
            complain(told(error))
        _give_up_output()
        sys.exit(OUTPUT_FAILED)
    except Exception as error:  # noqa: BLE001 - the last place where anything can be said of it
        if signals.caused(error):
            mutter("interrupted\n")
            sys.exit(interrupts.EXIT_CODE)
        complain(told(error))
        sys.exit(3)
