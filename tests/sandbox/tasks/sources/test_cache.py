"""Pinned files: real clients against registries of our own, on this machine."""

import hashlib
import io
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from sandbox.model.artifact import Artifact, ArtifactKind
from sandbox.model.errors import SourceError
from sandbox.tasks.sources import Sources
from sandbox.tasks.sources.registry_clients import _target

BACKEND = """
import os, pathlib
if os.environ.get("MARKER"):
    pathlib.Path(os.environ["MARKER"]).write_text("ran")

def prepare_metadata_for_build_wheel(folder, config_settings=None):
    info = pathlib.Path(folder) / "gadget-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\\nName: gadget\\nVersion: 1.0\\n")
    (info / "WHEEL").write_text("Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    return info.name

def build_wheel(folder, config_settings=None, metadata_directory=None):
    raise NotImplementedError
"""
PROJECT = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'


def archive(path: Path, top: str, files: dict[str, str]) -> Path:
    with tarfile.open(path, "w:gz") as tar:
        for name, text in files.items():
            member = tarfile.TarInfo(f"{top}/{name}")
            member.size = len(text.encode())
            tar.addfile(member, io.BytesIO(text.encode()))
    return path


def wheel(path: Path) -> Path:
    name, version = path.name.split("-")[:2]
    with zipfile.ZipFile(path, "w") as file:
        info = f"{name}-{version}.dist-info"
        file.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        )
        file.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\n")
        file.writestr(f"{info}/RECORD", "")
    return path


def pin(kind: ArtifactKind, path: Path, version: str = "1.0") -> Artifact:
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    name = path.name.split("-")[0]
    return Artifact(kind=kind, name=name, version=version, filename=path.name, sha256=digest)


