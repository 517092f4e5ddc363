"""`docker compose` for tests: the one that is installed, or Debian's package unpacked beside."""

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import yaml

from tests import ROOT
from tests.unpacked import unpacked

AUTHORITIES = "/etc/ssl/certs/ca-certificates.crt"
SECONDS = 1200


def program(folder: Path) -> Path:
    """Return Compose 2 as a program of its own; raises where it can be had from nowhere."""
    plugins = ("/usr/libexec/docker/cli-plugins", "/usr/lib/docker/cli-plugins")
    for place in plugins:
        if (installed := Path(place, "docker-compose")).is_file():
            return installed
    found = unpacked("docker-compose", folder).glob("usr/*/docker/cli-plugins/docker-compose")
    return next(found)


@dataclass(frozen=True, slots=True)
class Composed:
    """The project's file under a name of its own, with what this machine's network needs."""

    program: Path
    name: str
    override: Path
    base: str

    def prepare(self) -> None:
        """Write the override file that docs/compose.md shows."""
        network = {"network_mode": "host"}
        variables = ("PIP_CERT", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS")
        harness = {
            **network,
            "environment": dict.fromkeys(variables, AUTHORITIES),
            "volumes": [f"{AUTHORITIES}:{AUTHORITIES}:ro"],
        }
        services = {"engine": network, "sandbox": harness, "worker": harness}
        self.override.write_text(yaml.safe_dump({"services": services}))

    def __call__(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command of Compose to its end, whatever comes of it."""
        files = ("--file", ROOT / "docker-compose.yml", "--file", self.override)
        return subprocess.run(
            (self.program, "--project-name", self.name, "--progress", "quiet", *files, *words),
            env={**os.environ, "SANDBOX_BASE": self.base, "DOCKER_BUILDKIT": "0"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )

    def left(self) -> list[str]:
        """Name what the engine still has of it."""
        docker = shutil.which("docker")
        assert docker is not None
        label = f"label=com.docker.compose.project={self.name}"
        asked = (("ps", "--all"), ("volume", "ls"), ("network", "ls"))
        return [
            json.loads(line).get("Name") or line
            for words in asked
            for line in subprocess.run(
                (docker, *words, "--filter", label, "--format", "{{json .}}"),
                capture_output=True,
                text=True,
                check=True,
            ).stdout.splitlines()
        ]
