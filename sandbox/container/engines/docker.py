"""The Docker API: how an engine is reached, and what its library's errors mean here.

The only module that imports `docker`; it speaks to Docker 20.10 (API 1.41) and newer, and podman.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import requests
import tenacity
import urllib3
from docker import APIClient
from docker.constants import DEFAULT_DOCKER_API_VERSION
from docker.errors import APIError, DockerException
from docker.tls import TLSConfig
from docker.utils import version_lt

from sandbox.container.engines import progress
from sandbox.container.engines.endpoints import Endpoint, candidates
from sandbox.model.errors import EngineError

__all__ = ["APIClient", "ConflictError", "MissingError", "reach", "translated"]

DOCTOR = "Run `sandbox doctor --mend`."
CONNECT_SECONDS = 1.0
"""How long a socket that refuses is asked again: an engine may just be starting."""
REQUEST_SECONDS = 120
FROZEN_SECONDS = 5
"""How long an engine is asked that has left the last request without an answer."""
OLDEST_API = "1.41"


class MissingError(EngineError):
    """The engine has no such container or image."""


class ConflictError(EngineError):
    """The engine is doing something else with it."""


class PatientClient(APIClient):
    """Waits long for an engine that is busy, and not once more for one that is frozen."""

    def send(
        self,
        request: requests.PreparedRequest,
        **kwargs: Any,  # noqa: ANN401 - the library's own signature
    ) -> requests.Response:
        """Send a request; what comes of it says how long the next one is waited for."""
        try:
            answer = super().send(request, **kwargs)
        except requests.Timeout:
            self.timeout = FROZEN_SECONDS
            raise
        self.timeout = REQUEST_SECONDS
        return answer


@contextlib.contextmanager
def translated(doing: str, *, image: bool = False) -> Iterator[None]:
    """Turn the library's errors into ours: `ImageError` if it is about making an image."""
    try:
        yield
    except APIError as error:
        reason = str(error.explanation or error)
        if image or progress.is_disk_full(reason):
            raise progress.failure(doing, reason) from error
        kinds = {requests.codes.not_found: MissingError, requests.codes.conflict: ConflictError}
        kind = kinds.get(error.status_code, EngineError)
        raise kind(f"{doing} failed: the engine says: {reason.strip()}") from error
    except (
        requests.RequestException,
        urllib3.exceptions.HTTPError,
        DockerException,
        ConnectionError,
        TimeoutError,
    ) as error:
        raise EngineError(
            f"{doing} failed: the engine did not answer ({_innermost(error)}).", DOCTOR
        ) from error


def reach() -> tuple[APIClient, Endpoint]:
    """A client of the first endpoint that answers; `EngineError` where none does."""
    answers = []
    for endpoint in candidates():
        try:
            return _client(endpoint), endpoint
        except EngineError as error:
            answers.append(f"  {endpoint.address} ({endpoint.origin}): {error.message}")
    raise EngineError("No container engine answers.\n" + "\n".join(answers), DOCTOR)


def _innermost(error: BaseException) -> str:
    """The kernel's reason, from beneath the wrapping of three libraries."""
    reason = str(error)
    inner: BaseException | None = error
    while inner is not None:
        reason = getattr(inner, "strerror", None) or reason
        inner = inner.__cause__ or inner.__context__
    return reason


def _client(endpoint: Endpoint) -> APIClient:
    """A client that speaks the newest API version that both sides know."""
    if endpoint.socket is not None:
        _check_socket(endpoint.socket)
    if endpoint.address.startswith("ssh://"):
        raise EngineError("ssh is not supported; forward the socket with `ssh -L` instead")
    try:
        theirs = _ping(endpoint)
        ours = DEFAULT_DOCKER_API_VERSION
        return _open(endpoint, ours if version_lt(ours, theirs) else theirs)
    except (
        requests.RequestException,
        urllib3.exceptions.HTTPError,
        DockerException,
        ValueError,  # a port beyond 65,535
    ) as error:
        raise EngineError(_innermost(error)) from error


def _check_socket(path: Path) -> None:
    try:
        path.stat()
    except FileNotFoundError:
        raise EngineError("there is no such socket") from None
    except OSError as error:  # perhaps of the folder that it lies in
        raise EngineError(f"this user may not look at it: {error.strerror}") from None
    if not os.access(path, os.R_OK | os.W_OK):
        raise EngineError("this user may not use it")


@tenacity.retry(
    retry=tenacity.retry_if_exception_type(requests.ConnectionError),
    stop=tenacity.stop_after_delay(CONNECT_SECONDS),
    wait=tenacity.wait_fixed(0.1),
    reraise=True,
)
def _ping(endpoint: Endpoint) -> str:
    """The engine's API version, in the answer to the cheapest question there is."""
    with contextlib.closing(_open(endpoint, OLDEST_API)) as client:
        answer = client.get(f"{client.base_url}/_ping", timeout=5)
        answer.raise_for_status()
        return str(answer.headers.get("Api-Version") or OLDEST_API)


def _open(endpoint: Endpoint, version: str) -> APIClient:
    tls: TLSConfig | bool = False
    if files := endpoint.certificates:
        certificate, key = map(str, files.client)
        tls = TLSConfig((certificate, key), str(files.authority), verify=files.verify)
    client = PatientClient(
        endpoint.address, version=version, tls=tls, timeout=REQUEST_SECONDS, max_pool_size=64
    )
    # No proxy is on the way to a socket; requests would look for one with each request, and reading
    # the environment fails where another thread changes it meanwhile.
    client.trust_env = endpoint.socket is None
    return client
