"""The smallest root file system that the tests can work in, copied from this machine's programs."""

import io
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

from sandbox.model.session import AGENT, ROOT, User

PROGRAMS = (
    *("bash", "sh", "cat", "chmod", "head", "id", "ln", "ls", "mkdir", "mknod", "rm", "setsid"),
    *("sleep", "tail", "true"),
)
CONTENT = b"one\ntwo\nthree\n"


def make(target: Path) -> Path:
    """Write the archive: programs, their libraries, and a few files to work on."""
    with tarfile.open(target, "w") as archive:
        for name in ("bin", "dev", "etc", "proc", "sys"):
            _directory(archive, name, ROOT, 0o755)
        _directory(archive, "tmp", ROOT, 0o1777)
        _directory(archive, "tree", AGENT, 0o755)
        _directory(archive, "tree/folder", AGENT, 0o755)
        _file(archive, "tree/file", CONTENT, AGENT)
        _file(archive, "tree/folder/inner", CONTENT, AGENT)
        _file(archive, "etc/settings", CONTENT, ROOT)
        _file(archive, "etc/secret", CONTENT, ROOT, 0o600)
        needed: set[Path] = set()
        for name in PROGRAMS:
            program = Path(shutil.which(name) or f"/bin/{name}")
            _file(archive, f"bin/{name}", program.read_bytes(), ROOT, 0o755)
            needed |= _libraries(program)
        for library in sorted(needed):
            _file(archive, str(library).lstrip("/"), library.read_bytes(), ROOT, 0o755)
    return target


def _libraries(program: Path) -> set[Path]:
    listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return {Path(path) for path in re.findall(r"(/\S+) \(0x", listed)}


def _directory(archive: tarfile.TarFile, name: str, owner: User, mode: int) -> None:
    member = tarfile.TarInfo(name)
    member.type, member.mode, member.uid, member.gid = tarfile.DIRTYPE, mode, owner.uid, owner.gid
    archive.addfile(member)


def _file(
    archive: tarfile.TarFile, name: str, content: bytes, owner: User, mode: int = 0o644
) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mode, member.uid, member.gid = len(content), mode, owner.uid, owner.gid
    archive.addfile(member, io.BytesIO(content))
