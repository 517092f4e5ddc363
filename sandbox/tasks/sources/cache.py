"""Pinned artifacts: fetched once by the ordinary clients, verified, kept for good.

pip, npm and apt-get run as the user has configured them (indexes, proxies, certificates). A file
enters the cache only when its SHA-256 is the pinned one, and is verified again at each use.
"""

import fcntl
import hashlib
import shutil
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path

import tenacity

from sandbox.model import places
from sandbox.model.artifact import Artifact, ArtifactKind
from sandbox.model.errors import SourceError
from sandbox.tasks.sources.registry_clients import CLIENTS, ClientError, Clients, MismatchError

GIVEN = "sources"
"""The folder of archives that an author gives, beside `repo.yaml`."""
_ATTEMPTS = 2
"""The clients retry a lost connection themselves."""
_THREADS = 4
_README = """\
Files that the sandbox fetched from package registries, each under its SHA-256.
Every use verifies the digest. Deleting this folder costs only the time to fetch them again.
sha256/   the files
partial/  downloads under way, or left behind by an interruption
locks/    keep two processes from fetching the same file at once
"""


Provide = Callable[[str, Callable[[str], None]], None]
"""Sees to it that a client is there, and says on its second argument what is done for that."""


class Sources:
    """The content-addressed cache of pinned files. Safe for several threads and processes."""

    def __init__(self, cache: Path, provide: Provide = lambda _client, _on_line: None) -> None:
        """Use the folder `cache`; a client is asked of `provide` before it is first needed."""
        self._folder = cache / "sources"
        self.histories = cache / "histories"
        """Where releases are kept that were committed already."""
        self._provide = provide

    def path(self, artifact: Artifact) -> Path:
        """Where the file stands once it has been fetched."""
        digest = artifact.sha256
        return self._folder / "sha256" / digest[:2] / digest / artifact.filename

    def cached(self, artifact: Artifact) -> bool:
        """Whether the file is there and is the pinned one."""
        path = self.path(artifact)
        return path.is_file() and _digest(path) == artifact.sha256

    def fetch(self, artifact: Artifact, on_line: Callable[[str], None]) -> Path:
        """Return the verified file, fetched if need be; SourceError where it cannot be had."""
        return self.fetch_all([artifact], on_line)[artifact]

    def fetch_all(
        self, artifacts: Iterable[Artifact], on_line: Callable[[str], None]
    ) -> dict[Artifact, Path]:
        """Return all files; a few are fetched at once, `on_line` is called by one at a time.

        One SourceError tells of all that failed; the files that came are kept.
        """
        wanted = dict.fromkeys(artifacts)
        with _translated(self._folder):
            self._prepare()
            for artifact in wanted:
                if artifact.kind is ArtifactKind.FILE and not self.cached(artifact):
                    self.adopt(artifact, _given(artifact))
            missing = [artifact for artifact in wanted if not self.cached(artifact)]
            for client in sorted({CLIENTS[artifact.kind] for artifact in missing}):
                self._provide(client, on_line)
            if missing:
                self._fetch_missing(missing, on_line)
        return {artifact: self.path(artifact) for artifact in wanted}

    def adopt(self, artifact: Artifact, file: Path) -> None:
        """Copy a file that is here already; SourceError where it is not the pinned one."""
        with _translated(self._folder):
            self._prepare()
            digest = _digest(file)
            if digest != artifact.sha256:
                raise _wrong_digest(artifact, digest)
            with self._lock(artifact):
                partial = self._folder / "partial" / f"{artifact.sha256}.given"
                shutil.copyfile(file, partial)
                self._keep(partial, artifact)

    def _keep(self, file: Path, artifact: Artifact) -> Path:
        target = self.path(artifact)
        target.parent.mkdir(parents=True, exist_ok=True)
        file.chmod(0o444)
        return file.replace(target)

    def _prepare(self) -> None:
        for name in ("sha256", "partial", "locks"):
            (self._folder / name).mkdir(parents=True, exist_ok=True)
        readme = self._folder / "README"
        if not readme.exists():
            readme.write_text(_README)

    def _fetch_missing(self, missing: list[Artifact], on_line: Callable[[str], None]) -> None:
        clients = Clients()
        report = _one_at_a_time(on_line)
        with ThreadPoolExecutor(_THREADS, thread_name_prefix="fetch") as pool:
            try:
                futures = [pool.submit(self._fetch_locked, a, clients, report) for a in missing]
                wait(futures)
            except BaseException:  # an interrupt: nothing may go on behind it
                pool.shutdown(wait=False, cancel_futures=True)
                clients.stop()
                raise
        _raise_all(futures)

    def _fetch_locked(
        self, artifact: Artifact, clients: Clients, report: Callable[[str], None]
    ) -> None:
        with _translated(self._folder), self._lock(artifact):
            if self.cached(artifact):  # another process was quicker
                return
            if self.path(artifact).exists():
                report(f"{artifact.filename}: damaged in the cache, fetching it again")
            # Whoever holds the lock owns the folder: what stands there is from a crash.
            partial = self._folder / "partial" / artifact.sha256
            shutil.rmtree(partial, ignore_errors=True)
            partial.mkdir()
            try:
                self._fetch_into(partial, artifact, clients, report)
            finally:
                shutil.rmtree(partial, ignore_errors=True)

    def _fetch_into(
        self, partial: Path, artifact: Artifact, clients: Clients, report: Callable[[str], None]
    ) -> None:
        report(f"{artifact.filename}: fetching")
        start = time.monotonic()
        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(ClientError),
            stop=tenacity.stop_any(
                tenacity.stop_after_attempt(_ATTEMPTS),
                tenacity.stop_when_event_set(clients.stopped),
            ),
            wait=tenacity.wait_exponential(min=0.5, max=4),
            sleep=tenacity.sleep_using_event(clients.stopped),
            before_sleep=lambda _: report(f"{artifact.filename}: failed, trying once more"),
            reraise=True,
        )
        try:
            found = retrying(clients.download, artifact, partial)
        except MismatchError as error:
            raise _wrong_digest(artifact, error.digest) from error
        except ClientError as error:
            raise self._unavailable(artifact, error) from error
        digest = _digest(found)
        if digest != artifact.sha256:
            raise _wrong_digest(artifact, digest)
        target = self._keep(found, artifact)
        seconds = time.monotonic() - start
        report(f"{artifact.filename}: {target.stat().st_size / 1000:.0f} kB in {seconds:.1f} s")

    @contextmanager
    def _lock(self, artifact: Artifact) -> Iterator[None]:
        """Hold an artifact's lock, which the kernel releases when its process ends."""
        with (self._folder / "locks" / artifact.sha256).open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def _unavailable(self, artifact: Artifact, error: ClientError) -> SourceError:
        client = CLIENTS[artifact.kind]
        return SourceError(
            f"{artifact.name} {artifact.version} ({artifact.filename}) is not in the cache and "
            f"{client} could not fetch it; nothing was stored.\n{error}",
            f"Make sure that {client} reaches its registry from here, then repeat; "
            f"what has been fetched is kept in {self._folder}.",
        )


