"""Images: called by their inputs, built once, holding what they promise and nothing more."""

import json
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.container.engines.base import MANAGED, Engine, Session, SessionSpec
from sandbox.container.engines.fake import FakeEngine
from sandbox.model import places
from sandbox.model.errors import ImageError, SourceError
from sandbox.model.session import AGENT, ROOT, Command, User
from sandbox.tasks import library
from sandbox.tasks.images import BuiltImage, Images, base, stale
from sandbox.tasks.images.recipe import Recipe, Work

NAME = "humanize/file-sizes"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the project's data that a test may change."""
    for name in ("images", "task_repos"):
        shutil.copytree(places.project() / name, tmp_path / name)
    monkeypatch.setenv("SANDBOX_PROJECT", str(tmp_path))
    return tmp_path


@pytest.fixture(scope="module")
def image(engine: Engine) -> BuiltImage:
    return Images(engine, places.cache()).ensure(library.load(NAME), print)


@pytest.fixture(scope="module")
def session(engine: Engine, image: BuiltImage) -> Iterator[Session]:
    with engine.start(SessionSpec(image.tag)) as session:
        yield session


class OwnImages(FakeEngine):
    """An engine whose registry does not answer, so that the base is given by hand."""

    def prepared(self) -> "OwnImages":
        recipe = base.recipe()
        context = places.project() / "images" / "python"
        self.build(
            context, tag=recipe.tag, labels=recipe.labels, network="none", on_line=lambda _: None
        )
        return self


def tag(cache: Path) -> str:
    return Images(FakeEngine(), cache).tag(library.load(NAME))


def append(path: Path, text: str = "\n") -> None:
    path.write_text(path.read_text() + text)


def answer(session: Session, line: str, user: User = AGENT) -> str:
    path = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
    completed = session.run(Command(("/bin/bash", "-c", line), "/", path, user))
    assert completed.exit_code == 0, completed
    return completed.stdout.decode()


# What an image is called


@pytest.mark.parametrize(
    "changed",
    [
        "images/debian/base.yaml",
        "images/python/Dockerfile",
        "images/python/environment.Dockerfile",
        "images/python/task.Dockerfile",
        "images/python/etc/pip.conf",
        "task_repos/humanize/file-sizes/defect.patch",
        "task_repos/humanize/file-sizes/staged.patch",
        "task_repos/humanize/file-sizes/hooks/commit-msg",
        "task_repos/humanize/file-sizes/instructions/AGENTS.md",
        "task_repos/humanize/file-sizes/untracked/quota-notes.md",
    ],
)
def test_the_tag_changes_with_each_input(project: Path, tmp_path: Path, changed: str) -> None:
    before = tag(tmp_path)
    path = project / changed
    if path.name == "base.yaml":
        path.write_text(path.read_text().replace("bookworm-slim", "bookworm"))
    else:
        append(path)
    assert tag(tmp_path) != before


@pytest.mark.parametrize(
    ("old", "new"),
    [("version: 1.5.5", "version: 1.5.6"), ("release: 4.12.3", "release: 4.11.0")],
)
def test_the_tag_changes_with_the_world(project: Path, tmp_path: Path, old: str, new: str) -> None:
    before = tag(tmp_path)
    path = project / "task_repos" / NAME / "task.yaml"
    # The other release has fewer tests.
    path.with_name("tests.yaml").write_text("fail_to_pass: [tests/test_size_units.py]\n")
    path.write_text(path.read_text().replace(old, new, 1))
    assert tag(tmp_path) != before


def test_the_tag_does_not_change_with_prompt_tests_or_oracle(project: Path, tmp_path: Path) -> None:
    before = tag(tmp_path)
    folder = project / "task_repos" / NAME
    append(folder / "hidden" / "tests" / "test_size_units.py")
    path = folder / "task.yaml"
    path.write_text(path.read_text().replace("Ticket HUM-214.", "See ticket HUM-214."))
    assert tag(tmp_path) == before
    assert tag(tmp_path).startswith("sandbox/humanize-file-sizes:")


