"""A program that lays files into an image while it is built: `laying ROOT TARGET OWNER < ARCHIVE`.

It makes ROOT its root directory first, so that no link of the image leads out of it.
"""

import os
import sys
import tarfile
from pathlib import Path

DIRECTORY = 0o755


def main() -> None:
    """Unpack the archive of standard input below a folder of the image, for one owner."""
    root, target, owner = sys.argv[1:]
    user, group = map(int, owner.split(":"))
    # Whatever reading has to load is loaded before the root changes.
    archive = tarfile.open(fileobj=sys.stdin.buffer, mode="r|")  # noqa: SIM115 - until the end
    os.chroot(root)
    os.chdir("/")
    if not Path(target).is_dir():
        Path(target).mkdir(DIRECTORY, parents=True)
        os.chown(target, user, group)  # folders on the way stay root's, as with Docker
    for member in archive:
        if member.isdir() and (Path(target) / member.name).is_dir():
            continue  # what is there keeps its owner and its mode, as with Docker
        member.uid, member.gid, member.uname, member.gname = user, group, "", ""
        archive.extract(member, target, numeric_owner=True)


if __name__ == "__main__":
    main()
