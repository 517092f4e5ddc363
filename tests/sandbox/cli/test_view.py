"""`sandbox view`: pages over HTTP on the loopback, or one of them in a file."""

import http.client
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sandbox.cli.app import application
from sandbox.model.store import Store
from sandbox.model.verdict import Verdict
from tests.end_to_end.commands import SANDBOX
from tests.sandbox.cli.pages.stored import experiment, stored_run


@pytest.fixture
def store(tmp_path: Path) -> Store:
    found = Store(tmp_path / "runs")
    experiment(found, [Verdict.PASSED, Verdict.FAILED], planned=2)
    stored_run(found, "abcdef01-humanize-file-sizes")
    return found


@pytest.fixture
def served(store: Store) -> Iterator[tuple[subprocess.Popen[str], int]]:
    process = subprocess.Popen(
        [SANDBOX, "view", "--runs", str(store.root)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    address = process.stdout.readline().strip()
    try:
        yield process, int(address.rpartition(":")[2].rstrip("/"))
    finally:
        process.kill()
        process.communicate()


def fetched(port: int, path: str, host: str = "localhost") -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", path, headers={"host": host})
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return answer.status, body


@pytest.mark.slow
def test_from_the_first_page_one_comes_to_every_run(
    served: tuple[subprocess.Popen[str], int],
) -> None:
    process, port = served
    status, first = fetched(port, "/")
    assert status == 200
    assert 'href="run/abcdef01-humanize-file-sizes"' in first
    assert 'href="experiment/many"' in first
    status, page = fetched(port, "/experiment/many")
    assert (status, 'href="/run/00000001-humanize-file-sizes"' in page) == (200, True)
    status, page = fetched(port, "/run/00000001-humanize-file-sizes")
    assert (status, "experiment many" in page) == (200, False), "the record names none"
    assert fetched(port, "/run/nothing")[0] == 404
    assert fetched(port, "/experiment/..%2f..")[0] == 404
    assert fetched(port, "/", host="elsewhere.example")[0] == 400
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 0


@pytest.mark.slow
def test_it_is_heard_on_the_loopback_alone(served: tuple[subprocess.Popen[str], int]) -> None:
    _, port = served
    own = socket.gethostbyname(socket.gethostname())
    if own.startswith("127."):
        own = "127.0.0.2"
    with pytest.raises(OSError):  # refused, or unreachable
        socket.create_connection((own, port), timeout=5)


def test_one_page_is_written_to_a_file(store: Store, tmp_path: Path) -> None:
    for name, told in (("abcd", "failed"), ("last", "failed")):
        file = tmp_path / f"{name}.html"
        arguments = ["view", name, "--html", str(file), "--runs", str(store.root)]
        assert CliRunner().invoke(application(), arguments).exit_code == 0
        assert f"<title>{told}: humanize/file-sizes" in file.read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nothing"], "No run in"),
        (["--html", "x.html"], "--html goes with"),
        (["last", "--html", "/nonexistent/x.html"], "cannot be written"),
    ],
)
def test_what_cannot_be_shown_is_said(store: Store, words: list[str], said: str) -> None:
    found = CliRunner().invoke(application(), ["view", *words, "--runs", str(store.root)])
    assert found.exit_code == 2
    assert said in found.output


def test_a_port_that_is_taken_is_said(store: Store) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        found = CliRunner().invoke(
            application(), ["view", "--port", port, "--runs", str(store.root)]
        )
    assert found.exit_code == 2
    assert "cannot be used" in found.output
