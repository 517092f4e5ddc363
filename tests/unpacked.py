"""Packages of a newer Debian, unpacked beside what is installed."""

import subprocess
from pathlib import Path

from sandbox.tasks.sources import debian

SUITE = "trixie"


def unpacked(name: str, folder: Path) -> Path:
    """Return the folder that holds a package's files; raises where it can be had from nowhere."""
    told = subprocess.run(debian.SOURCES_OF_HOST, capture_output=True, text=True, check=True)
    address = debian.mirror(told.stdout, SUITE)
    assert address is not None, f"no {name} here, and no mirror of Debian's packages"
    options = debian.options(address, SUITE, folder)
    sources = folder / "sources.list"
    sources.write_text(sources.read_text().replace("deb-src", "deb"))
    for verb in (("update",), ("download", name)):
        subprocess.run(("apt-get", *options, *verb), cwd=folder, check=True, capture_output=True)
    (package,) = folder.glob(f"{name}_*.deb")
    subprocess.run(("dpkg", "-x", package, folder / "unpacked"), check=True)
    return folder / "unpacked"
