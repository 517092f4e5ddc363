"""Where an engine may be reached: the order of the Docker command line, then podman's sockets.

https://docs.docker.com/reference/cli/docker/#environment-variables
https://docs.docker.com/engine/manage-resources/contexts/
"""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sandbox.model.errors import EngineError

UNIX = "unix://"


@dataclass(frozen=True, slots=True)
class Certificates:
    """Files for TLS, in PEM."""

    folder: Path
    verify: bool

    @property
    def authority(self) -> Path:
        """The certificate authority of the engine."""
        return self.folder / "ca.pem"

    @property
    def client(self) -> tuple[Path, Path]:
        """Our certificate and its key."""
        return self.folder / "cert.pem", self.folder / "key.pem"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An address, and why it is tried."""

    address: str
    origin: str
    certificates: Certificates | None = None

    @property
    def socket(self) -> Path | None:
        """The path of a unix socket."""
        return Path(self.address.removeprefix(UNIX)) if self.address.startswith(UNIX) else None


def candidates(environment: Mapping[str, str] = os.environ) -> list[Endpoint]:
    """Endpoints in the order in which to try them.

    One that a person has chosen, by DOCKER_HOST or by a context, is the only one.
    """
    one = chosen(environment)
    return [one] if one else _usual_sockets(environment)


def chosen(environment: Mapping[str, str] = os.environ) -> Endpoint | None:
    """The endpoint that a person has chosen, if any."""
    return _from_host(environment) or _from_context(environment)


def _from_host(environment: Mapping[str, str]) -> Endpoint | None:
    address = environment.get("DOCKER_HOST", "")
    if not address:
        return None
    certificates = None
    if environment.get("DOCKER_CERT_PATH") or environment.get("DOCKER_TLS_VERIFY"):
        folder = Path(environment.get("DOCKER_CERT_PATH") or _configuration(environment))
        certificates = Certificates(folder, verify=bool(environment.get("DOCKER_TLS_VERIFY")))
    return Endpoint(address, "DOCKER_HOST", certificates)


def _from_context(environment: Mapping[str, str]) -> Endpoint | None:
    folder = _configuration(environment)
    name = environment.get("DOCKER_CONTEXT") or _current_context(folder)
    if name in ("", "default"):
        return None
    digest = hashlib.sha256(name.encode()).hexdigest()
    meta = folder / "contexts" / "meta" / digest / "meta.json"
    try:
        described = json.loads(meta.read_bytes())["Endpoints"]["docker"]
        address = str(described["Host"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise EngineError(
            f"The Docker context {name!r} is chosen, but {meta} does not describe it ({error}).",
            "Choose one that `docker context ls` shows, or run `docker context use default`.",
        ) from error
    keys = folder / "contexts" / "tls" / digest / "docker"
    certificates = None
    if keys.is_dir():
        certificates = Certificates(keys, verify=not described.get("SkipTLSVerify", False))
    return Endpoint(address, f"Docker context {name!r}", certificates)


def _configuration(environment: Mapping[str, str]) -> Path:
    return Path(environment.get("DOCKER_CONFIG") or Path.home() / ".docker")


def _current_context(folder: Path) -> str:
    try:
        settings = json.loads((folder / "config.json").read_bytes())
    except FileNotFoundError:
        return ""
    except (OSError, ValueError) as error:
        raise EngineError(
            f"Docker's settings {folder / 'config.json'} cannot be read ({error}).",
            "Mend or remove that file, or name an engine with DOCKER_HOST.",
        ) from error
    name = settings.get("currentContext", "") if isinstance(settings, dict) else ""
    return name if isinstance(name, str) else ""


def _usual_sockets(environment: Mapping[str, str]) -> list[Endpoint]:
    runtime = environment.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}"
    return [
        Endpoint(f"{UNIX}/var/run/docker.sock", "Docker's socket"),
        Endpoint(f"{UNIX}{runtime}/docker.sock", "rootless Docker's socket"),
        Endpoint(f"{UNIX}{Path.home()}/.docker/run/docker.sock", "Docker Desktop's socket"),
        Endpoint(f"{UNIX}{runtime}/podman/podman.sock", "podman's socket"),
        Endpoint(f"{UNIX}/run/podman/podman.sock", "podman's socket for root"),
    ]
