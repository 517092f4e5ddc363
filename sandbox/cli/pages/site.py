"""The pages over HTTP, on the loopback: each is made anew when it is asked for."""

import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import islice

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from sandbox.cli.pages.experiment_page import Size, experiment_page
from sandbox.cli.pages.page import rendered
from sandbox.cli.pages.plots import Library
from sandbox.cli.pages.run_page import run_page
from sandbox.grading.run_lines import RunLine, run_lines
from sandbox.model import garbage
from sandbox.model.errors import SandboxError, UsageError
from sandbox.model.run_folder import RunFolder
from sandbox.model.store import Store
from sandbox.run import dead_runs
from sandbox.run import experiment as experiments

LOOPBACK = "127.0.0.1"
NEWEST = 200
"""Runs that the first page lists."""
_HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": "frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
}


def index(store: Store) -> str:
    """Make the first page: experiments, and the newest runs."""
    folders = list(islice(store.folders(), NEWEST))
    return rendered(
        "index.html",
        experiments=experiments.named(store),
        lines=_lines(store, folders),
        place=store.root,
    )


def page_of_run(store: Store, name: str, *, home: str = "") -> str:
    """Make the page of a run; UsageError where there is none of that name."""
    folder = store.find(name)
    dead_runs.bury([folder])
    return run_page(folder, home=home)


@garbage.paused()
def page_of_experiment(store: Store, name: str, library: Library, *, home: str = "") -> str:
    """Make the page of an experiment; UsageError where there is none of that name."""
    found = experiments.called(store, name)
    folders = [store.folder(run) for _, run in sorted(found.runs().items())]
    lines = _lines(store, folders)
    size = Size(len(found.plan.cells), len(folders), len(folders) - len(lines))
    return experiment_page(name, lines, size, library, home=home)


def _lines(store: Store, folders: Sequence[RunFolder]) -> list[RunLine]:
    """Read runs; the end of those that were killed is noted first."""
    lines = run_lines(folders)
    going_on = [store.folder(line.record.id) for line in lines if line.record.verdict is None]
    return run_lines(folders) if dead_runs.bury(going_on) else lines


def site(store: Store, library: Library) -> Starlette:
    """Make the application."""

    def answered(make: Callable[[], str]) -> Response:
        try:
            return HTMLResponse(make(), headers=_HEADERS)
        except SandboxError as error:
            status = 404 if isinstance(error, UsageError) else 500
            said = rendered(
                "problem.html", message=error.message, next_step=error.next_step, home="/"
            )
            return HTMLResponse(said, status, headers=_HEADERS)

    def first(_: Request) -> Response:
        return answered(lambda: index(store))

    def run(request: Request) -> Response:
        return answered(lambda: page_of_run(store, request.path_params["name"], home="/"))

    def experiment(request: Request) -> Response:
        name = request.path_params["name"]
        return answered(lambda: page_of_experiment(store, name, library, home="/"))

    return Starlette(
        routes=[
            Route("/", first),
            Route("/run/{name}", run),
            Route("/experiment/{name}", experiment),
        ],
        # A page of another site that has its name lead here is sent away.
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=[LOOPBACK, "localhost"])],
    )


def bound(port: int) -> socket.socket:
    """Take a port of the loopback, any for 0; UsageError where it is taken."""
    try:
        return socket.create_server((LOOPBACK, port))
    except (OSError, OverflowError) as error:
        raise UsageError(
            f"The port {port} of {LOOPBACK} cannot be used: {error}.",
            "Choose another one with --port, or leave it out.",
        ) from error


def serve(application: Starlette, listener: socket.socket) -> None:
    """Answer requests until Ctrl-C."""
    config = uvicorn.Config(application, log_level="warning", lifespan="off")
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listener])
