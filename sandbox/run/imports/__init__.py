"""Foreign tasks made into ours: written apart, built, tried, judged, and kept where they hold."""

from sandbox.run.imports.folders import FolderImporter, folders_in
from sandbox.run.imports.instances import InstanceImporter
from sandbox.run.imports.recordings import RecordingImporter, Wanted
from sandbox.run.imports.workshop import Workshop

__all__ = [
    "FolderImporter",
    "InstanceImporter",
    "RecordingImporter",
    "Wanted",
    "Workshop",
    "folders_in",
]
