"""What every engine must do. A subclass gives `engine`, which holds the image `IMAGE`."""

import errno
import secrets
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from signal import SIGKILL

import pytest

from sandbox.container.engines.base import MANAGED, Engine, Session, SessionSpec
from sandbox.container.engines.fake import Answer, Files, Script
from sandbox.model.connection import Connection
from sandbox.model.errors import EngineError, SessionLostError
from sandbox.model.session import ROOT, Command, Completed, Exec, ExecEnd, ExecObserver, FileKind
from tests.sandbox.container.engines.root_file_system import CONTENT

SPEAK = "echo out; echo err >&2; exit 3"
FLOOD = "head -c 3000000 /dev/zero; head -c 2000000 /dev/zero >&2"
SIGNAL = "kill -9 $$"
ODD_NAMES = [b"a b", b"new\nline", b"\xff\xfe", "ü".encode(), b"-rf"]


def shell(line: str) -> tuple[str, ...]:
    return ("/bin/sh", "-c", line)


def _link(command: Command, files: Files) -> Answer:
    _, _, target, path = (word.encode() for word in command.argv if isinstance(word, str))
    files.link(path, target)
    return Answer()


def dial(port: int) -> tuple[str, ...]:
    """A client that says a line, and prints all that it hears."""
    return ("/bin/bash", "-c", f"exec 3<> /dev/tcp/127.0.0.1/{port} && echo hello >&3 && cat <&3")


def _dial(command: Command, _: Files) -> Answer:
    port = str(command.argv[2]).split("/")[4].split()[0]
    try:
        with socket.create_connection(("127.0.0.1", int(port)), 30) as client:
            client.sendall(b"hello\n")
            return Answer(0, client.makefile("rb").read())
    except OSError:
        return Answer(1)


def greet(connection: Connection) -> None:
    """Says everything twice that it hears in one go."""
    connection.send(connection.receive() * 2)


SCRIPT: Script = {
    ("/bin/bash", "-c", "*"): _dial,
    shell(SPEAK): Answer(3, b"out\n", b"err\n"),
    shell(FLOOD): Answer(0, bytes(3_000_000), bytes(2_000_000)),
    ("/bin/sleep", "*"): Answer(seconds=None),
    ("/bin/cat",): lambda command, _: Answer(stdout=command.stdin),
    ("/bin/ln", "-s", "*", "*"): _link,
    ("/bin/true",): Answer(),
}
"""What the programs above do, for an engine that cannot run them."""


class Observer(ExecObserver):
    """Refuses with EPERM at first."""

    def __init__(self) -> None:
        self.answer = errno.EPERM
        self.all: list[Exec] = []
        self.codes: list[int | None] = []

    def seen(self, execution: Exec) -> int:
        self.all.append(execution)
        return self.answer

    def ended(self, _: Exec, end: ExecEnd) -> None:
        self.codes.append(end.exit_code)


