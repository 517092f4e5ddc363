"""What a client may send, and what is wrong with a registry's files."""

import http.client
import io
import re
import socket
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import JsonValue, ValidationError

from sandbox.container.mirror import Mirror
from sandbox.container.mirror.faults import Faults
from sandbox.model.errors import SourceError
from sandbox.model.registry import Registry, RegistryFault
from tests.sandbox.container.mirror.packages import Files, Running, registry, running, wheel


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return wheel(tmp_path_factory.mktemp("files"), "needed", "2.0")


def say(where: Running, data: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", where.port), 30) as client:
        client.sendall(data)
        client.shutdown(socket.SHUT_WR)
        with client.makefile("rb") as answer:
            return answer.read()


def test_several_requests_on_one_connection(files: Files) -> None:
    with running(files) as where:
        client = http.client.HTTPConnection("127.0.0.1", where.port, timeout=30)
        sizes = []
        for method, path in (("GET", "/simple/"), ("HEAD", "/simple/needed/"), ("GET", "/x")):
            client.request(method, path)
            answer = client.getresponse()
            sizes.append((answer.status, len(answer.read()) > 0, answer.will_close))
        client.close()
        assert sizes == [(200, True, False), (200, False, False), (404, True, False)]
        assert [(each.method, each.target, each.status) for each in where.served] == [
            ("GET", "/simple/", 200),
            ("HEAD", "/simple/needed/", 200),
            ("GET", "/x", 404),
        ]


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"GET\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\n\r\n", 400),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\r\n", 400),
        (b"GET /" + b"x" * 70_000 + b" HTTP/1.1\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 200 + b"\r\n", 400),
        (b"GET /../../etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n", 404),
        (b"GET /files/..%2f..%2fetc/passwd HTTP/1.1\r\nHost: x\r\n\r\n", 404),
        (b"GET http://elsewhere/simple/ HTTP/1.1\r\nHost: x\r\n\r\n", 404),
        (
            b"POST /-/npm/v1/security/audits HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nGET /",
            404,
        ),
        (b"PUT /left HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 404),
    ],
)
def test_what_is_not_served_is_an_error_and_the_end(files: Files, data: bytes, status: int) -> None:
    with running(files) as where:
        answer = say(where, data)
        assert re.match(rb"HTTP/1.1 (\d+)", answer)
        assert where.statuses == [status]
        assert say(where, b"GET /simple/ HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.1 200 OK")


@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.binary(max_size=80), max_size=4).map(b"\r\n".join))
def test_garbage_is_answered_or_ended(files: Files, data: bytes) -> None:
    with running(files) as where:
        assert not say(where, data) or where.statuses


def test_many_clients_at_once_get_the_whole(files: Files) -> None:
    (artifact, path), *_ = files.items()
    with running(files) as where, ThreadPoolExecutor(64) as pool:
        ask = f"GET /files/{artifact.filename} HTTP/1.0\r\n\r\n".encode()
        answers = list(pool.map(lambda _: say(where, ask), range(64)))
    assert all(answer.endswith(path.read_bytes()) for answer in answers)


def test_a_wrong_archive_is_a_good_one(files: Files) -> None:
    (artifact, path), *_ = files.items()
    with running(files, {"id": "wrong", "effect": "wrong_hash"}) as where:
        answer = say(where, f"GET /files/{artifact.filename} HTTP/1.0\r\n\r\n".encode())
    content = answer.partition(b"\r\n\r\n")[2]
    assert len(content) == path.stat().st_size
    assert content != path.read_bytes()
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.testzip() is None


def test_a_file_that_is_not_the_pinned_one_is_not_served(tmp_path: Path) -> None:
    files = wheel(tmp_path, "needed", "2.0")
    offered = registry(files)
    for path in files.values():
        path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(SourceError, match="not the file that was pinned"):
        Mirror(offered, files, lambda _: None)


def faults(*given: dict[str, JsonValue]) -> Faults:
    return Faults([RegistryFault.model_validate(each) for each in given])


def test_the_first_fault_that_is_not_used_up_befalls() -> None:
    found = faults(
        {"id": "a", "effect": "unavailable", "package": "x*", "times": 2},
        {"id": "b", "effect": "truncated", "package": "x*", "path": "files/**"},
        {"id": "c", "effect": "delay", "seconds": 1, "path": "**/y"},
    )

    def strike(path: str, package: str, *, archive: bool) -> tuple[str, int] | None:
        struck = found.strike(path, package, archive=archive)
        return (struck.fault.id, struck.occurrence) if struck else None

    assert strike("/simple/xy/", "xy", archive=False) == ("a", 1)
    assert strike("/files/xy.whl", "xy", archive=True) == ("a", 2)
    assert strike("/files/xy.whl", "xy", archive=True) == ("b", 1)
    assert strike("/simple/xy/", "xy", archive=False) is None
    assert strike("/simple/y/", "y", archive=False) == ("c", 1)
    assert strike("/files/z", "z", archive=True) is None


@pytest.mark.parametrize(
    ("fault", "problem"),
    [
        ({"id": "a", "effect": "delay"}, "`seconds` go with `delay`"),
        ({"id": "a", "effect": "truncated", "seconds": 1}, "`seconds` go with `delay`"),
        ({"id": "a", "effect": "unavailable", "path": "/simple/**"}, "starts without a slash"),
        ({"id": "a", "effect": "unavailable", "package": "a**"}, "must stand alone"),
        ({"id": "a", "effect": "unavailable", "times": 0}, "greater than or equal to 1"),
        ({"id": "a", "effect": "gone"}, "unavailable"),
    ],
)
def test_a_fault_that_means_nothing_is_an_error(fault: dict[str, JsonValue], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        RegistryFault.model_validate(fault)


def test_two_faults_of_one_name_and_two_files_of_one_name(files: Files) -> None:
    same: dict[str, JsonValue] = {"id": "a", "effect": "unavailable"}
    with pytest.raises(ValidationError, match="two faults have the id 'a'"):
        registry(files, same, same)
    (artifact, *_) = files
    with pytest.raises(ValidationError, match="stands there twice"):
        Registry(artifacts=(artifact, artifact))
