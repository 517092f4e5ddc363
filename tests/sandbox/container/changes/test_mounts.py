import tarfile
from pathlib import Path

from sandbox.container.changes.mounts import mounts
from sandbox.container.engines.base import SessionSpec
from sandbox.container.engines.fake import FakeEngine
from sandbox.model.session import ROOT

TABLE = rb"""overlay / overlay rw,relatime,upperdir=/x 0 0
proc /proc proc rw,nosuid 0 0
tmpfs /dev tmpfs rw,nosuid,size=65536k 0 0
devpts /dev/pts devpts rw 0 0
shm /dev/shm tmpfs rw,nosuid 0 0
tmpfs /odd\040name tmpfs rw 0 0
tmpfs /readonly tmpfs ro,relatime 0 0
tmpfs /proc/keys tmpfs rw,nosuid 0 0
/dev/vda /etc/hosts ext4 rw,relatime 0 0
/dev/vda /.sandbox/control ext4 rw,relatime 0 0
"""


def test_what_can_be_written_besides_the_image_is_found(tmp_path: Path) -> None:
    tarfile.open(tmp_path / "root.tar", "w").close()
    engine = FakeEngine()
    engine.import_image(tmp_path / "root.tar", tag="fake:1", labels={})
    session = engine.start(SessionSpec("fake:1"))
    assert mounts(session).volatile == ()
    session.write("/proc/1/mounts", TABLE, user=ROOT, parents=True)
    found = mounts(session)
    assert found.volatile == (b"/dev", b"/dev/shm", b"/odd name")
    for path in (b"/", b"/dev/pts", b"/etc/hosts", b"/.dockerenv", b"/.sandbox", b"/.sandbox/x"):
        assert found.excluded(path)
    for path in (b"/dev/null", b"/etc/passwd", b"/.sandboxed"):
        assert not found.excluded(path)