def _wrong_digest(artifact: Artifact, digest: str) -> SourceError:
    return SourceError(
        f"{artifact.filename} is not the file that was pinned; nothing was stored.\n"
        f"  pinned sha256 {artifact.sha256}\n"
        f"  found  sha256 {digest}",
        "If the pin is right, do not use this registry or mirror; "
        "if the pin is wrong, correct it in its data file.",
    )


def _given(artifact: Artifact) -> Path:
    """Find a file that its author gives, beside the repo file of any folder of tasks."""
    folders = places.task_folders()
    for folder in folders:
        for file in sorted(folder.glob(f"*/{GIVEN}/{artifact.filename}")):
            if _digest(file) == artifact.sha256:
                return file
    raise SourceError(
        f"{artifact.filename} is in none of the folders `{GIVEN}` beside a repo.yaml in "
        f"{', '.join(map(str, folders))}, or not as it was pinned.",
        "Put the file that was pinned there, or make the repository anew: sandbox new.",
    )


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _one_at_a_time(on_line: Callable[[str], None]) -> Callable[[str], None]:
    lock = threading.Lock()

    def report(line: str) -> None:
        with lock:
            on_line(line)

    return report


def _raise_all(futures: list[Future[None]]) -> None:
    errors = [error for future in futures if (error := future.exception()) is not None]
    for error in errors:
        if len(errors) == 1 or not isinstance(error, SourceError):
            raise error
    if errors:
        raise SourceError(
            f"{len(errors)} pinned files could not be fetched.\n"
            + "\n".join(error.message for error in errors if isinstance(error, SourceError)),
            next(error.next_step for error in errors if isinstance(error, SourceError)),
        )


@contextmanager
def _translated(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise SourceError(
            f"The cache {folder} cannot be used: {error.strerror or error}; "
            "no unverified file was stored.",
            "Check its permissions and the free space, or choose another with SANDBOX_CACHE.",
        ) from error
