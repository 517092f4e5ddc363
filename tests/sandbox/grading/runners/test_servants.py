"""The programs that call a candidate's function, as processes of this host."""

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sandbox.grading.cases.references import SERVANT
from sandbox.grading.runners import wire

PYTHON = """
import os, sys

def show(*arguments, **keywords):
    print("noise")
    os.write(1, b"more noise")
    return [arguments, keywords]

def fail(kind):
    raise kind == "exit" and SystemExit(3) or ValueError("no " + kind)

class Rude(Exception):
    def __str__(self):
        raise KeyError

def rude():
    raise Rude

async def later(value):
    return value
"""
JAVASCRIPT = """
console.log("noise");
exports.show = (...all) => all;
exports.fail = (kind) => { throw new RangeError("no " + kind); };
exports.later = async (value) => value;
exports.kinds = () => [1, -0, NaN, -Infinity, 10n, null, undefined, {a: [true]}, new Date(0)];
exports.inner = {twice: (text) => text + text};
"""

NODE = shutil.which("node") or ""
needs_node = pytest.mark.skipif(not NODE, reason="needs node")


def call(number: int, *arguments: object, **keywords: object) -> dict[str, Any]:
    return {
        "id": number,
        "arguments": [wire.encode(each) for each in arguments],
        "keywords": {key: wire.encode(each) for key, each in keywords.items()},
    }


def ask(argv: list[str], folder: Path, *calls: dict[str, Any]) -> list[dict[str, Any]]:
    data = "".join(json.dumps(each) + "\n" for each in calls)
    ended = subprocess.run(
        argv, cwd=folder, input=data, capture_output=True, text=True, check=True, timeout=60
    )
    assert "noise" in ended.stderr or "show" not in argv[-1] + data
    return [json.loads(line) for line in ended.stdout.splitlines()]


def python(folder: Path, name: str, *calls: dict[str, Any]) -> list[dict[str, Any]]:
    (folder / "subject.py").write_text(PYTHON)
    return ask([sys.executable, str(SERVANT), f"subject.py:{name}"], folder, *calls)


def javascript(folder: Path, name: str, *calls: dict[str, Any]) -> list[dict[str, Any]]:
    (folder / "subject.js").write_text(JAVASCRIPT)
    script = shlex.quote(str(SERVANT.with_name("servant.js")))
    line = f"exec {shlex.quote(NODE)} - 3<&0 0<{script}"
    first, *others = calls
    named = {**first, "subject": f"./subject.js:{name}"}
    return ask(["/bin/bash", "-c", line], folder, named, *others)


def test_each_call_is_answered_by_its_name_and_prints_are_parted(tmp_path: Path) -> None:
    one, two = python(tmp_path, "show", call(1, 1, (2,)), call(2, a="b"))
    assert (one["id"], two["id"]) == (1, 2)
    assert wire.decode(one["value"]) == [(1, (2,)), {}]
    assert wire.decode(two["value"]) == [(), {"a": "b"}]


@pytest.mark.parametrize(
    ("name", "arguments", "raised"),
    [
        ("fail", ("luck",), {"type": "ValueError", "message": "no luck"}),
        ("fail", ("exit",), {"type": "SystemExit", "message": "3"}),
        ("rude", (), {"type": "_reference.Rude", "message": ""}),
        ("show", (), None),
    ],
)
def test_an_error_is_an_answer(
    tmp_path: Path, name: str, arguments: tuple[object, ...], raised: object
) -> None:
    (answer,) = python(tmp_path, name, call(1, *arguments))
    assert answer.get("raised") == raised


def test_what_is_not_there_is_an_error_of_the_call(tmp_path: Path) -> None:
    (answer,) = python(tmp_path, "missing", call(1))
    assert answer["raised"]["type"] == "AttributeError"


def test_an_asynchronous_function_is_waited_for(tmp_path: Path) -> None:
    assert python(tmp_path, "later", call(1, 5)) == [{"id": 1, "value": wire.encode(5)}]


@needs_node
def test_node_answers_alike(tmp_path: Path) -> None:
    arguments = wire.in_javascript(wire.encode([1.5, -0.0, "é", {"a": [None]}, float("inf")]))
    asked = {"id": 7, "arguments": arguments, "keywords": {}}
    (answer,) = javascript(tmp_path, "show", asked)
    assert answer["id"] == 7
    assert wire.canonical(answer["value"]) == wire.canonical(arguments)


@needs_node
def test_node_keeps_kinds_apart(tmp_path: Path) -> None:
    (answer,) = javascript(tmp_path, "kinds", call(1))
    *known, undefined, mapping, date = answer["value"]
    assert wire.canonical(known) == wire.canonical(
        wire.encode([1.0, -0.0, float("nan"), float("-inf"), 10, None])
    )
    assert undefined["other"] == "undefined"
    assert wire.decode(mapping) == {"a": [True]}
    assert date["other"] == "Date"


@needs_node
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("fail", {"raised": {"type": "RangeError", "message": "no x"}}),
        ("later", {"value": "x"}),
        ("inner.twice", {"value": "xx"}),
        ("missing", {"raised": {"type": "TypeError", "message": "called is not a function"}}),
    ],
)
def test_node_finds_waits_and_raises(
    tmp_path: Path, name: str, expected: dict[str, object]
) -> None:
    assert javascript(tmp_path, name, call(1, "x")) == [{"id": 1, **expected}]
