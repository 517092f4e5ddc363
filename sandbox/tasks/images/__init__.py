"""Images: base, toolchain, a repository's environment, a task's world; tagged by their inputs."""

from sandbox.tasks.images.images import BuiltImage, Images, stale

__all__ = ["BuiltImage", "Images", "stale"]
