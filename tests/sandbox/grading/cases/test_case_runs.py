"""Cases against candidates that are right, wrong, broken and hostile, in one real container."""

import secrets
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sandbox.container.engines import connect
from sandbox.container.engines.base import Session, SessionSpec
from sandbox.grading.cases import Ground, run_at_a_shell, run_cases
from sandbox.grading.testers import PARENTS, Testers
from sandbox.model import documents, places
from sandbox.model.case import CaseFile
from sandbox.model.errors import DocumentError
from sandbox.model.grade import CaseReport
from sandbox.model.session import Command
from sandbox.tasks import library
from sandbox.tasks.images import Images

pytestmark = pytest.mark.engine

WORKTREE = "/tmp/candidate"
PYTHON = "/opt/venv/bin/python"


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    engine = connect()
    image = Images(engine, places.cache()).ensure(library.load("humanize/file-sizes"), print)
    with engine.start(SessionSpec(image.tag)) as session:
        yield session
    engine.close()


Run = Callable[..., CaseReport]

REFERENCE = """
def double(value):
    if value < 0:
        raise ValueError("negative")
    return NotImplemented if value == 3 else 2 * value

def greet(arguments):
    return {"exit_code": 0, "stdout": f"hello {arguments[0]}\\n"}
"""


@pytest.fixture
def run(session: Session, tmp_path: Path) -> Run:
    (tmp_path / "reference.py").write_text(REFERENCE)

    def run(text: str, candidate: str = "", seed: str = "seed") -> CaseReport:
        file = documents.parse(text, tmp_path / "cases.yaml", CaseFile)
        session.write(f"{WORKTREE}/subject.py", candidate.encode(), parents=True)
        ground = Ground(session, WORKTREE, Testers(session), 2.0)
        return run_cases(file, tmp_path / "reference.py", seed, ground)

    return run


def function(expect: str, *, arguments: str = "[]", more: str = "", name: str = "call") -> str:
    return f"""
subjects:
  it: {{kind: function, name: "subject:{name}"}}
cases:
  - id: one
    subject: it
    input: {{arguments: {arguments}}}
    expect: {expect}
    {more}
"""


@pytest.fixture(autouse=True)
def _found(session: Session) -> None:
    """Make the folder of the candidate importable, as an installed package is."""
    path = "/opt/venv/lib/python3.11/site-packages/subject.pth"
    session.write(path, f"{WORKTREE}\n".encode())


DOUBLE = "def call(value):\n    return 2 * value\n"
DRAWN = function(
    "{reference: double}",
    arguments="[{draw: integer, minimum: 4, maximum: 1000000000}]",
    more="times: 25",
)


def test_a_right_function_passes_and_the_seed_is_told(run: Run) -> None:
    report = run(DRAWN, DOUBLE)
    assert (report.seed, report.problem, report.tampering) == ("seed", "", False)
    assert (report.outcomes["one"].outcome, report.outcomes["one"].calls) == ("passed", 25)


def test_the_same_seed_asks_the_same_and_another_asks_something_else(run: Run) -> None:
    told = [run(DRAWN, "def call(x):\n    pass\n", seed).outcomes["one"] for seed in "aab"]
    assert told[0] == told[1] != told[2]


TRY = """
import os
write = os.write
def attempt(number, data):
    try:
        write(number, data)
    except OSError:
        pass
os.write = attempt
"""
"""Writing to a descriptor that is not open must not be what fails."""

