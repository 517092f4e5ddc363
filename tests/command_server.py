"""Starts the command `sandbox` in copies of a process that has its modules loaded.

A start of Python with these modules takes some 0.5 s of a processor, and the tests start the
command hundreds of times. A copy runs the same `main` with the arguments, the environment, the
folder and the descriptors that it is given. What Python itself reads when it starts (PYTHON...,
the locale) cannot be chosen for a copy: `tests.end_to_end.commands` starts such a command anew.
"""

import atexit
import functools
import gc
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

LOADED = (
    "sandbox.cli.app",
    "sandbox.cli.batch_progress",
    "sandbox.cli.order",
    "sandbox.container.engines.docker_engine",
    "sandbox.rules.checker.check",
    "sandbox.run.experiment",
    "sandbox.run.judged_trial",
    "sandbox.run.scripted_agents",
    "sandbox.tasks.suites.generator",
    "typer.rich_utils",
)
"""What most verbs load; a copy loads the rest when it needs it."""

_ANSWER_BYTES = 64


def run(
    arguments: Sequence[str], environment: Mapping[str, str], seconds: float
) -> subprocess.CompletedProcess[bytes]:
    """Run the command to its end, as `subprocess.run` would.

    Raises:
        TimeoutExpired: It was ended because it took longer than `seconds`.
    """
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with (
        tempfile.TemporaryFile() as order,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
        near,
    ):
        order.write(json.dumps([list(arguments), dict(environment), str(Path.cwd())]).encode())
        order.flush()
        with far:
            shared = [order.fileno(), out.fileno(), err.fileno(), far.fileno()]
            socket.send_fds(_server(os.getpid()), [b"."], shared)
        code = _ended(near, list(arguments), seconds)
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(list(arguments), code, out.read(), err.read())


def _ended(answers: socket.socket, arguments: list[str], seconds: float) -> int:
    process = int(answers.recv(_ANSWER_BYTES))
    answers.settimeout(seconds)
    try:
        return int(answers.recv(_ANSWER_BYTES))
    except TimeoutError:
        os.kill(process, signal.SIGKILL)
        raise subprocess.TimeoutExpired(arguments, seconds) from None


@functools.cache
def _server(_owner: int) -> socket.socket:
    """Start the server of a process; it ends when that process does."""
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with far:
        server = subprocess.Popen(
            [sys.executable, "-m", __name__, str(far.fileno())],
            pass_fds=[far.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )

    def stop() -> None:
        near.close()
        server.wait()

    atexit.register(stop)
    return near


def _serve(requests: socket.socket) -> None:
    """Answer each request by a copy of this process, until nobody can ask any more."""
    while True:
        message, descriptors, *_ = socket.recv_fds(requests, 1, 4)
        if not message:
            return
        if os.fork() == 0:
            requests.close()
            _oversee(*descriptors)
            return
        for each in descriptors:
            os.close(each)


def _oversee(order: int, out: int, err: int, answer: int) -> None:
    """Run the command in a child, and say which process it is and how it ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.lseek(order, 0, os.SEEK_SET)
    with open(order, "rb") as file:
        arguments, environment, folder = json.load(file)
    child = os.fork()
    if child == 0:
        os.close(answer)
        os.dup2(out, 1)
        os.dup2(err, 2)
        os.close(out)
        os.close(err)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        sys.argv = arguments
        from sandbox.cli.app import main

        main()
        return
    with socket.socket(fileno=answer) as told:
        told.send(str(child).encode())
        _, status = os.waitpid(child, 0)
        told.send(str(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


if __name__ == "__main__":
    for module in LOADED:
        importlib.import_module(module)
    importlib.import_module("sandbox.cli.app").application()  # loads all verbs
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    _serve(socket.socket(fileno=int(sys.argv[1])))
