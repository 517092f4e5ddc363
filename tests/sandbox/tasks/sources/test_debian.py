"""Debian's source packages: the real apt-get against a mirror of our own, on this machine."""

import hashlib
import shutil
import tarfile
from pathlib import Path

import pytest
from pydantic import ValidationError

from sandbox.model.artifact import Artifact, ArtifactKind
from sandbox.model.errors import SourceError
from sandbox.tasks.sources import Sources
from sandbox.tasks.sources.debian import mirror

NAME = "gadget_1.0.orig.tar.xz"

needs_apt = pytest.mark.skipif(shutil.which("apt-get") is None, reason="apt is Debian's")


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def entry(path: Path) -> str:
    return f" {digest(path)} {path.stat().st_size} {path.name}\n"


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A mirror with one source package in `trixie`, which the host knows by `bookworm`."""
    pool = tmp_path / "mirror" / "pool"
    pool.mkdir(parents=True)
    (tmp_path / "README").write_text("gadget\n")
    with tarfile.open(pool / NAME, "w:xz") as tar:
        tar.add(tmp_path / "README", "gadget-1.0/README")
    dsc = pool / "gadget_1.0-1.dsc"
    dsc.write_text("Format: 3.0 (quilt)\nSource: gadget\nVersion: 1.0-1\n")
    lists = tmp_path / "mirror" / "dists" / "trixie" / "main" / "source"
    lists.mkdir(parents=True)
    files = entry(dsc) + entry(pool / NAME)
    (lists / "Sources").write_text(
        "Package: gadget\nBinary: gadget\nVersion: 1.0-1\nArchitecture: any\n"
        f"Format: 3.0 (quilt)\nDirectory: pool\nChecksums-Sha256:\n{files}"
    )
    release = lists.parent.parent / "Release"
    sources = lists / "Sources"
    release.write_text(
        "Suite: trixie\nCodename: trixie\nComponents: main\nArchitectures: amd64\n"
        "Date: Mon, 01 Jan 2024 00:00:00 UTC\nSHA256:\n"
        f" {digest(sources)} {sources.stat().st_size} main/source/Sources\n"
    )
    (tmp_path / "sources.list").write_text(f"deb copy:{tmp_path}/mirror bookworm main\n")
    (tmp_path / "apt.conf").write_text(
        f'Dir::Etc::sourcelist "{tmp_path}/sources.list";\nDir::Etc::sourceparts "/nowhere";\n'
        'Acquire::AllowInsecureRepositories "true";\nAPT::Get::AllowUnauthenticated "true";\n'
        f'Acquire::Languages "none";\nAPT::Sandbox::User "";\n'
    )
    monkeypatch.setenv("APT_CONFIG", str(tmp_path / "apt.conf"))
    return pool / NAME


def pin(archive: Path, suite: str = "trixie", name: str = "gadget") -> Artifact:
    return Artifact(
        kind=ArtifactKind.DEBIAN,
        name=name,
        version="1.0",
        filename=archive.name,
        sha256=digest(archive),
        suite=suite,
    )


@needs_apt
def test_a_tarball_comes_from_another_suite_of_the_hosts_mirror(
    tmp_path: Path, archive: Path
) -> None:
    sources, lines = Sources(tmp_path / "cache"), list[str]()
    assert sources.fetch(pin(archive), lines.append).read_bytes() == archive.read_bytes()
    assert lines
    assert list((tmp_path / "cache" / "sources" / "partial").iterdir()) == []
    lines.clear()
    sources.fetch(pin(archive), lines.append)
    assert lines == []


@pytest.mark.slow
@needs_apt
@pytest.mark.parametrize(("suite", "name"), [("sid", "gadget"), ("trixie", "widget")])
def test_what_the_mirror_lacks_is_said_in_apts_words(
    tmp_path: Path, archive: Path, suite: str, name: str
) -> None:
    with pytest.raises(SourceError, match="apt-get could not fetch it") as caught:
        Sources(tmp_path / "cache").fetch(pin(archive, suite, name), print)
    assert {"sid": "sid", "trixie": "widget"}[suite] in caught.value.message


@pytest.mark.slow
@needs_apt
def test_another_release_in_the_suite_is_not_taken(tmp_path: Path, archive: Path) -> None:
    other = pin(archive).model_copy(update={"filename": "gadget_0.9.orig.tar.xz"})
    with pytest.raises(SourceError, match=f"fetched {NAME} instead of gadget_0.9"):
        Sources(tmp_path / "cache").fetch(other, print)


@needs_apt
def test_another_tarball_of_that_name_is_refused(tmp_path: Path, archive: Path) -> None:
    other = pin(archive).model_copy(update={"sha256": "0" * 64})
    with pytest.raises(SourceError, match="is not the file that was pinned"):
        Sources(tmp_path / "cache").fetch(other, print)


def test_without_apt_the_error_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    artifact = Artifact(
        kind=ArtifactKind.DEBIAN,
        name="gadget",
        version="1.0",
        filename=NAME,
        sha256="0" * 64,
        suite="sid",
    )
    with pytest.raises(SourceError, match="apt-get cannot be started"):
        Sources(tmp_path / "cache").fetch(artifact, print)


@pytest.mark.parametrize(
    ("told", "address"),
    [
        ("", None),
        ("Component: stable\nRelease: trixie\nRepo-URI: a:1\n", None),
        ("Component: main\nRelease: x-y\nRepo-URI: a:1\n", "a:1"),
        (
            "\n\n".join(
                f"Component: main\nRelease: {release}\nRepo-URI: a:{number}"
                for number, release in enumerate(("other", "trixie"), 1)
            ),
            "a:2",
        ),
    ],
)
def test_the_mirror_is_one_of_the_hosts_own_sources(told: str, address: str | None) -> None:
    assert mirror(told, "trixie") == address


def test_only_a_debian_source_names_a_suite() -> None:
    common = {"name": "gadget", "version": "1.0", "sha256": "0" * 64}
    with pytest.raises(ValidationError, match="names its suite"):
        Artifact.model_validate({"kind": ArtifactKind.DEBIAN, "filename": NAME, **common})
    other = {"kind": ArtifactKind.SDIST, "filename": "gadget-1.0.tar.gz", "suite": "sid"}
    with pytest.raises(ValidationError, match="names its suite"):
        Artifact.model_validate({**other, **common})


def test_a_pin_without_a_suite_is_written_as_before() -> None:
    artifact = Artifact(
        kind=ArtifactKind.NPM,
        name="gadget",
        version="1.0",
        filename="gadget-1.0.tgz",
        sha256="0" * 64,
    )
    assert "suite" not in artifact.model_dump_json()
