"""`sandbox open`: a session that is acted in by `sandbox call` and ended by `sandbox close`."""

import subprocess
import sys
import tempfile
from typing import IO, TYPE_CHECKING, Annotated

import typer

from sandbox.cli.options import RunsOption, TaskArgument, open_store
from sandbox.cli.terminal import Progress
from sandbox.model.errors import CallError, UsageError

if TYPE_CHECKING:
    from sandbox.cli.session_process import Order
    from sandbox.model.briefing import Briefing

KEEPER = (sys.executable, "-P", "-m", "sandbox.cli.session_process")


def open_session(
    task: TaskArgument,
    *,
    idle: Annotated[
        float | None,
        typer.Option(
            help="Seconds without a call after which it ends; the task's own limit by default."
        ),
    ] = None,
    name: Annotated[
        str, typer.Option(help="What trace and reports call whoever calls.")
    ] = "caller",
    approver: Annotated[
        str, typer.Option(help="Who answers: `script` (the task's), `allow`, `deny`, a YAML file.")
    ] = "script",
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the whole briefing as JSON, not the id alone.")
    ] = False,
    runs: RunsOption = None,
) -> None:
    """Open a session and print its id, for `sandbox call` and `sandbox close`.

    It is a run like any other, with the task's policy and limits. It outlives whoever opened it
    and ends by `close`, by the final answer, or when a limit is reached; then it is graded.
    """
    from sandbox.cli.session_process import Order
    from sandbox.container import engines

    if approver == "terminal":
        raise UsageError(
            "An open session outlives its terminal, so nobody there can be asked.",
            "Choose `script`, `allow`, `deny` or a YAML file as --approver.",
        )
    if idle is not None and not idle > 0:
        raise UsageError(f"{idle:g} seconds cannot be waited.", "Give --idle a positive number.")
    engines.check_rights()
    root = open_store(runs).root.absolute()
    order = Order(task=task, runs=str(root), name=name, approver=approver, idle=idle)
    progress = Progress(sys.stderr)
    try:
        briefing = _start(order, progress)
    finally:
        progress.close()
    if as_json:
        from sandbox.cli import outputs

        outputs.write("open", briefing)
    else:
        typer.echo(briefing.run)
    if not as_json:
        short = briefing.run[:8]
        sys.stderr.write(
            f"""open: sandbox call {short} run_command '{{"command": "ls"}}',"""
            f" sandbox close {short}\n"
        )


def _start(order: "Order", progress: Progress) -> "Briefing":
    """Start the keeper and wait until it is ready; it is ended where we are interrupted."""
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            KEEPER,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
        )
        try:
            return _briefing(process, order, progress)
        except KeyboardInterrupt:
            process.terminate()
            process.wait()
            raise
        except (BrokenPipeError, EOFError) as error:
            process.wait()
            raise _died(process, errors) from error


def _briefing(process: "subprocess.Popen[bytes]", order: "Order", progress: Progress) -> "Briefing":
    from sandbox.cli.session_process import NEWS, Failed, Ready

    if process.stdin is None or process.stdout is None:
        raise RuntimeError("started without pipes")
    with process.stdin as orders:
        orders.write(order.model_dump_json().encode())
    for row in process.stdout:
        match NEWS.validate_json(row):
            case Ready(briefing=briefing):
                return briefing
            case Failed() as failed:
                kind = UsageError if failed.exit_code == UsageError.exit_code else CallError
                raise kind(failed.message, failed.next_step)
            case stage:
                progress.doing(stage.text)
    raise EOFError


def _died(process: "subprocess.Popen[bytes]", errors: IO[bytes]) -> CallError:
    errors.seek(0)
    said = errors.read().decode("utf-8", "replace").strip()[-2000:]
    return CallError(
        f"The session's process ended with status {process.returncode} before it was ready."
        + (f" It said:\n{said}" if said else ""),
        "`sandbox gc` removes what it may have left.",
    )
