"""Folders of tasks that are written into the cache when they are asked for."""

import contextlib
import hashlib
import secrets
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

from sandbox.model import places, yaml_tree
from sandbox.model.errors import UsageError
from sandbox.model.places import MINING, PASSING, REPOSITORY, SEEDS, SHIPPED
from sandbox.model.run_folder import write_whole
from sandbox.tasks.drafts import layout
from sandbox.tasks.drafts.seed_folder import SeedFolder

KEPT = "planted"


def place(path: Path, name: str, made_by: Iterable[Path] = ()) -> Path:
    """Give where a task lies, which changes with whatever it is made of, and by.

    `path` is the repository's folder, or the file of its other names; `made_by` are files that
    the task depends on beside the drafts.
    """
    return places.cache() / KEPT / _digest(path, made_by)[:16] / name


def write(of: SeedFolder, kept: Path, plant: Callable[[Path], None]) -> None:
    """Have a task's folder written, and its repository's file beside it.

    UsageError where the cache cannot be written, and as `plant` raises.
    """
    made = kept.parent.with_name(f".{kept.parent.name}-{secrets.token_hex(4)}")
    try:
        plant(made / kept.name)
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_whole(kept.parent / REPOSITORY, _repository(of))
        with contextlib.suppress(OSError):  # somebody else has just written the same
            (made / kept.name).rename(kept)
    except OSError as error:
        raise UsageError(
            f"{kept} cannot be written: {error.strerror}.",
            "Free some space, or choose another cache with SANDBOX_CACHE.",
        ) from error
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _repository(of: SeedFolder) -> bytes:
    if not of.renaming.words:
        return (of.path / REPOSITORY).read_bytes()
    told = of.repository.model_dump(mode="json", exclude_defaults=True)
    return yaml_tree.text(told).encode()


def _digest(of: Path, made_by: Iterable[Path]) -> str:
    folder, names = (of, []) if of.is_dir() else (of.parent.parent, [of])
    files = [*names, *(folder / name for name in (REPOSITORY, MINING, SEEDS, PASSING))]
    files += sorted((folder / SHIPPED).rglob("*"))
    files += sorted(path for path in layout.DRAFTS.rglob("*") if path.suffix != ".pyc")
    files += made_by
    digest = hashlib.sha256()
    for path in files:
        content = path.read_bytes() if path.is_file() else b""
        name = path.relative_to(folder) if path.is_relative_to(folder) else path.name
        digest.update(f"{name}\0{len(content)}\n".encode() + content)
    return digest.hexdigest()
