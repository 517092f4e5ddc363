"""Source packages of Debian: apt's options for one suite of the mirror that this machine uses.

A mirror holds all suites under one address, so the host's own sources tell where another suite
lies. Lists and settings are private to one download: nothing of the host's apt is changed, and no
rights are needed.
"""

import platform
from collections.abc import Iterator
from pathlib import Path

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
"""Of the package `debian-archive-keyring`; without it apt's own trusted keys are asked."""

SOURCES_OF_HOST = ("apt-get", "indextargets", "--no-release-info", "Created-By: Packages")
"""Tells the host's package sources in stanzas, whatever format they are written in and whether
their lists are there or not."""

_COMPONENT = "main"
_PRIVATE = ("lists/partial", "archives/partial", "parts")


def mirror(told: str, suite: str) -> str | None:
    """Return the address of the mirror that the host's sources name, None where there is none.

    `told` is what `SOURCES_OF_HOST` printed. A source of the suite itself comes first, then one of
    the host's own release.
    """
    found = [each for each in _stanzas(told) if each.get("Component") == _COMPONENT]
    for release in (suite, _own_release()):
        for each in found:
            if each.get("Release") == release:
                return each.get("Repo-URI")
    return found[0].get("Repo-URI") if found else None


def options(address: str, suite: str, folder: Path) -> list[str]:
    """Lay a private configuration of apt into a folder and return the options that name it."""
    for name in _PRIVATE:
        (folder / name).mkdir(parents=True, exist_ok=True)
    signed = f" [signed-by={KEYRING}]" if KEYRING.is_file() else ""
    sources = folder / "sources.list"
    sources.write_text(f"deb-src{signed} {address} {suite} {_COMPONENT}\n")
    settings = {
        "Dir::Etc::sourcelist": sources,
        "Dir::Etc::sourceparts": folder / "parts",
        "Dir::State::lists": folder / "lists",
        "Dir::Cache": folder,
        "Dir::Cache::archives": folder / "archives",
        # Errors of a list are errors: apt would go on with none, and find no package.
        "APT::Update::Error-Mode": "any",
    }
    return ["--quiet", *(f"--option={name}={value}" for name, value in settings.items())]


def _stanzas(text: str) -> Iterator[dict[str, str]]:
    for stanza in text.split("\n\n"):
        pairs = (line.partition(": ") for line in stanza.splitlines())
        yield {name: value for name, _, value in pairs}


def _own_release() -> str:
    try:
        return platform.freedesktop_os_release().get("VERSION_CODENAME", "")
    except OSError:
        return ""
