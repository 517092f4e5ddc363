"""`sandbox agents`: the clients that presets describe: which are here, and which can be trusted."""

import secrets
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sandbox.cli import completion
from sandbox.cli.options import JsonOption
from sandbox.cli.tables import table
from sandbox.cli.terminal import Progress, coloured, line
from sandbox.model.errors import ClientError, UsageError

if TYPE_CHECKING:
    from sandbox.agents.clients.preset import Preset
    from sandbox.model.client import GateReport

GATE_TASK = "humanize/file-sizes"

PresetArgument = Annotated[
    str, typer.Argument(help="A preset: `sandbox agents list`.", autocompletion=completion.presets)
]


def about() -> None:
    """Clients that others made, driven by presets."""


def list_presets(*, as_json: JsonOption = False) -> None:
    """List the presets: known version, version that is installed, and how the gate went."""
    from sandbox.agents.clients import preset_files

    found = [
        (preset, *_standing(preset)) for preset in map(preset_files.find, preset_files.names())
    ]
    if as_json:
        from sandbox.cli import outputs
        from sandbox.cli.output_records import PresetStanding

        rows = [
            PresetStanding(
                preset=preset.name,
                title=preset.title,
                package=preset.package.name,
                known_version=preset.package.version,
                version=version,
                gate=gate,
            )
            for preset, version, gate in found
        ]
        outputs.write("agents list", rows)
        return
    head = ("preset", "client", "known", "installed", "gate")
    cells = [
        (preset.name, preset.title, preset.package.version, version or "-", gate)
        for preset, version, gate in found
    ]
    for row in table(head, cells, left=len(head)):
        typer.echo(row)


def install(preset: PresetArgument) -> None:
    """Install a preset's client, in the version that it knows, into the cache."""
    from sandbox.agents.clients import installation, preset_files
    from sandbox.model import places

    found = preset_files.find(preset)
    folder = installation.install(found, places.cache())
    version = installation.version(found, installation.locate(found, places.cache()))
    typer.echo(f"{found.title} {version} is in {folder}")


def check(
    preset: Annotated[
        str,
        typer.Argument(
            help="A preset: `sandbox agents list`, or a file of one's own.",
            autocompletion=completion.presets,
        ),
    ] = "",
    *,
    command: Annotated[
        str,
        typer.Option(help="A command line in place of a preset, as for `--protocol mcp`."),
    ] = "",
    task: Annotated[
        str, typer.Option(help="The task in whose container the client acts.")
    ] = GATE_TASK,
    model: Annotated[
        str | None,
        typer.Option(help="The model's name, for clients that choose their tools by it."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Drive a client with a scripted model and look at what comes of it.

    The tools that the model is offered must be the harness's, a call of a built-in tool must change
    nothing on this host, a denied action must not be done, and what runs when the client is
    interrupted must be killed. The report is kept; `sandbox run` warns where there is none.

    A command finds the scripted model by the usual variables (OPENAI_BASE_URL, OPENAI_API_KEY and
    those of Anthropic and Gemini); of its built-in tools only those that it offers are seen.

    Exit codes: 0 passed, 1 failed, 2 usage (also where the client is not installed), 3
    infrastructure.
    """
    from sandbox.agents.clients import gate_reports, preset_files
    from sandbox.agents.mcp_agent import CommandClient
    from sandbox.model import places

    if bool(preset) == bool(command):
        raise UsageError(
            "Either a preset or a --command is checked.", "`sandbox agents list` has the presets."
        )
    if command:
        CommandClient(command)  # AgentError for one that cannot be split
    found = None if command else preset_files.find(preset)
    progress = Progress(sys.stderr)
    try:
        report = _drive(found, command, task, model, progress)
    finally:
        progress.close()
    if found is not None:
        gate_reports.keep(found, report, places.cache())
    if as_json:
        from sandbox.cli import outputs

        outputs.write("agents check", report)
    else:
        for text in rows(report):
            typer.echo(text)
    raise typer.Exit(0 if report.passed else 1)


def rows(report: "GateReport") -> list[str]:
    """Put a report into lines."""
    verdict = coloured("passed" if report.passed else "failed")
    who = " ".join(filter(None, (report.preset, line(report.version), "as", line(report.model))))
    return [
        f"{who}: {verdict} in {report.seconds:.1f} s",
        *(
            f"  {check.name:<10} {coloured('passed' if check.passed else 'failed')}"
            f"   {line(check.message)}"
            for check in report.checks
        ),
    ]


def _drive(
    preset: "Preset | None", command: str, task: str, model: str | None, progress: Progress
) -> "GateReport":
    from sandbox.agents.clients.installation import Installation, locate
    from sandbox.agents.clients.preset import Preset
    from sandbox.container import engines
    from sandbox.model import places
    from sandbox.model.documents import load
    from sandbox.run.run_containers import begin
    from sandbox.run.safety.gate import COMMAND, Gate
    from sandbox.tasks import library
    from sandbox.tasks.images import Images

    known = preset or load(COMMAND, Preset)
    installed = Installation(Path(), "") if command else locate(known, places.cache())
    loaded = library.load(task)
    engine = engines.connect()
    try:
        image = Images(engine, places.cache()).ensure(loaded, progress.doing)
        name = f"{secrets.token_hex(4)}-gate"
        with begin(engine, loaded, image, name) as session:
            place = known, installed, session, loaded.worktree
            return Gate(*place, command, model, progress.doing).check()
    finally:
        engine.close()


def _standing(preset: "Preset") -> tuple[str | None, str]:
    """Version that is installed, None where none is, and how the gate went."""
    from sandbox.agents.clients.gate_reports import report
    from sandbox.agents.clients.installation import locate, version
    from sandbox.model import places

    try:
        found = version(preset, locate(preset, places.cache()))
    except ClientError:
        return None, "-"
    last = report(preset, found, places.cache())
    return found, "never" if last is None else "passed" if last.passed else "failed"


def serve(
    task: Annotated[
        str, typer.Argument(help="A task; its oracle is replayed.", autocompletion=completion.tasks)
    ],
    *,
    script: Annotated[
        Path | None, typer.Option(help="Replay this YAML list of actions instead.")
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port of the loopback; 0 for any.")
    ] = 0,
) -> None:
    """Serve a scripted model that does what a task's oracle does, to try a client without a model.

    Speaks the interfaces of OpenAI (chat and responses), Anthropic and Gemini. Any key will do.
    """
    from sandbox.agents.playback.replay import replay
    from sandbox.agents.playback.server import ModelServer
    from sandbox.model.documents import load
    from sandbox.model.task import Script
    from sandbox.tasks import library

    loaded = library.load(task).task
    actions = load(script, Script).root if script else loaded.oracle
    try:
        models = ModelServer(replay(actions), port)
    except OSError as error:
        raise UsageError(
            f"The port {port} of 127.0.0.1 cannot be used: {error.strerror}.",
            "Choose another one with --port, or leave it out.",
        ) from error
    typer.echo(f"OpenAI's interfaces: --base-url {models.url}/v1")
    typer.echo(f"Anthropic's and Gemini's: --base-url {models.url}")
    typer.echo(f"{len(actions)} actions, for any model's name and any key; Ctrl-C ends it")
    with models, suppress(KeyboardInterrupt):
        models.stopping.wait()
    asked = models.seen
    typer.echo(f"{len(asked.requests)} requests with tools, {len(asked.offered)} tools offered")
    for path in asked.unknown[:5]:
        typer.echo(f"no interface serves {line(path)}")
