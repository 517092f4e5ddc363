"""The registry: answers requests on connections, says what it answered, and fails as told."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from json import JSONDecodeError
from pathlib import Path
from tarfile import TarError
from zipfile import BadZipFile

from sandbox.container.http import BadRequestError, Request, Requests, Response
from sandbox.container.mirror.faults import Faults, Strike
from sandbox.container.mirror.npm import NpmRegistry
from sandbox.container.mirror.pages import Archive, Found, Moved, Page
from sandbox.container.mirror.pypi import PythonIndex
from sandbox.model.artifact import Artifact
from sandbox.model.connection import Connection
from sandbox.model.errors import SourceError
from sandbox.model.registry import Registry

OCTETS = "application/octet-stream"


@dataclass(frozen=True, slots=True)
class Served:
    """What a request was answered."""

    method: str
    """Empty where it was none."""
    target: str
    """The path as it was asked for."""
    status: int
    size: int
    """Bytes of the body that were sent."""
    strike: Strike | None = None
    """The fault that befell it."""


class Mirror:
    """A registry of one run, whose faults it counts. Any number of connections at once."""

    def __init__(
        self, registry: Registry, files: Mapping[Artifact, Path], told: Callable[[Served], None]
    ) -> None:
        """Serve these files; `told` is called for each request, by the connection's thread.

        SourceError where a file is not the one that was pinned, or no package.
        """
        wanted = {artifact: files[artifact] for artifact in registry.artifacts}
        _verify(wanted)
        try:
            self._python, self._npm = PythonIndex(wanted), NpmRegistry(wanted)
        except (BadZipFile, TarError, JSONDecodeError, UnicodeDecodeError) as error:
            raise SourceError(
                f"A file of world.registry is not a valid package: {error}."
            ) from error
        self._faults = Faults(registry.faults)
        self._told = told

    def serve(self, connection: Connection) -> None:
        """Answer requests until there are no more."""
        coming = Requests(connection)
        while True:
            try:
                request = coming.head()
            except BadRequestError as error:
                response = Response(HTTPStatus.BAD_REQUEST, f"{error}\n".encode())
                self._told(Served("", "", response.status, len(response.body)))
                connection.send(response.head(keep=False) + response.body)
                return
            if request is None or not self._answer(request, connection):
                return

    def _answer(self, request: Request, connection: Connection) -> bool:
        """Answer a request; whether another one may follow."""
        found = self._find(request)
        strike = None
        if found is not None:
            archive = isinstance(found, Archive)
            strike = self._faults.strike(request.path, found.package, archive=archive)
        effect = strike.fault.effect if strike else None
        response = _unavailable() if effect == "unavailable" else _response(request, found)
        size = 0 if request.method == "HEAD" else response.length
        if effect == "truncated":
            size //= 2
        keep = request.keep and effect != "truncated"
        self._told(Served(request.method, request.target, response.status, size, strike))
        if strike and strike.fault.seconds and connection.was_cut(strike.fault.seconds):
            return False
        connection.send(response.head(keep=keep))
        for place, part in enumerate(response.parts(size)):
            if effect == "wrong_hash" and place == 0 and response.file:
                part = _of_another_time(part, response.file)
            connection.send(part)
        return keep

    def _find(self, request: Request) -> Found | None:
        if request.method not in ("GET", "HEAD"):
            return None
        accept, base = request.header("Accept"), f"http://{request.header('Host')}"
        found = self._python.find(request.path, accept)
        return found or self._npm.find(request.path, accept, base)


def _response(request: Request, found: Found | None) -> Response:
    match found:
        case Page(body=body, content_type=content_type):
            return Response(HTTPStatus.OK, body, content_type, {"Vary": "Accept"})
        case Archive(path=path):
            return Response(HTTPStatus.OK, content_type=OCTETS, file=path)
        case Moved(location=location):
            return Response(HTTPStatus.MOVED_PERMANENTLY, headers={"Location": location})
    problem = b"It is not served here.\n"
    if request.method in ("GET", "HEAD"):
        return Response(HTTPStatus.NOT_FOUND, problem)
    return replace(Response(HTTPStatus.NOT_FOUND, problem), headers={"Allow": "GET, HEAD"})


def _of_another_time(beginning: bytes, file: Path) -> bytes:
    """The beginning of an archive that differs, and is a good one all the same.

    RFC 1952, section 2.3: bytes 4 to 7 of a gzip file are a time. APPNOTE.TXT, section 4.3.7: so
    are bytes 10 and 11 of a zip file.
    """
    place = 10 if file.suffix == ".whl" else 4
    return beginning[:place] + bytes([beginning[place] ^ 1]) + beginning[place + 1 :]


def _unavailable() -> Response:
    return Response(HTTPStatus.SERVICE_UNAVAILABLE, b"Try again later.\n")


def _verify(files: Mapping[Artifact, Path]) -> None:
    for artifact, path in files.items():
        try:
            with path.open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise SourceError(f"{path} cannot be read: {error.strerror}.") from error
        if found != artifact.sha256:
            raise SourceError(
                f"{path} is not the file that was pinned.", "Remove it and run `sandbox build`."
            )
