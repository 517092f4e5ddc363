"""A path walked name by name, where openat2 is missing, leads where the kernel says it leads."""

import errno
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.sandbox.container.supervisor.local import SELF, Local, Start

LINKS = {
    "here": ".",
    "up": "..",
    "file-link": "a/b/file",
    "folder-link": "a/b/",
    "into": "a/../a/b",
    "twice": "here/into",
    "out": "../outside",
    "far": "../" * 9 + "etc/passwd",
    "absolute": "/etc",
    "loop": "loop",
    "dangling": "nowhere/at/all",
    "a/back": "../b",
    "a/b/top": "../../c",
    "a/b/over": "../../../outside/secret",
}
MOVED_READS = 2000
NAMES = ["", ".", "..", "a", "b", "c", "file", "nothing", *(Path(each).name for each in LINKS)]
PATHS = st.lists(st.sampled_from(NAMES), min_size=1, max_size=9).map("/".join)


@pytest.fixture
def inside(tmp_path: Path) -> Path:
    inside = tmp_path / "inside"
    for folder in ("a/b", "b", "c"):
        (inside / folder).mkdir(parents=True)
        (inside / folder / "file").write_text(folder)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret").write_text("secret")
    for name, target in LINKS.items():
        (inside / name).symlink_to(target)
    return inside


def outcome(call: Callable[[], object]) -> object:
    """What is given, or the number of the error."""
    try:
        return call()
    except OSError as error:
        return error.errno


def looked(local: Local, path: str, inside: Path, *, follow: bool) -> list[object]:
    """What is read, told of a file, and listed."""
    supervisor, place = local.supervisor, str(inside)

    def told() -> object:
        entry = supervisor.stat(path, beneath=place, follow=follow)
        return entry.kind, entry.inode, entry.target

    return [
        outcome(lambda: supervisor.read(path, beneath=place, follow=follow)),
        outcome(told),
        outcome(lambda: sorted(each.path for each in supervisor.list(path, beneath=place))),
    ]


def written(local: Local, path: str, inside: Path, *, follow: bool) -> object:
    call = local.supervisor.write
    return outcome(lambda: call(path, b"x", beneath=str(inside), follow=follow, user=SELF))


@given(path=PATHS.filter(lambda path: not path.startswith("/")), follow=st.booleans())
@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_each_path_leads_where_the_kernel_says(
    both: tuple[Local, Local], inside: Path, path: str, follow: bool
) -> None:
    for ask in (looked, written):
        kernels, ours = (ask(each, path, inside, follow=follow) for each in both)
        assert ours == kernels
    assert (inside.parent / "outside/secret").read_text() == "secret"


@pytest.fixture
def both(start: Start) -> tuple[Local, Local]:
    """With openat2 and without."""
    kernels, ours = start("unix"), start("unix", "--plain")
    if "openat2" not in kernels.supervisor.greeting.features:
        pytest.skip("this kernel has no openat2")
    return kernels, ours


def test_a_folder_that_is_moved_out_meanwhile_leads_nowhere(start: Start, inside: Path) -> None:
    ours, over = start("unix", "--plain").supervisor, Event()

    def move() -> None:
        while not over.is_set():
            (inside / "a/b").rename(inside.parent / "outside/b")
            (inside.parent / "outside/b").rename(inside / "a/b")

    mover = Thread(target=move)
    mover.start()
    try:
        # Above the folder where it is outside lies what the path names.
        path = "a/b/../../outside/secret"
        found = {outcome(lambda: ours.read(path, beneath=str(inside))) for _ in range(MOVED_READS)}
    finally:
        over.set()
        mover.join()
    assert found == {errno.ENOENT}
