"""The disk of the virtual machine, made of packages once and kept in the cache."""

import hashlib
import shutil
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from sandbox.container.engines import packages
from sandbox.model import places
from tests import ROOT

CERTIFICATES = "etc/ssl/certs/ca-certificates.crt"
NETWORK = "[Match]\nName=en* eth*\n[Network]\nAddress=10.0.2.15/24\nGateway=10.0.2.2\n"
"""What QEMU's user network gives its first guest."""
PROGRAMS = ("qemu-system-x86", "qemu-utils", "mmdebstrap", "openssh-client")


class EngineSettings(BaseModel):
    """An engine of the machine, and what is tried with it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tests: tuple[str, ...]
    begin: str = "true"
    """A shell's line that starts it."""
    load: str = ""
    """The command that reads an image; without one no task is run."""
    within: str = ""
    """What the tests are started by."""
    environment: dict[str, str] = {}
    as_user: bool = False


class Settings(BaseModel):
    """machine.yaml."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    suite: str
    memory_mb: int
    disk_gb: int
    user: str
    packages: tuple[str, ...]
    tasks: tuple[str, ...]
    engines: dict[str, EngineSettings]


@dataclass(frozen=True, slots=True)
class Image:
    """What a machine boots from: all of it in one folder."""

    folder: Path

    @property
    def disk(self) -> Path:
        return self.folder / "disk"

    @property
    def console(self) -> Path:
        """What the machine prints as it starts."""
        return self.folder / "console"

    @property
    def key(self) -> Path:
        """Its owner may log in as root and as the user."""
        return self.folder / "key"


def image(settings: Settings) -> Image:
    """Look it up by its settings and the project's pins; make it where it is missing."""
    inputs = (settings.model_dump_json(exclude={"engines"}), Path(__file__).read_text())
    pins = ((ROOT / name).read_text() for name in ("pyproject.toml", ".ci/pins.txt"))
    digest = hashlib.sha256("\0".join((*inputs, *pins)).encode()).hexdigest()[:16]
    found = Image(places.cache() / "machine" / digest)
    packages.install(PROGRAMS, print)
    if not found.disk.exists():
        shutil.rmtree(found.folder.parent, ignore_errors=True)
        found.folder.mkdir(parents=True)
        _make(settings, found)
    return found


def _make(settings: Settings, made: Image) -> None:
    root = made.folder / "root"
    print(f"==> making a root file system of {settings.suite}")
    listed = ",".join(settings.packages)
    _run("mmdebstrap", "--variant=minbase", f"--include={listed}", settings.suite, root)
    _run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", made.key)
    print("==> installing the project into it")
    _set_up(settings, made, root)
    _inside(root, "make", "-C", "/project", "environment")
    warm = "import platform; from sandbox.container.supervisor import compiler as c; "
    warm += "c.binary(platform.machine())"
    for user in ("root", settings.user):
        _inside(root, "su", "-", user, "-c", f"cd /project && .venv/bin/python -c '{warm}'")
    for name in ("vmlinuz", "initrd.img"):
        shutil.copy(next((root / "boot").glob(f"{name}-*")), made.folder / name)
    partial = made.folder / "partial"
    _run("truncate", "-s", f"{settings.disk_gb}G", partial)
    _run("mke2fs", "-q", "-t", "ext4", "-d", root, partial)
    shutil.rmtree(root)
    partial.rename(made.disk)


def _set_up(settings: Settings, made: Image, root: Path) -> None:
    """Name, network, users and the project's files; certificates as they are trusted here."""
    files = {
        "etc/hostname": "machine\n",
        "etc/hosts": "127.0.0.1 localhost machine\n",
        "etc/fstab": "/dev/vda / ext4 rw 0 1\n",
        "etc/systemd/network/10-guest.network": NETWORK,
        f"var/lib/systemd/linger/{settings.user}": "",
    }
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    for path in ("etc/resolv.conf", CERTIFICATES, "etc/pip.conf"):
        with suppress(FileNotFoundError):
            shutil.copy(Path("/") / path, root / path)
    _run("chroot", root, "useradd", "-m", "-s", "/bin/bash", settings.user)
    for name in ("subuid", "subgid"):
        (root / "etc" / name).write_text(f"{settings.user}:100000:65536\n")
    for home in ("root", f"home/{settings.user}"):
        (root / home / ".ssh").mkdir(mode=0o700, exist_ok=True)
        shutil.copy(made.key.with_suffix(".pub"), root / home / ".ssh/authorized_keys")
    _run("chroot", root, "chown", "-R", f"{settings.user}:", f"/home/{settings.user}/.ssh")
    _run("chroot", root, "systemctl", "--quiet", "enable", "systemd-networkd", "ssh")
    _run("chroot", root, "systemctl", "--quiet", "disable", "docker.service", "docker.socket")
    _run("chroot", root, "systemctl", "--quiet", "mask", "systemd-networkd-wait-online")
    (root / "project").mkdir()
    _run("tar", "xf", "-", "-C", root / "project", given=project())
    _run("chmod", "-R", "a+rX", root / "project")


def project() -> bytes:
    """Pack the files of the project, as they are now."""
    listed = _run("git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    return _run("tar", "cf", "-", "-C", ROOT, "--null", "--files-from=-", given=listed)


def _inside(root: Path, *argv: str) -> None:
    """Run a program there with /proc, in a mount name space that ends with it."""
    line = 'mount --bind /proc "$0/proc" && exec chroot "$0" "$@"'
    _run("unshare", "--mount", "sh", "-c", line, root, *argv)


def _run(*argv: str | Path, given: bytes | None = None) -> bytes:
    """Run a program, which prints what it has to say of a failure, and return its output."""
    return subprocess.run(argv, input=given, stdout=subprocess.PIPE, check=True).stdout