def test_a_registry_is_fetched_and_gets_into_no_image(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = tag(tmp_path)
    path = project / "task_repos" / NAME / "task.yaml"
    six = next(each for each in library.load(NAME).task.world.mirror if each.name == "six")
    said = json.dumps({"artifacts": [six.model_dump(mode="json")]})
    path.write_text(path.read_text().replace("\npolicy:\n", f"  registry: {said}\n\npolicy:\n", 1))
    assert library.load(NAME).task.world.registry
    assert tag(tmp_path) == before
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    engine = OwnImages().prepared()
    with pytest.raises(SourceError, match=six.filename):
        Images(engine, tmp_path).ensure(library.load(NAME), lambda _: None)
    assert Images(engine, places.cache()).ensure(library.load(NAME), lambda _: None).tag == before


def test_a_dockerfile_stands_on_exactly_one_image(project: Path, tmp_path: Path) -> None:
    path = project / "images" / "python" / "Dockerfile"
    path.write_text(path.read_text().replace("FROM debian", "FROM debian\nFROM debian"))
    with pytest.raises(ImageError, match="2 lines `FROM <name>`"):
        Images(OwnImages().prepared(), tmp_path).ensure(library.load(NAME), lambda _: None)


# When it is built


@pytest.mark.slow
def test_each_image_is_built_once(project: Path) -> None:
    engine = OwnImages().prepared()
    images = Images(engine, places.cache())
    lines: list[str] = []
    first = images.ensure(library.load(NAME), lines.append)
    assert first.rebuilt
    built = [line for line in lines if line.startswith("building sandbox/")]
    assert [line.split("/")[1].split(":")[0] for line in built] == [
        "python",
        "python-humanize",
        "humanize-file-sizes",
    ]
    lines.clear()
    again = images.ensure(library.load(NAME), lines.append)
    assert (again.tag, again.id, again.rebuilt) == (first.tag, first.id, False)
    assert lines == []


@pytest.mark.slow
def test_a_change_of_the_world_leaves_what_is_below(project: Path) -> None:
    engine = OwnImages().prepared()
    images = Images(engine, places.cache())
    images.ensure(library.load(NAME), lambda _: None)
    append(project / "task_repos" / NAME / "untracked" / "quota-notes.md")
    lines: list[str] = []
    image = images.ensure(library.load(NAME), lines.append)
    assert image.rebuilt
    assert [line for line in lines if line.startswith("building sandbox/")] == [
        f"building {image.tag}"
    ]


@pytest.mark.slow
def test_stale_are_the_images_that_no_task_needs(project: Path) -> None:
    engine = OwnImages().prepared()
    images = Images(engine, places.cache())
    old = images.ensure(library.load(NAME), lambda _: None)
    assert stale(engine) == []
    append(project / "task_repos" / NAME / "untracked" / "quota-notes.md")
    new = images.ensure(library.load(NAME), lambda _: None)
    assert [image.tags for image in stale(engine)] == [(old.tag,)]
    assert new.tag != old.tag


def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("")
    images = Images(OwnImages().prepared(), tmp_path / "cache")
    with pytest.raises(ImageError, match=r"cannot be written(.|\n)*SANDBOX_CACHE"):
        images.ensure(library.load(NAME), lambda _: None)


@pytest.mark.engine
def test_a_failed_build_names_its_log_and_leaves_nothing(
    project: Path, engine: Engine, image: BuiltImage
) -> None:
    path = project / "images" / "python" / "task.Dockerfile"
    right = path.read_text()
    path.write_text(right + f"RUN echo {project}; echo broken on purpose; exit 7\n")
    images = Images(engine, places.cache())
    wrong = images.tag(library.load(NAME))
    with pytest.raises(ImageError, match="broken on purpose") as caught:
        images.ensure(library.load(NAME), lambda _: None)
    log = Path(caught.value.message.rpartition("The whole log: ")[2])
    assert "broken on purpose" in log.read_text()
    assert caught.value.next_step
    assert engine.image(wrong) is None
    path.write_text(right)
    assert not images.ensure(library.load(NAME), lambda _: None).rebuilt
    # Other tests may be building images of their own.
    assert not (places.cache() / "images" / wrong.replace("/", "-").replace(":", "-")).exists()


@pytest.mark.slow
@pytest.mark.engine
def test_what_a_killed_build_has_left_is_removed_by_the_next_one(
    project: Path, engine: Engine, image: BuiltImage
) -> None:
    left = places.cache() / "images" / "sandbox-killed-0123456789abcdef"
    (left / "home").mkdir(parents=True)
    left.with_name(f"{left.name}.lock").touch()
    append(project / "images" / "python" / "task.Dockerfile", f"# again {project}\n")
    built = Images(engine, places.cache()).ensure(library.load(NAME), lambda _: None)
    engine.remove_image(built.tag)
    assert built.rebuilt
    assert not left.exists()


@pytest.mark.slow
@pytest.mark.engine
def test_two_that_ask_at_once_build_once(project: Path, engine: Engine, image: BuiltImage) -> None:
    append(project / "images" / "python" / "task.Dockerfile", f"# {project}\n")
    loaded = library.load(NAME)
    built: list[BuiltImage] = []
    threads = [
        threading.Thread(
            target=lambda: built.append(Images(engine, places.cache()).ensure(loaded, print))
        )
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    engine.remove_image(built[0].tag)
    assert built[0].id == built[1].id
    assert sorted(each.rebuilt for each in built) == [False, True]


# What the base holds, whichever way it was made


def check_contract(engine: Engine, tag: str) -> None:
    contract = base.read().holds
    with engine.start(SessionSpec(tag)) as session:
        assert f"VERSION_CODENAME={contract.codename}\n" in answer(session, "cat /etc/os-release")
        answer(session, f"type {' '.join(contract.commands)}")
        for folder in contract.empty:
            assert answer(session, f"find {folder} -type f 2>/dev/null || true") == ""
        taken = answer(session, "cut -d: -f3 /etc/passwd /etc/group").split()
        assert not {str(number) for number in contract.free_ids} & set(taken)


@pytest.mark.engine
def test_the_base_keeps_its_contract(engine: Engine, image: BuiltImage) -> None:
    check_contract(engine, base.recipe().tag)


@pytest.mark.engine
def test_a_pulled_base_keeps_the_same_contract(
    engine: Engine, image: BuiltImage, tmp_path: Path
) -> None:
    # The image that stands in for the registry's is the one that was made of packages.
    made = base.read().model_copy(update={"pull": base.recipe().tag})
    recipe = Recipe(
        "test-base", "0" * 64, None, lambda recipe, work: base.pulled(recipe, work, made)
    )
    found = recipe.make(recipe, Work(engine, tmp_path, "", print))
    try:
        assert recipe.tag in found.tags
        assert found.labels[MANAGED]
        check_contract(engine, recipe.tag)
    finally:
        engine.remove_image(recipe.tag)


# What a task's image holds


@pytest.mark.engine
def test_no_program_raises_its_rights(session: Session) -> None:
    assert answer(session, "find / -xdev -type f -perm /6000", ROOT) == ""


@pytest.mark.engine
def test_the_agent_owns_its_home_and_environment(session: Session) -> None:
    assert answer(session, "id -u; id -g; id -un").split() == ["10001", "10001", "agent"]
    strangers = "find /home/agent /opt/venv '(' ! -user agent -o ! -group agent ')'"
    assert answer(session, strangers) == ""
    assert (
        answer(session, "find / -xdev -user agent ! -path '/home/*' ! -path '/opt/venv*'", ROOT)
        == ""
    )


@pytest.mark.engine
def test_tools_and_settings_are_there(session: Session) -> None:
    answer(session, "type python3 git bash make patch less diff file ps")
    assert answer(session, "/opt/venv/bin/python -c 'import humanize, pytest; print(1)'") == "1\n"
    assert answer(session, "git config --system safe.directory") == "*\n"
    assert answer(session, "ls -A /var/lib/apt/lists /var/cache/apt /tmp | grep -v :") == "\n\n"


@pytest.mark.engine
def test_nothing_of_the_host_is_left(engine: Engine, session: Session) -> None:
    found = answer(session, "cat /etc/apt/apt.conf.d/* /etc/environment 2>/dev/null || true")
    assert "proxy" not in found.lower()
    assert answer(session, "cat /etc/pip.conf | grep -c no-index") == "1\n"


@pytest.mark.slow
@pytest.mark.engine
def test_tool_servers_are_closed_to_the_agent(project: Path, engine: Engine) -> None:
    folder = project / "task_repos" / NAME
    (folder / "stock").mkdir()
    (folder / "stock" / "server.py").write_text("pass\n")
    server = {"name": "stock", "about": "x", "folder": "stock", "command": ["/usr/bin/python3"]}
    text = (folder / "task.yaml").read_text()
    (folder / "task.yaml").write_text(
        text.replace("\nworld:\n", f"\nworld:\n  servers: [{json.dumps(server)}]\n")
    )
    built = Images(engine, places.cache()).ensure(library.load(NAME), print)
    try:
        with engine.start(SessionSpec(built.tag)) as session:
            found = [session.stat(f"/opt/servers/{name}") for name in ("stock", "stock/server.py")]
            assert {(entry.uid, entry.mode & 0o077) for entry in found} == {(10004, 0)}
            with pytest.raises(PermissionError):
                session.read("/opt/servers/stock/server.py", user=AGENT)
    finally:
        engine.remove_image(built.tag)


def test_every_kind_of_image_lays_tool_servers() -> None:
    for file in places.project().glob("images/*/task.Dockerfile"):
        lines = file.read_text().splitlines()
        assert "COPY --chown=10004:10004 servers/ /opt/servers/" in lines
        assert "RUN chmod -R go-rwx /opt/servers" in lines