def wrong(artifact: Artifact) -> Artifact:
    return artifact.model_copy(update={"sha256": "0" * 64})


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that the user's pip configuration names as the only source."""
    folder = tmp_path / "registry"
    folder.mkdir()
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    configuration = tmp_path / "pip.conf"
    configuration.write_text(f"[global]\nno-index = true\nfind-links = {folder}\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(configuration))
    return folder


@pytest.fixture
def sdist(registry: Path) -> Artifact:
    files = {"pyproject.toml": PROJECT, "backend.py": BACKEND, "PKG-INFO": "Name: gadget\n"}
    return pin(ArtifactKind.SDIST, archive(registry / "gadget-1.0.tar.gz", "gadget-1.0", files))


@pytest.fixture
def pure_wheel(registry: Path) -> Artifact:
    return pin(ArtifactKind.WHEEL, wheel(registry / "widget-1.0-py3-none-any.whl"))


def left_behind(cache: Path) -> list[Path]:
    return [path for path in (cache / "sources" / "partial").rglob("*") if path.is_file()]


def ignore(_line: str) -> None:
    pass


@pytest.mark.slow
def test_sdist_and_wheel_are_fetched_once_and_then_offline(
    tmp_path: Path, registry: Path, sdist: Artifact, pure_wheel: Artifact
) -> None:
    sources, lines = Sources(tmp_path / "cache"), list[str]()
    files = sources.fetch_all([sdist, pure_wheel, sdist], lines.append)
    assert files.keys() == {sdist, pure_wheel}
    assert sum(line.endswith(": fetching") for line in lines) == 2
    shutil.rmtree(registry)
    for artifact, path in (
        Sources(tmp_path / "cache").fetch_all([sdist, pure_wheel], ignore).items()
    ):
        assert hashlib.sha256(path.read_bytes()).hexdigest() == artifact.sha256
        assert path.name == artifact.filename
        assert stat.S_IMODE(path.stat().st_mode) == 0o444
    assert not left_behind(tmp_path / "cache")
    assert "SHA-256" in (tmp_path / "cache" / "sources" / "README").read_text()


def test_a_cached_file_needs_no_client(
    tmp_path: Path, pure_wheel: Artifact, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = Sources(tmp_path)
    path = sources.fetch(pure_wheel, ignore)
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    assert sources.fetch(pure_wheel, pytest.fail) == path


def test_a_wheel_for_another_platform_is_taken_as_pinned(tmp_path: Path, registry: Path) -> None:
    name = "cog-1.0-cp39-cp39-manylinux_2_17_aarch64.manylinux2014_aarch64.whl"
    artifact = pin(ArtifactKind.WHEEL, wheel(registry / name))
    wheel(registry / "cog-1.0-py3-none-any.whl")
    assert Sources(tmp_path / "cache").fetch(artifact, ignore).name == name


@pytest.mark.parametrize(
    ("filename", "options"),
    [
        ("a-1-py2.py3-none-any.whl", []),
        (
            "a-1-7-cp311-abi3-manylinux1_x86_64.whl",
            [
                "--implementation=cp",
                "--abi=abi3",
                "--python-version=311",
                "--platform=manylinux1_x86_64",
            ],
        ),
        (
            "a-1-py3-none-win32.whl",
            ["--implementation=py", "--abi=none", "--python-version=3", "--platform=win32"],
        ),
    ],
)
def test_a_wheels_name_tells_its_target(filename: str, options: list[str]) -> None:
    assert _target(filename) == options


@pytest.mark.parametrize("kind", ["sdist", "pure_wheel"])
def test_a_wrong_digest_stores_nothing(
    tmp_path: Path, kind: str, request: pytest.FixtureRequest
) -> None:
    artifact: Artifact = request.getfixturevalue(kind)
    sources = Sources(tmp_path / "cache")
    with pytest.raises(SourceError) as caught:
        sources.fetch(wrong(artifact), ignore)
    for expected in (artifact.filename, artifact.sha256, "0" * 64, "nothing was stored"):
        assert expected in caught.value.message
    assert caught.value.next_step
    assert not sources.path(wrong(artifact)).exists()
    assert not left_behind(tmp_path / "cache")


def test_no_code_of_an_unverified_sdist_runs(
    tmp_path: Path, sdist: Artifact, monkeypatch: pytest.MonkeyPatch
) -> None:
    marker = tmp_path / "marker"
    monkeypatch.setenv("MARKER", str(marker))
    with pytest.raises(SourceError):
        Sources(tmp_path / "cache").fetch(wrong(sdist), ignore)
    assert not marker.exists()
    Sources(tmp_path / "cache").fetch(sdist, ignore)
    assert marker.exists()


@pytest.mark.parametrize("damage", [b"", b"something else"])
@pytest.mark.slow
def test_a_damaged_file_is_fetched_again(
    tmp_path: Path, pure_wheel: Artifact, damage: bytes
) -> None:
    sources, lines = Sources(tmp_path / "cache"), list[str]()
    path = sources.fetch(pure_wheel, ignore)
    good = path.read_bytes()
    path.chmod(0o644)
    path.write_bytes(damage)
    assert not sources.cached(pure_wheel)
    sources.fetch(pure_wheel, lines.append)
    assert path.read_bytes() == good
    assert any("damaged" in line for line in lines)


def test_what_an_interruption_left_is_cleaned(tmp_path: Path, pure_wheel: Artifact) -> None:
    partial = tmp_path / "sources" / "partial" / pure_wheel.sha256
    partial.mkdir(parents=True)
    (partial / pure_wheel.filename).write_bytes(b"half")
    assert Sources(tmp_path).fetch(pure_wheel, ignore).is_file()
    assert not partial.exists()


@pytest.mark.slow
def test_offline_and_not_cached(tmp_path: Path, registry: Path, pure_wheel: Artifact) -> None:
    (registry / pure_wheel.filename).unlink()
    lines = list[str]()
    with pytest.raises(SourceError) as caught:
        Sources(tmp_path / "cache").fetch(pure_wheel, lines.append)
    assert "is not in the cache and pip could not fetch it" in caught.value.message
    assert "No matching distribution found for widget==1.0" in caught.value.message
    assert "pip reaches its registry" in caught.value.next_step
    assert any("once more" in line for line in lines)


@pytest.mark.slow
def test_all_failures_are_told_and_what_came_is_kept(
    tmp_path: Path, registry: Path, sdist: Artifact, pure_wheel: Artifact
) -> None:
    gone = pin(ArtifactKind.WHEEL, wheel(registry / "gone-1.0-py3-none-any.whl"))
    (registry / gone.filename).unlink()
    sources = Sources(tmp_path / "cache")
    with pytest.raises(SourceError, match="2 pinned files") as caught:
        sources.fetch_all([gone, wrong(sdist), pure_wheel], ignore)
    assert gone.filename in caught.value.message
    assert sdist.filename in caught.value.message
    assert sources.cached(pure_wheel)


def test_two_at_once_fetch_once(tmp_path: Path, pure_wheel: Artifact) -> None:
    lines = list[str]()
    threads = [
        threading.Thread(target=Sources(tmp_path / "cache").fetch, args=(pure_wheel, lines.append))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(line.endswith(": fetching") for line in lines) == 1


def test_an_unusable_cache_folder(tmp_path: Path, pure_wheel: Artifact) -> None:
    (tmp_path / "sources").write_text("in the way")
    with pytest.raises(SourceError, match="cannot be used: Not a directory"):
        Sources(tmp_path).fetch(pure_wheel, ignore)


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


class Quiet(BaseHTTPRequestHandler):
    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        pass


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("npm"), reason="npm is not installed")
def test_npm_packs_from_the_configured_registry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = json.dumps({"name": "gizmo", "version": "1.0.0"})
    tarball = archive(tmp_path / "gizmo-1.0.0.tgz", "package", {"package.json": package})

    class Registry(Quiet):
        def do_GET(self) -> None:
            host = f"http://{self.headers['Host']}"
            version = {
                "name": "gizmo",
                "version": "1.0.0",
                "dist": {
                    "tarball": f"{host}/gizmo.tgz",
                    "shasum": hashlib.sha1(tarball.read_bytes()).hexdigest(),
                },
            }
            index = {
                "name": "gizmo",
                "dist-tags": {"latest": "1.0.0"},
                "versions": {"1.0.0": version},
            }
            body = tarball.read_bytes() if self.path == "/gizmo.tgz" else json.dumps(index).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    artifact = pin(ArtifactKind.NPM, tarball, "1.0.0")
    with serving(Registry) as address:
        monkeypatch.setenv("npm_config_registry", address)
        monkeypatch.setenv("npm_config_cache", str(tmp_path / "npm"))
        for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
            monkeypatch.delenv(name, raising=False)
        with pytest.raises(SourceError, match="not the file that was pinned"):
            Sources(tmp_path / "cache").fetch(wrong(artifact), ignore)
        path = Sources(tmp_path / "cache").fetch(artifact, ignore)
    assert path.read_bytes() == tarball.read_bytes()


def test_an_interrupt_ends_the_clients_and_leaves_no_half_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, done = threading.Event(), threading.Event()

    class Silent(Quiet):
        def do_GET(self) -> None:
            asked.set()
            done.wait(30)

    program = (
        "import sys; from pathlib import Path; from sandbox.tasks.sources import Sources\n"
        "from sandbox.model.artifact import Artifact, ArtifactKind\n"
        "Sources(Path(sys.argv[1])).fetch(Artifact(kind=ArtifactKind.WHEEL, name='widget',"
        "version='1', filename='widget-1-py3-none-any.whl', sha256='0' * 64), print)\n"
    )
    with serving(Silent) as address:
        environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith("PIP_")},
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_INDEX_URL": address,
            "PYTHONPATH": str(Path(__file__).parents[4]),
            "NO_PROXY": "127.0.0.1",
        }
        with subprocess.Popen(
            [sys.executable, "-c", program, str(tmp_path)],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        ) as process:
            assert asked.wait(30)
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=30)
        done.set()
    assert process.returncode == -signal.SIGINT
    assert b"KeyboardInterrupt" in errors
    assert not any((tmp_path / "sources" / "partial").iterdir())
    assert not [path for path in (tmp_path / "sources" / "sha256").rglob("*") if path.is_file()]


def test_a_client_is_provided_before_it_is_needed_and_only_then(
    tmp_path: Path, pure_wheel: Artifact
) -> None:
    asked: list[str] = []

    def provide(client: str, _on_line: object) -> None:
        assert not sources.cached(pure_wheel)
        asked.append(client)

    sources = Sources(tmp_path / "cache", provide)
    sources.fetch(pure_wheel, ignore)
    sources.fetch(pure_wheel, ignore)
    assert asked == ["pip"]