WRONG = {
    "value": ("return 2 * value + 1", "gave "),
    "type": ("return 2.0 * value", "gave "),
    "subclass": ("return type('int', (int,), {})(2 * value)", "gave "),
    "always-equal": (
        "return type('Any', (), {'__eq__': lambda *_: True, '__hash__': lambda _: 0})()",
        "gave ",
    ),
    "raises": ("raise OSError('full')", "raised OSError: full"),
    "exits": ("raise SystemExit", "raised SystemExit"),
    "dies": ("import os; os._exit(3)", "it ended with status 3"),
    "signal": ("import os; os.kill(os.getpid(), 9)", "it was ended by signal 9"),
    "loops": ("while True: pass", "it took too long"),
    "prints": ("import os; [os.write(n, b'{}\\n') for n in (3, 4, 5)]", "what was not asked"),
    "garbage": ("import os; [os.write(n, b'!\\n') for n in (3, 4, 5)]", "not a valid answer"),
    "floods": (
        "import os\n    while True: [os.write(n, b'x' * 65536) for n in (3, 4, 5)]",
        "its answer has more than",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_fails_and_says_how(run: Run, name: str) -> None:
    body, said = WRONG[name]
    text = DRAWN.replace("times: 25", "times: 25\n    seconds: 1")
    report = run(text, f"{TRY}def call(value):\n    {body}\n")
    outcome = report.outcomes["one"]
    assert outcome.outcome == "failed"
    assert said in outcome.problem
    assert not report.tampering


def test_a_candidate_that_cannot_be_imported_fails(run: Run) -> None:
    assert "raised SyntaxError" in run(DRAWN, "def call(:\n").outcomes["one"].problem


TWICE = """
import io, gc, json, sys

def call(value):
    frame = sys._getframe(1)
    answer = json.dumps({"id": frame.f_locals["call"]["id"], "value": 1}) + "\\n"
    for stream in gc.get_objects():
        if isinstance(stream, io.TextIOWrapper) and stream.writable() and stream.fileno() > 2:
            stream.write(answer * 2)
            stream.flush()
    return 2 * value
"""


def test_a_call_that_is_answered_twice_is_tampering(run: Run) -> None:
    report = run(DRAWN, TWICE)
    assert report.tampering
    assert "answered twice" in report.problem
    assert report.outcomes == {}


def test_one_case_cannot_break_another(run: Run) -> None:
    text = (
        DRAWN
        + """
  - id: two
    subject: it
    input: {arguments: [1]}
    expect: {value: 2}
"""
    )
    first = f"os.open('/tmp/{secrets.token_hex(8)}', os.O_CREAT | os.O_EXCL)"
    kill = f"import os\ntry:\n    {first}\nexcept OSError:\n    pass\n"
    kill += "else:\n    os.kill(-1, 9); os._exit(0)\n"
    report = run(text, kill + DOUBLE)
    assert sorted(each.outcome for each in report.outcomes.values()) == ["failed", "passed"]


@pytest.mark.parametrize(
    ("expect", "outcome"),
    [
        ("{raises: {type: ValueError}}", "passed"),
        ("{raises: {type: ValueError, message: 'neg.tive$'}}", "passed"),
        ("{raises: {type: ValueError, message: 'positive'}}", "failed"),
        ("{raises: {type: TypeError}}", "failed"),
        ("{value: null}", "failed"),
        ("{reference: double}", "passed"),
    ],
)
def test_an_error_can_be_what_is_expected(run: Run, expect: str, outcome: str) -> None:
    text = function(expect, arguments="[-1]")
    raising = "def call(value):\n    raise ValueError('negative')\n"
    assert run(text, raising).outcomes["one"].outcome == outcome


def test_what_a_reference_leaves_open_is_not_asked(run: Run) -> None:
    text = DRAWN.replace("minimum: 4, maximum: 1000000000", "minimum: 3, maximum: 4")
    assert run(text, DOUBLE).outcomes["one"].calls < 25
    with pytest.raises(DocumentError, match="leaves every call of the case one open"):
        run(function("{reference: double}", arguments="[3]"), DOUBLE)


@pytest.mark.parametrize("name", ["missing", "__import__('x')"])
def test_a_reference_that_is_none_is_the_tasks_mistake(run: Run, name: str) -> None:
    with pytest.raises(DocumentError, match="cannot be called"):
        run(function(f'{{reference: "{name}"}}', arguments="[1]"), DOUBLE)


def test_nothing_of_the_grader_stays_in_the_container(run: Run, session: Session) -> None:
    tops = {folder: set(session.list(folder)) for folder in PARENTS}
    run(DRAWN, DOUBLE)
    assert {folder: set(session.list(folder)) for folder in PARENTS} == tops


MARKS = """
import os, sys
def call(*_):
    with open("/proc/self/cmdline", "rb") as file:
        words = file.read().split(bytes(1))
    return [[os.path.basename(word.decode()) for word in words if word], sys.argv]
"""


def test_no_word_of_its_process_tells_a_function_who_calls_it(run: Run) -> None:
    report = run(function("{value: [[python, '-'], ['-']]}"), MARKS)
    assert report.outcomes["one"].outcome == "passed", report


WHO = "import os\ndef call(*_):\n    return [os.getuid() in (0, 10001), os.environ['HOME']]\n"


def test_users_and_their_folders_are_drawn(run: Run) -> None:
    seen = {run(function("{value: 0}"), WHO).outcomes["one"].problem for _ in range(3)}
    assert len(seen) == 3
    assert all("[False, " in problem for problem in seen), seen


TWO_FACED = """
import os
def call(value):
    return 2 * value if {right} else value
"""


@pytest.mark.parametrize(
    "right",
    [
        "os.getuid() != 10001",
        "os.environ['HOME'] != '/home/agent'",
        "os.environ.get('USER') != 'agent'",
        "'PYTHONSAFEPATH' in os.environ",
    ],
)
def test_who_is_right_for_the_grader_alone_is_found_out_at_a_shell(
    session: Session, tmp_path: Path, right: str
) -> None:
    (tmp_path / "reference.py").write_text(REFERENCE)
    file = documents.parse(DRAWN, tmp_path / "cases.yaml", CaseFile)
    candidate = TWO_FACED.format(right=right)
    session.write(f"{WORKTREE}/subject.py", candidate.encode(), parents=True)
    ground = Ground(session, WORKTREE, Testers(session), 2.0)
    report = run_cases(file, tmp_path / "reference.py", "seed", ground)
    assert {each.outcome for each in report.outcomes.values()} == {"passed"}
    found = run_at_a_shell(file, tmp_path / "reference.py", report, ground)
    assert {each.outcome for each in found.outcomes.values()} == {"failed"}
    assert all(each.problem.startswith("called at a shell") for each in found.outcomes.values())


def test_who_is_right_for_everybody_passes_at_a_shell(session: Session, tmp_path: Path) -> None:
    (tmp_path / "reference.py").write_text(REFERENCE)
    file = documents.parse(DRAWN, tmp_path / "cases.yaml", CaseFile)
    session.write(f"{WORKTREE}/subject.py", DOUBLE.encode(), parents=True)
    ground = Ground(session, WORKTREE, Testers(session), 2.0)
    report = run_cases(file, tmp_path / "reference.py", "seed", ground)
    found = run_at_a_shell(file, tmp_path / "reference.py", report, ground)
    assert {each.outcome for each in found.outcomes.values()} == {"passed"}
    calls = [sum(each.calls for each in one.outcomes.values()) for one in (report, found)]
    assert calls[1] > calls[0]


TABLE = """
subjects:
  it: {kind: function, name: "subject:call"}
cases:
  - id: each
    subject: it
    times: 12
    input: {arguments: [{draw: choice, of: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]}]}
    expect: {reference: right}
"""


def test_a_single_wrong_answer_in_a_table_is_found_out_at_a_shell(
    session: Session, tmp_path: Path
) -> None:
    (tmp_path / "reference.py").write_text("def right(value):\n    return 2 * value\n")
    file = documents.parse(TABLE, tmp_path / "cases.yaml", CaseFile)
    candidate = TWO_FACED.format(right="value != 7 or os.getuid() != 10001")
    session.write(f"{WORKTREE}/subject.py", candidate.encode(), parents=True)
    ground = Ground(session, WORKTREE, Testers(session), 2.0)
    for seed in map(str, range(5)):
        report = run_cases(file, tmp_path / "reference.py", seed, ground)
        assert report.outcomes["each"].outcome == "passed"
        found = run_at_a_shell(file, tmp_path / "reference.py", report, ground)
        assert found.outcomes["each"].outcome == "failed"


FILE = """
subjects:
  it: {kind: file, path: subject.py}
  none: {kind: file, path: missing.py}
cases:
  - id: counted
    subject: it
    input: {pattern: "^def call"}
    expect: {value: {exists: true, count: 1}}
  - id: wrong
    subject: it
    input: {pattern: "return"}
    expect: {value: {count: 0}}
  - id: missing
    subject: none
    expect: {value: {exists: false}}
"""


def test_a_file_is_judged_on_the_host(run: Run) -> None:
    report = run(FILE, DOUBLE)
    assert [report.outcomes[name].outcome for name in ("counted", "wrong", "missing")] == [
        "passed",
        "failed",
        "passed",
    ]
    assert "gave count = 1, not 0" in report.outcomes["wrong"].problem


COMMAND = f"""
subjects:
  it: {{kind: command, argv: [{PYTHON}, subject.py]}}
cases:
  - id: drawn
    subject: it
    times: 5
    input: {{arguments: [{{draw: string, minimum: 1}}]}}
    expect: {{reference: greet}}
  - id: streams
    subject: it
    table:
      - input: {{arguments: [a], stdin: b}}
        expect: {{value: {{exit_code: 0, stdout: "hello a\\n", stderr: b}}}}
      - input: {{}}
        expect: {{value: {{exit_code: 1}}}}
"""
GREET = "import sys\nprint('hello', sys.argv[1])\nsys.stderr.write(sys.stdin.read())\n"


def test_a_command_line_is_judged_by_the_fields_that_are_named(run: Run) -> None:
    outcomes = run(COMMAND, GREET).outcomes
    assert {case: outcome.outcome for case, outcome in outcomes.items()} == {
        "drawn": "passed",
        "streams": "passed",
    }
    outcomes = run(COMMAND, GREET.replace("hello", "hallo")).outcomes
    assert "gave stdout = 'hallo" in outcomes["drawn"].problem


HTTP = f"""
subjects:
  it: {{kind: http, argv: [{PYTHON}, subject.py], port: 8123}}
cases:
  - id: echo
    subject: it
    times: 3
    input:
      method: POST
      path: /echo
      json: {{n: {{draw: integer, minimum: 0, maximum: 1000}}}}
    expect: {{value: {{status: 200}}}}
  - id: table
    subject: it
    table:
      - input: {{method: POST, path: /a, json: {{n: [1, 2.0]}}}}
        expect: {{value: {{status: 200, json: {{n: [1, 2.0]}}}}}}
      - input: {{path: /a}}
        expect: {{value: {{status: 404, body: nothing}}}}
"""
SERVER = """
import http.server

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.answer(404, b"nothing", "text/plain")

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.answer(200, body, "application/json")

    def answer(self, status, body, kind):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(body)

http.server.HTTPServer(("127.0.0.1", 8123), Handler).serve_forever()
"""


def test_a_server_is_started_asked_and_ended(run: Run) -> None:
    outcomes = run(HTTP, SERVER).outcomes
    assert outcomes["echo"].problem == outcomes["table"].problem == ""
    wrong = run(HTTP, SERVER.replace("404", "405")).outcomes
    assert "gave status = 405, not 404" in wrong["table"].problem


@pytest.mark.parametrize(
    ("candidate", "said"),
    [
        ("raise SystemExit(4)\n", "the server ended with status 4"),
        (SERVER.replace("self.send_response(status)", "return"), "it gave no response"),
        (SERVER.replace("self.wfile.write(body)", "self.wfile.write(b'{')"), "is not JSON"),
    ],
)
def test_a_server_that_is_broken_fails(run: Run, candidate: str, said: str) -> None:
    assert said in run(HTTP, candidate).outcomes["table"].problem


MCP = f"""
subjects:
  it: {{kind: mcp, argv: [{PYTHON}, subject.py]}}
cases:
  - id: add
    subject: it
    table:
      - input: {{tool: add, arguments: {{a: 1, b: 2}}}}
        expect: {{value: {{is_error: false, text: "3", structured: {{sum: 3}}}}}}
      - input: {{tool: other}}
        expect: {{value: {{is_error: true}}}}
"""
TOOLS = """
import json, sys

def answer(method, given):
    if method == "initialize":
        return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {}}
    total = given["arguments"]["a"] + given["arguments"]["b"]
    block = {"type": "text", "text": str(total)}
    return {"content": [block], "structuredContent": {"sum": total}}

for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue
    reply = {"jsonrpc": "2.0", "id": request["id"]}
    if request["params"].get("name") == "other":
        reply["error"] = {"code": -32602, "message": "unknown tool"}
    else:
        reply["result"] = answer(request["method"], request["params"])
    print(json.dumps({"jsonrpc": "2.0", "method": "notifications/message"}))
    print(json.dumps(reply), flush=True)
"""


def test_tools_of_an_mcp_server_are_called(run: Run) -> None:
    assert run(MCP, TOOLS).outcomes["add"].problem == ""
    wrong = run(MCP, TOOLS.replace('{"sum": total}', '{"sum": float(total)}'))
    assert "gave structured = {'sum': 3.0}, not {'sum': 3}" in wrong.outcomes["add"].problem


def test_a_program_that_is_missing_fails(run: Run) -> None:
    for kind in ("command", "mcp", "http, port: 8123"):
        text = f"""
subjects:
  it: {{kind: {kind}, argv: [/no/program]}}
cases:
  - {{id: one, subject: it, expect: {{value: {{status: 1}}}}}}
"""
        assert "cannot be started" in run(text).outcomes["one"].problem


JAVASCRIPT = """
subjects:
  it: {kind: function, language: javascript, name: "./index.js:default"}
cases:
  - id: literal
    subject: it
    table:
      - input: {arguments: [["-a", "--b=2", "c"]]}
        expect: {value: {_: [c], a: true, b: 2}}
      - input: {arguments: [["--x", "1.5"], {string: [x]}]}
        expect: {value: {_: [], x: "1.5"}}
  - id: wrong-type
    subject: it
    table:
      - input: {arguments: [["--b=2"]]}
        expect: {value: {_: [], b: "2"}}
  - id: raises
    subject: it
    table:
      - input: {arguments: [1]}
        expect: {raises: {type: TypeError, message: not a function}}
"""


def test_a_function_in_javascript_is_called_alike(tmp_path: Path) -> None:
    engine = connect()
    task = library.load("minimist/refresh-dependencies")
    image = Images(engine, places.cache()).ensure(task, print)
    file = documents.parse(JAVASCRIPT, tmp_path / "cases.yaml", CaseFile)
    with engine.start(SessionSpec(image.tag)) as session:
        session.run(Command(("/bin/chmod", "o+rx", "/home/agent", task.worktree)))
        ground = Ground(session, task.worktree, Testers(session), 2.0)
        report = run_cases(file, None, "seed", ground)
    engine.close()
    assert report.outcomes["literal"].problem == report.outcomes["raises"].problem == ""
    assert "'b': 2.0" in report.outcomes["wrong-type"].problem
