"""A client by its preset: how it is started for a run, and what it says it used."""

import json
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template

from sandbox.agents.clients import usage
from sandbox.agents.clients.installation import Installation, platform_name, printed_by
from sandbox.agents.clients.preset import Derived, Preset
from sandbox.agents.mcp_agent import Address, Launch
from sandbox.model.errors import ClientError, UsageError
from sandbox.model.usage import ModelUsage

PASSED = (
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TZ",
    "http_proxy",
    "https_proxy",
)
"""Variables of the caller that every client gets: how the network is reached."""

LOOPBACK = "127.0.0.1,localhost,::1"

USAGE_LIMIT = 16 << 20
"""Bytes that are read to learn what was used."""


@dataclass(frozen=True, slots=True)
class Model:
    """The model that a client is to use."""

    name: str
    base_url: str
    key: str


def choose_model(preset: Preset, name: str | None, base_url: str | None) -> Model:
    """Take what was chosen, else what the environment says, else what is usual.

    UsageError where there is no key.
    """
    endpoint = preset.endpoint
    key = os.environ.get(endpoint.key_variable)
    if not key:
        raise UsageError(
            f"{preset.title} needs a key for its model, and {endpoint.key_variable} is not set.",
            f"Set {endpoint.key_variable}; {endpoint.url_variable} or --base-url names another"
            f" server than {endpoint.url}.",
        )
    url = base_url or os.environ.get(endpoint.url_variable) or endpoint.url
    return Model(name or endpoint.model, url, key)


def offered(preset: Preset, actions: Iterable[str]) -> set[str]:
    """The names by which the client is to offer the harness's actions."""
    template = Template(preset.tools)
    given = (name for name in actions if not preset.given or name in preset.given)
    return {template.substitute(action=name) for name in given}


class PresetClient:
    """Fulfils `Client`."""

    def __init__(self, preset: Preset, installation: Installation, model: Model) -> None:
        self.name = preset.name
        self._preset = preset
        self._installation = installation
        self._model = model

    def launch(self, address: Address, prompt: str, folder: Path) -> Launch:
        """Write its configuration into a private home, and start it in an empty folder."""
        home, work, temporary = folder / "home", folder / "work", folder / "tmp"
        for made in (home, work, temporary):
            made.mkdir()
        ending = Template(self._preset.prompt).substitute(
            actions=", ".join(address.actions), worktree=address.worktree
        )
        names = {
            "prompt": f"{prompt}\n{ending}" if ending else prompt,
            "url": address.url,
            "token": address.token,
            "socket": str(address.socket),
            "model": self._model.name,
            "base_url": self._model.base_url,
            "key": self._model.key,
            "home": str(home),
            "work": str(work),
            "worktree": address.worktree,
            "python": sys.executable,
            "bin": str(self._installation.program.parent),
            "clients": str(Path(__file__).parent),
            "platform": platform_name(),
            "tools": json.dumps(sorted(offered(self._preset, address.actions))),
        }
        for path, content in self._preset.files.items():
            place = Path(self._fill(path, names))
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(self._fill(content, names), encoding="utf-8")
        filled = {name: self._fill(value, names) for name, value in self._environment().items()}
        environment = {
            **filled,
            "HOME": str(home),
            "PATH": self._installation.path,
            "TMPDIR": str(temporary),
        }
        program = str(self._installation.program)
        for derived in self._preset.derived:
            printed = printed_by((program, *derived.command), environment)
            Path(self._fill(derived.path, names)).write_text(_changed(printed, derived))
        arguments = (self._fill(part, names) for part in self._preset.arguments)
        return Launch((program, *arguments), environment, work)

    def used(self, output: Path, folder: Path) -> ModelUsage | None:
        """Read it from what it printed, or from the files that the preset names."""
        reading = self._preset.usage
        if reading is None:
            return None
        files = sorted((folder / "home").glob(reading.file)) if reading.file else [output]
        try:
            texts = [_beginning(file) for file in files]
        except OSError:
            return None
        return usage.read(reading, "\n".join(texts))

    def _environment(self) -> dict[str, str]:
        passed = {name: os.environ[name] for name in PASSED if name in os.environ}
        direct = ",".join(filter(None, (LOOPBACK, os.environ.get("NO_PROXY"))))
        common = {"LANG": "C.UTF-8", "TERM": "dumb", "NO_PROXY": direct, "no_proxy": direct}
        # What comes from the caller is no template.
        literal = {name: value.replace("$", "$$") for name, value in {**passed, **common}.items()}
        return {**literal, **self._preset.environment}

    def _fill(self, template: str, names: Mapping[str, str]) -> str:
        try:
            return Template(template).substitute(names)
        except (KeyError, ValueError) as error:
            raise ClientError(f"The preset {self.name} has a wrong template: {error}.") from error


def _changed(printed: str, derived: Derived) -> str:
    try:
        document = json.loads(printed)
        for entry in document[derived.list_name]:
            entry.update(derived.changes)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        command = " ".join(derived.command)
        raise ClientError(f"`{command}` of the client prints something unknown: {error}") from error
    return json.dumps(document)


def _beginning(file: Path) -> str:
    with file.open("rb") as stream:
        return stream.read(USAGE_LIMIT).decode("utf-8", "replace")
