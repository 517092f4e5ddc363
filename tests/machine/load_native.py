"""Reads an image from standard input into the native engine: `python -m tests.machine.load_native`.

It is called by its tag, as with an engine that loads images by itself.
"""

import json
import shutil
import sys
import tarfile
import tempfile
from pathlib import Path

from sandbox.container.engines.native.engine import NativeEngine


def main() -> None:
    """Load it."""
    engine = NativeEngine.connect()
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder, "image.tar")
        with archive.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        with tarfile.open(archive) as saved:
            manifest = saved.extractfile("manifest.json")
            assert manifest is not None
            ((tag,),) = [entry["RepoTags"] for entry in json.load(manifest)]
        print(engine.load(archive, tag=tag).id)
    engine.close()


if __name__ == "__main__":
    main()
