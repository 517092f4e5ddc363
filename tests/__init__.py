"""The tests. `ROOT` is the project's folder."""

from pathlib import Path

ROOT = Path(__file__).parent.parent
