"""`fs/...` of the client as actions."""

import base64
import binascii
import json
import shlex
from collections.abc import Callable

from pydantic import JsonValue

from sandbox.agents.clients.codex.actions import Actions
from sandbox.agents.clients.codex.paths import Outside, Paths, parent
from sandbox.agents.clients.codex.wire import (
    INVALID_PARAMETERS,
    NOT_FOUND,
    Message,
    Refused,
    Shape,
    read,
)
from sandbox.model.observation import ErrorCode, FileContent, FileList, ListedFile, Observation
from sandbox.model.session import FileKind

Result = dict[str, JsonValue]

_SPECIAL = str.maketrans({character: f"[{character}]" for character in "*?["})


class Place(Shape):
    """The parameters that most have."""

    path: str
    recursive: bool | None = None
    force: bool | None = None
    sandbox: JsonValue = None


class Written(Place):
    """Of `fs/writeFile`."""

    data_base64: str


class Copied(Shape):
    """Of `fs/copy`."""

    source_path: str
    destination_path: str
    recursive: bool = False


class Files:
    """Answers the file requests that have a counterpart; each returns a result or is Refused."""

    def __init__(self, actions: Actions, places: Paths) -> None:
        self._actions = actions
        self._places = places
        self.methods: dict[str, Callable[[Message], Result]] = {
            "fs/readFile": self._read,
            "fs/writeFile": self._write,
            "fs/getMetadata": self._metadata,
            "fs/readDirectory": self._list,
            "fs/createDirectory": self._create,
            "fs/remove": self._remove,
            "fs/copy": self._copy,
            "fs/canonicalize": self._canonicalize,
        }

    def _read(self, message: Message) -> Result:
        """Read a file whole, in as many actions as the limit of observations asks for."""
        path = self._path(message)
        content = b""
        while True:
            first = content.count(b"\n") + 1
            part = FileContent.model_validate_json(
                _json(self._perform("read_file", {"path": path, "first_line": first}))
            )
            new = _bytes(part)
            content += new
            if len(content) >= part.size:
                break
            if part.encoding != "utf-8" or not new.endswith(b"\n"):
                raise Refused(f"{path} is too large to be read as a whole.")
        if len(content) != part.size:
            raise Refused(f"{path} was changed while it was read.")
        return {"dataBase64": base64.b64encode(content).decode()}

    def _write(self, message: Message) -> Result:
        written = read(message, Written)
        try:
            content = base64.b64decode(written.data_base64, validate=True)
        except (binascii.Error, ValueError) as error:
            raise Refused(f"dataBase64: {error}.", INVALID_PARAMETERS) from error
        arguments: Result = {"path": self._path(message)}
        try:
            arguments["content"] = content.decode()
        except UnicodeDecodeError:
            arguments |= {"content": written.data_base64, "encoding": "base64"}
        self._perform("write_file", arguments)
        return {}

    def _metadata(self, message: Message) -> Result:
        try:
            path = self._path(message)
        except Outside as outside:
            # The client looks for its marks in all folders above; none are there.
            raise Refused(outside.message, NOT_FOUND) from outside
        found = self._entry(path)
        folder, link = found.kind == FileKind.DIRECTORY, found.kind == FileKind.SYMLINK
        if link:
            folder = self._leads_to_folder(path)
        return {
            "isDirectory": folder,
            "isFile": found.kind == FileKind.FILE or (link and not folder),
            "isSymlink": link,
            "size": found.size,
            "createdAtMs": 0,
            "modifiedAtMs": 0,
        }

    def _entry(self, path: str) -> ListedFile:
        """Find a file by its folder."""
        if path == ".":
            self._entries(path)
            return ListedFile(path=path, kind=FileKind.DIRECTORY, size=0)
        folder, _ = parent(path)
        for entry in self._entries(folder, path.translate(_SPECIAL)):
            if entry.path == path:
                return entry
        raise Refused(f"{path} does not exist.", NOT_FOUND)

    def _leads_to_folder(self, path: str) -> bool:
        seen = self._actions.perform("list_files", {"path": path})
        if seen.error_code is ErrorCode.NOT_A_FOLDER:
            return False
        _raise(seen)
        return True

    def _list(self, message: Message) -> Result:
        entries: list[JsonValue] = [
            {
                "fileName": parent(entry.path)[1],
                "isDirectory": entry.kind == FileKind.DIRECTORY,
                "isFile": entry.kind == FileKind.FILE,
            }
            for entry in self._entries(self._path(message))
        ]
        return {"entries": entries}

    def _entries(self, folder: str, glob: str | None = None) -> tuple[ListedFile, ...]:
        arguments: Result = {"path": folder} if glob is None else {"path": folder, "glob": glob}
        found = FileList.model_validate_json(_json(self._perform("list_files", arguments)))
        if found.truncated:
            raise Refused(f"{folder} holds too much to be listed as a whole.")
        return found.entries

    def _create(self, message: Message) -> Result:
        flags = ["-p"] if read(message, Place).recursive else []
        self._run(["mkdir", *flags, "--", self._path(message)])
        return {}

    def _remove(self, message: Message) -> Result:
        asked = read(message, Place)
        flags = ["-r"] if asked.recursive else ["-d"]
        self._run(["rm", *flags, *(["-f"] if asked.force else []), "--", self._path(message)])
        return {}

    def _copy(self, message: Message) -> Result:
        asked = read(message, Copied)
        ends = (self._places.relative(end) for end in (asked.source_path, asked.destination_path))
        self._run(["cp", *(["-R"] if asked.recursive else []), "--", *ends])
        return {}

    def _canonicalize(self, message: Message) -> Result:
        path = self._path(message)
        command = ["realpath", "--canonicalize-existing", "--relative-base=.", "--", path]
        real = self._run(command).removesuffix("\n")
        if real.startswith("/"):
            raise Outside(f"{path} leads out of the worktree.")
        return {"path": self._places.uri(real)}

    def _path(self, message: Message) -> str:
        asked = read(message, Place)
        if asked.sandbox is not None:
            raise Refused("The container is the sandbox; the client is to ask for no other.")
        return self._places.relative(asked.path)

    def _run(self, argv: list[str]) -> str:
        result = self._perform("run_command", {"command": shlex.join(argv)}).result
        if result["exit_code"] != 0:
            raise Refused(f"{argv[0]} failed: {str(result['stderr']).strip()[:500]}")
        return str(result["stdout"])

    def _perform(self, action: str, arguments: Result) -> Observation:
        seen = self._actions.perform(action, arguments)
        _raise(seen)
        return seen


def _raise(seen: Observation) -> None:
    if seen.status == "error":
        missing = seen.error_code in (ErrorCode.NOT_FOUND, ErrorCode.NOT_A_FOLDER)
        message = f"{seen.error_code}: {seen.message}"
        raise Refused(message, NOT_FOUND) if missing else Refused(message)


def _json(seen: Observation) -> str:
    return json.dumps(seen.result)


def _bytes(part: FileContent) -> bytes:
    return base64.b64decode(part.content) if part.encoding == "base64" else part.content.encode()
