# ruff: noqa: PTH102, PTH123 - names that are bytes, and folders too deep for a path
"""Run by an agent in a container: changes files in every way that there is."""

import os
import shutil
import socket
import sys
from pathlib import Path

os.chdir(sys.argv[1])
os.umask(0o022)

# Added.
Path("new.txt").write_text("new\n")
Path("empty").mkdir()
Path("nested/a/b").mkdir(parents=True)
Path("nested/a/b/c.txt").write_text("c\n")

# Edited, once without a trace in size and modification time.
with Path("LICENCE").open("a") as licence:
    licence.write("\x1b[31mmore\n")
before = Path("mkdocs.yml").stat()
text = Path("mkdocs.yml").read_text()
Path("mkdocs.yml").write_text(text.swapcase())
os.utime("mkdocs.yml", ns=(before.st_atime_ns, before.st_mtime_ns))

# Deleted and renamed.
Path("RELEASING.md").unlink()
shutil.rmtree("docs")
shutil.move("changes", "moved")
Path("tox.ini").rename("tox2.ini")

# Mode.
Path("pyproject.toml").chmod(0o600)
Path("scripts").chmod(0o700)
script = next(path for path in sorted(Path("scripts").iterdir()) if path.is_file())
script.chmod(0o4755)

# Links, and one kind in place of another.
Path("link").symlink_to("/etc/passwd")
Path("dangling").symlink_to("no\nwhere")
os.link("quota-notes.md", "hard")
Path(".yamlfmt.yaml").unlink()
Path(".yamlfmt.yaml").mkdir()
Path(".yamlfmt.yaml/inner").write_text("inner\n")
shutil.rmtree(".github")
Path(".github").symlink_to("src")
Path(".readthedocs.yml").unlink()
Path(".readthedocs.yml").symlink_to("LICENCE")

# A folder made anew, with one file as it was and a folder inside that there was too.
same = Path("tests/test_filesize.py").read_bytes()
shutil.rmtree("tests")
Path("tests/regressions").mkdir(parents=True)
Path("tests/test_filesize.py").write_bytes(same)
Path("tests/regressions/new.py").write_text("new\n")

# Names.
for name in (
    b"new\nline",
    b"\xff\xfe",
    b"back\\slash",
    b"\\xff",
    b"\x1b[31mred",
    "späce \t".encode(),
):
    with open(name, "wb") as file:
        file.write(name)
os.mkdir(b"folder\xff")
with open(b"folder\xff/inner", "wb") as file:
    file.write(b"inner")

# No files.
listener = socket.socket(socket.AF_UNIX)
listener.bind("socket")
os.mkfifo("fifo")

# Only touched: no change.
os.utime("README.md")
with Path("src/humanize/i18n.py").open("r+b") as file:
    first = file.read(1)
    file.seek(0)
    file.write(first)

# Large, sparse, and deeper than one path can name.
Path("large").write_bytes(b"0123456789abcdef" * (3 << 16))
with open("sparse", "wb") as file:
    file.truncate(300 << 20)
for _ in range(45):
    os.mkdir("d" * 100)
    os.chdir("d" * 100)
with open("bottom", "w") as deepest:
    deepest.write("bottom\n")

# What no image holds.
Path("/dev/shm/left").write_text("left\n")
Path("/dev/shm/folder").mkdir()
Path("/tmp/scratch").write_text("scratch\n")
