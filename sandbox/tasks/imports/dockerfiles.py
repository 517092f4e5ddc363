"""What Dockerfiles say, as far as an import has to know it."""

import re
import shlex

_COPYING = re.compile(r"^[ \t]*(?:COPY|ADD)[ \t]+(.+)$", re.MULTILINE | re.IGNORECASE)
SYSTEM = ("bin", "boot", "dev", "etc", "home", "lib", "lib32", "lib64", "libx32", "logs", "proc",
          "run", "sbin", "sys", "tests", "tmp")  # fmt: skip
"""Folders at the top that cannot become a link."""
WITHIN = ("/usr/bin", "/usr/lib", "/usr/sbin", "/usr/share", "/usr/include", "/usr/local/bin",
          "/usr/local/lib", "/var/lib", "/var/run", "/opt/verifier")  # fmt: skip
_WORKDIR = re.compile(r"^[ \t]*WORKDIR[ \t]+(\S+)[ \t]*$", re.MULTILINE | re.IGNORECASE)


def workdir(dockerfile: str, given: str) -> tuple[str, str]:
    """Give the working directory of an image, and what is wrong with it for a checkout."""
    found = _WORKDIR.findall(dockerfile)
    named = str(given or (found[-1] if found else "")).strip("\"'").rstrip("/")
    parts = named.split("/")[1:]
    if not re.fullmatch(r"(/[A-Za-z0-9._-]+)+", named) or {".", ".."} & {*parts}:
        return named, f"its working directory is {named or 'not set'}"
    system = parts[0] in SYSTEM or (parts[0] in ("usr", "var", "opt") and len(parts) == 1)
    if system or named.startswith(WITHIN):
        return named, f"its working directory is {named}, which cannot be a checkout"
    return named, ""


def copied(dockerfile: str) -> list[str]:
    """Give the sources that a Dockerfile copies by name."""
    found = []
    for line in _COPYING.findall(_lines(dockerfile)):
        words = [word for word in _split(line) if not word.startswith("--")]
        found += [word.removeprefix("./").rstrip("/") for word in words[:-1]]
    return [each for each in found if each not in ("", ".")]


def _lines(dockerfile: str) -> str:
    """Join the lines that go on."""
    return re.sub(r"\\[ \t]*\n", " ", dockerfile)


def _split(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()


def covers(source: str, path: str) -> bool:
    """Whether a source that is copied is a path, or a folder above it."""
    return path == source or path.startswith(f"{source}/")
