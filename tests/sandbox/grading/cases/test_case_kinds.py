"""Cases of every kind: files, command lines, servers, tools, functions of other languages."""

from pathlib import Path

import pytest

from sandbox.container.engines import connect
from sandbox.container.engines.base import SessionSpec
from sandbox.grading.cases import Ground, run_cases
from sandbox.grading.testers import Testers
from sandbox.model import documents, places
from sandbox.model.case import CaseFile
from sandbox.model.session import Command
from sandbox.tasks import library
from sandbox.tasks.images import Images
from tests.sandbox.grading.cases.subjects import DOUBLE, Run

pytestmark = pytest.mark.engine

PYTHON = "/opt/venv/bin/python"


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


@pytest.mark.slow
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