class Conformance:
    image: str

    @pytest.fixture
    def engine(self) -> Engine:
        raise NotImplementedError

    @pytest.fixture
    def session(self, engine: Engine) -> Iterator[Session]:
        with engine.start(SessionSpec(self.image)) as session:
            yield session

    def run(self, session: Session, *argv: str | bytes) -> Completed:
        done = session.run(Command(argv, user=ROOT))
        assert done.exit_code == 0, done
        return done

    def test_a_command_gives_its_exit_code_and_both_streams(self, session: Session) -> None:
        done = session.run(Command(shell(SPEAK)))
        assert (done.exit_code, done.signal) == (3, None)
        assert (done.stdout, done.stderr) == (b"out\n", b"err\n")
        assert not any((done.timed_out, done.killed, done.out_of_memory))
        assert done.duration >= 0

    def test_standard_input_arrives_whole_and_ends(self, session: Session) -> None:
        data = bytes(range(256)) * 2000
        assert session.run(Command(("/bin/cat",), stdin=data)).stdout == data

    def test_what_exceeds_a_cap_is_counted_but_not_kept(self, session: Session) -> None:
        done = session.run(Command(shell(FLOOD), stdout_limit=1000, stderr_limit=0))
        assert (len(done.stdout), done.stdout_bytes) == (1000, 3_000_000)
        assert (done.stderr, done.stderr_bytes) == (b"", 2_000_000)

    def test_an_observer_sees_a_command_and_may_refuse_it(self, session: Session) -> None:
        observer = Observer()
        session.on_exec(observer)
        refused = Command(("/bin/true",), interception="hold", tag="refused")
        with pytest.raises(PermissionError):
            session.run(refused)
        observer.answer = 0
        assert session.run(Command(shell(SPEAK), interception="log", tag="seen")).exit_code == 3
        session.run(Command(("/bin/true",)))
        first = [each for each in observer.all if each.first]
        assert [(each.tag, each.arguments[0]) for each in first] == [
            ("refused", b"/bin/true"),
            ("seen", b"/bin/sh"),
        ]
        assert observer.codes[-1] == 3

    def test_a_command_that_takes_too_long_is_killed(self, session: Session) -> None:
        done = session.run(Command(("/bin/sleep", "600"), timeout=0.2))
        assert done.timed_out
        assert not done.killed
        assert (done.exit_code, done.signal) == (None, SIGKILL)
        assert done.duration >= 0.2

    def test_a_program_that_is_missing_is_an_error(self, session: Session) -> None:
        for call in (session.run, session.start):
            with pytest.raises(FileNotFoundError) as caught:
                call(Command(("/bin/missing",)))
            assert caught.value.filename == "/bin/missing"

    def test_a_command_is_spoken_with_while_it_runs(self, session: Session) -> None:
        conversation = session.converse(Command(("/bin/cat",)))
        for line in (b"one\n", b"two\n"):
            conversation.send(line, 30)
            assert conversation.receive(30) == line
        with pytest.raises(TimeoutError):
            conversation.receive(0.05)
        conversation.kill()
        assert conversation.receive(30) == b""
        conversation.wait(30)
        with pytest.raises(BrokenPipeError):
            conversation.send(b"three\n")

    def test_a_command_that_was_told_nothing_ends_when_it_is_killed(self, session: Session) -> None:
        conversation = session.converse(Command(("/bin/sleep", "600")))
        conversation.kill()
        assert conversation.wait(30).signal == SIGKILL

    def test_a_process_is_polled_waited_for_and_killed(self, session: Session) -> None:
        process = session.start(Command(("/bin/sleep", "600")))
        assert process.poll() is None
        with pytest.raises(TimeoutError):
            process.wait(0.05)
        assert session.run(Command(("/bin/true",))).exit_code == 0
        process.kill()
        done = process.wait(30)
        assert done.killed
        assert (done.exit_code, done.signal, done.timed_out) == (None, SIGKILL, False)
        assert process.poll() == done

    def test_all_are_killed_at_once(self, session: Session) -> None:
        processes = [session.start(Command(("/bin/sleep", "600"))) for _ in range(3)]
        assert session.usage().processes >= 3
        assert session.kill_all() >= 3
        assert all(process.wait(30).killed for process in processes)
        assert session.kill_all() == 0

    @pytest.mark.parametrize("name", ODD_NAMES)
    def test_a_file_is_written_read_listed_and_removed(self, session: Session, name: bytes) -> None:
        data = bytes(range(256)) * 5000
        session.write(name, data, beneath="/tree", mode=0o640)
        assert session.read(b"/tree/" + name) == data
        assert session.read(name, beneath="/tree", offset=255, limit=3) == b"\xff\x00\x01"
        entry = session.stat(name, beneath="/tree")
        assert (entry.kind, entry.mode, entry.size) == (FileKind.FILE, 0o640, len(data))
        assert [each.path for each in session.list("/tree")] == sorted([b"file", b"folder", name])
        session.remove(name, beneath="/tree")
        with pytest.raises(FileNotFoundError):
            session.read(name, beneath="/tree")

    def test_writing_over_a_file_keeps_its_mode(self, session: Session) -> None:
        session.write("/tree/file", b"first", mode=0o600)
        session.write("/tree/file", b"second")
        assert session.read("/tree/file") == b"second"
        assert session.stat("/tree/file").mode == 0o600

    def test_folders_are_made_only_when_asked_for(self, session: Session) -> None:
        with pytest.raises(FileNotFoundError):
            session.write("new/deep/file", b"x", beneath="/tree")
        session.write("new/deep/file", b"x", beneath="/tree", parents=True)
        assert session.read("/tree/new/deep/file") == b"x"
        assert session.stat("/tree/new").kind is FileKind.DIRECTORY

    def test_the_agent_may_not_change_what_is_roots(self, session: Session) -> None:
        for path in ("/etc/settings", "/etc/new"):
            with pytest.raises(PermissionError):
                session.write(path, b"x")
        with pytest.raises(PermissionError):
            session.remove("/etc/settings")
        assert session.read("/etc/settings") == CONTENT

    def test_a_directory_is_not_read_as_a_file(self, session: Session) -> None:
        with pytest.raises(IsADirectoryError):
            session.read("/tree/folder")
        with pytest.raises(NotADirectoryError):
            session.list("/tree/file")

    def test_nothing_leads_out_of_beneath(self, session: Session) -> None:
        self.run(session, "/bin/ln", "-s", "/etc/settings", "/tree/absolute")
        self.run(session, "/bin/ln", "-s", "../etc/settings", "/tree/relative")
        for path in ("../etc/settings", "folder/../../etc/settings", "absolute", "relative"):
            with pytest.raises(OSError) as caught:
                session.read(path, beneath="/tree")
            assert caught.value.errno == errno.EXDEV, path
            with pytest.raises(OSError):
                session.write(path, b"x", beneath="/tree")
        assert session.read("/etc/settings") == CONTENT
        assert session.read("folder/../file", beneath="/tree") == CONTENT

    def test_links_are_followed_within_or_refused(self, session: Session) -> None:
        self.run(session, "/bin/ln", "-s", "folder", "/tree/link")
        assert session.read("link/inner", beneath="/tree") == CONTENT
        with pytest.raises(OSError) as caught:
            session.read("link/inner", beneath="/tree", follow=False)
        assert caught.value.errno == errno.ELOOP
        with pytest.raises(OSError) as caught:
            session.write("link/inner", b"x", beneath="/tree", follow=False)
        assert caught.value.errno == errno.ELOOP
        with pytest.raises(OSError) as caught:
            session.remove("link/inner", beneath="/tree", follow=False)
        assert caught.value.errno == errno.ELOOP
        assert session.read("folder/inner", beneath="/tree") == CONTENT
        entry = session.stat("/tree/link")
        assert (entry.kind, entry.target) == (FileKind.SYMLINK, b"folder")
        assert session.stat("/tree/link", follow=True).kind is FileKind.DIRECTORY

    def test_a_manifest_shows_what_has_changed(self, session: Session) -> None:
        before = session.manifest(["/tree"], digest=True)
        assert session.manifest(["/tree"], digest=True) == before
        session.write("/tree/file", CONTENT.swapcase())
        session.write("/tree/new", b"x")
        session.remove("/tree/folder/inner")
        after = session.manifest(["/tree"], digest=True)
        changed = {path for path in before.keys() & after.keys() if before[path] != after[path]}
        assert b"/tree/file" in changed
        assert after.keys() - before.keys() == {b"/tree/new"}
        assert before.keys() - after.keys() == {b"/tree/folder/inner"}
        entry = session.entry(b"/tree/file", after[b"/tree/file"])
        assert (entry.path, entry.kind, entry.size) == (b"/tree/file", FileKind.FILE, len(CONTENT))
        assert len(entry.digest) == 64

    def test_a_manifest_leaves_out_what_is_excluded(self, session: Session) -> None:
        paths = session.manifest(["/tree", "/etc"], excluding=["/tree/folder"]).keys()
        assert {b"/tree/file", b"/etc/settings"} <= paths
        assert not any(path.startswith(b"/tree/folder") for path in paths)

    def test_a_closed_session_says_so_and_leaves_nothing(self, engine: Engine) -> None:
        mark = secrets.token_hex(8)
        session = engine.start(SessionSpec(self.image, labels={"sandbox.run": mark}))
        process = session.start(Command(("/bin/sleep", "600")))
        found = engine.containers(f"sandbox.run={mark}")
        assert [(each.running, each.labels[MANAGED]) for each in found] == [(True, "1")]
        session.close()
        session.close()
        assert engine.containers(f"sandbox.run={mark}") == []
        self.assert_lost(session)
        with pytest.raises(SessionLostError):
            process.wait(30)

    def test_a_container_removed_by_someone_else_is_noticed(self, engine: Engine) -> None:
        with engine.start(SessionSpec(self.image)) as session:
            process = session.start(Command(("/bin/sleep", "600")))
            engine.remove_container(session.container)
            with pytest.raises(SessionLostError):
                process.wait(30)
            self.assert_lost(session)
        engine.remove_container(session.container)

    def test_a_port_leads_to_the_host_until_it_is_closed(self, session: Session) -> None:
        with session.listen(0, greet) as listener:
            port = listener.port
            assert self.run(session, *dial(port)).stdout == b"hello\nhello\n"
            with pytest.raises(OSError, match="in use"):
                session.listen(port, greet)
        assert session.run(Command(dial(port))).exit_code == 1
        with session.listen(port, greet):
            assert self.run(session, *dial(port)).stdout == b"hello\nhello\n"

    def test_a_listener_ends_with_its_session(self, engine: Engine) -> None:
        come, cut = threading.Event(), SimpleQueue[bool]()

        def serve(connection: Connection) -> None:
            come.set()
            cut.put(connection.was_cut(30))

        with engine.start(SessionSpec(self.image)) as session, ThreadPoolExecutor(1) as pool:
            listener = session.listen(0, serve)
            client = pool.submit(session.run, Command(dial(listener.port)))
            assert come.wait(30)
            session.close()
            assert cut.get(timeout=30)
            assert isinstance(client.exception(30), SessionLostError | None)
        listener.close()
        with pytest.raises(SessionLostError):
            session.listen(0, serve)

    def test_an_image_that_is_missing_is_an_error(self, engine: Engine) -> None:
        with pytest.raises(EngineError, match="sandbox-test-missing"):
            engine.start(SessionSpec("sandbox-test-missing:1"))
        assert engine.image("sandbox-test-missing:1") is None
        engine.remove_image("sandbox-test-missing:1")

    def test_an_image_is_found_by_tag_id_and_label(self, engine: Engine) -> None:
        image = engine.image(self.image)
        assert image is not None
        assert image.labels[MANAGED] == "1"
        assert engine.image(image.id) == image
        assert image.id in [each.id for each in engine.images("sandbox.test=engines")]
        assert engine.images("sandbox.test=other") == []

    def assert_lost(self, session: Session) -> None:
        for call in (
            lambda: session.run(Command(("/bin/true",))),
            lambda: session.start(Command(("/bin/true",))),
            lambda: session.read("/tree/file"),
            lambda: session.write("/tree/file", b"x"),
            lambda: session.remove("/tree/file"),
            lambda: session.stat("/tree/file"),
            lambda: session.list("/tree"),
            lambda: session.manifest(["/tree"]),
            lambda: session.kill_all(),
            lambda: session.usage(),
        ):
            with pytest.raises(SessionLostError):
                call()
