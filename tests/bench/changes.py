"""What changed in a container of 50,000 files of which 1,000 were edited."""

import tarfile
import tempfile
from io import BytesIO
from pathlib import Path

import docker

from sandbox.container.changes.collector import Collector, Source
from sandbox.container.engines.base import Engine, Session
from sandbox.model.session import AGENT, Command
from sandbox.model.task import Scope
from tests.bench.clock import Measure, milliseconds
from tests.bench.fixture import LABELS, open_session, prepared

FILES, EDITED, ROUNDS = 50_000, 1_000, 5
FOLDER = "/home/agent/many"
EDIT = f"for i in $(seq 0 49 {EDITED * 49 - 1}); do echo edited $i > {FOLDER}/$((i % 100))/$i; done"


def archive(target: Path) -> None:
    """Write the files, 2 kB each, in a hundred folders, owned by the agent."""
    with tarfile.open(target, "w") as tar:
        for number in range(FILES):
            member = tarfile.TarInfo(f"{FOLDER.lstrip('/')}/{number % 100}/{number}")
            content = f"{number}\n".encode() * 300
            member.size, member.uid, member.gid = len(content), AGENT.uid, AGENT.gid
            tar.addfile(member, BytesIO(content))


def big_image(engine: Engine, base: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        archive(Path(folder) / "files.tar")
        (Path(folder) / "Dockerfile").write_text(f"FROM {base}\nADD files.tar /\n")
        return engine.build(
            Path(folder),
            tag="sandbox/bench:files",
            labels=LABELS,
            network="none",
            on_line=lambda _: None,
        ).id


def collected(engine: Engine, session: Session, image: str, source: Source) -> list[float]:
    with open_session(engine, image) as pristine:
        collector = Collector(session, Scope(), "/home/agent/humanize", source=source)
        edited = session.run(Command(("/bin/bash", "-c", EDIT)))
        assert edited.exit_code == 0, edited.stderr
        return [milliseconds(lambda: collector.change_set(lambda: pristine)) for _ in range(ROUNDS)]


def measure() -> list[Measure]:
    client = docker.from_env()
    client.api.timeout = 300
    rows: list[Measure] = []
    with prepared() as (engine, _, built):
        image = big_image(engine, built.tag)
        ways: tuple[tuple[Source, float], ...] = (("overlay", 50), ("manifest", 5))
        for source, bound in ways:
            with open_session(engine, image) as session:
                ours = sorted(collected(engine, session, image, source))
                floor = sorted(
                    milliseconds(lambda: client.api.diff(session.container)) for _ in range(3)
                )
            what = f"change set, {FILES:,} files, {EDITED:,} edited, by {source}"
            rows.append((what, "docker diff", ours[len(ours) // 2], floor[1], bound, True))
        engine.remove_image("sandbox/bench:files")
    client.close()
    return rows
