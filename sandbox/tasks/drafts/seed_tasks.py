"""Tasks that need no folder: `<repo>/<draft>-<digest of a seed>`, written when asked for."""

import contextlib
import hashlib
import re
import secrets
import shutil
from pathlib import Path

from sandbox.model import places, yaml_tree
from sandbox.model.errors import UsageError
from sandbox.model.places import MINING, PASSING, REPOSITORY, SEEDS
from sandbox.model.run_folder import write_whole
from sandbox.tasks.drafts import layout, planting, seed_folder
from sandbox.tasks.drafts.seed_folder import SeedFolder

NAME = re.compile(r"(?P<repo>[^/]+)/(?P<draft>[a-z]+)-(?P<seed>[0-9a-f]{8})")
KEPT = "planted"


def folder(name: str) -> Path | None:
    """Give the folder of a seed's task, in the cache; None where the name is of no seed.

    UsageError where nothing says which tests pass without the defect, or as `plant` raises;
    DocumentError.
    """
    found = NAME.fullmatch(name)
    if found is None or found["draft"] not in layout.names():
        return None
    of = seed_folder.folders().get(found["repo"])
    if of is None:
        return None
    kept = places.cache() / KEPT / _digest(of)[:16] / name
    if not kept.is_dir() and not _written(of, found["draft"], found["seed"], kept):
        return None
    return kept


def _written(path: Path, draft: str, digest: str, kept: Path) -> bool:
    """Write a task's folder and its repository's file beside it; False where there is no seed."""
    of = seed_folder.load_at(path)
    seed = next((each for each in of.seeds.seeds if each.id.endswith(f"-{digest}")), None)
    if seed is None:
        return False
    passing = (of.under_sanitizers() if seed.sanitized else of).passing
    if not passing:
        raise UsageError(
            f"Nothing says which tests of {of.path.name} pass without a defect.",
            f"sandbox mine {of.path.name} --check writes them into {of.path / PASSING}.",
        )
    made = kept.parent.with_name(f".{path.name}-{secrets.token_hex(4)}")
    try:
        planting.plant(of, seed, draft, made / kept.name, passing)
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
    return kept.is_dir()


def _repository(of: SeedFolder) -> bytes:
    if not of.renaming.words:
        return (of.path / REPOSITORY).read_bytes()
    told = of.repository.model_dump(mode="json", exclude_defaults=True)
    return yaml_tree.text(told).encode()


def _digest(of: Path) -> str:
    """Digest what a repository's tasks are made of, and by."""
    folder, names = (of, []) if of.is_dir() else (of.parent.parent, [of])
    files = [*names, *(folder / name for name in (REPOSITORY, MINING, SEEDS, PASSING))]
    files += sorted(path for path in layout.DRAFTS.rglob("*") if path.suffix != ".pyc")
    digest = hashlib.sha256()
    for path in files:
        content = path.read_bytes() if path.is_file() else b""
        digest.update(f"{path.name}\0{len(content)}\n".encode() + content)
    return digest.hexdigest()
