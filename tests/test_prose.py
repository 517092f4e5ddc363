"""Sentences that reach people name their subject, in ordinary English.

The list holds phrases that were in the project and that readers stumbled over. They are looked for
in documents, prompts and pages, in all strings of the program, and in those docstrings that are
help: of verbs, actions and fields that a schema describes.
"""

import ast
import itertools
import re
from collections.abc import Iterator
from pathlib import Path

from tests import ROOT

PHRASES = {
    r"(?<!there )(?<!There )\b(is|was|are|were) none\b": "say what is missing or wrong",
    r"(?<!there )(?<!There )\b(is|was|are) no (?!(longer|more|such|less|other)\b)[A-Za-z]": (
        "say `is not a ...`, `is not a valid ...` or `is missing`"
    ),
    r"\bwhat is no\b": "say what came instead",
    r"\bsubject it is\b|\bof whom there\b": "say who",
    r"\bgot a runner of its own\b": "say what was measured",
    r"\bthose that are asked from elsewhere\b": "say who asks",
    r"\bcalls from outside, in a container\b": "one idea a sentence",
    r"\bx of the floor\b": "say ratio",
    r"\b(is|are|that has|which has|has) no [a-z]+'s\b": "say whose it is not",
    r"\bwhoever comes to it\b": "say who",
}
"""By regular expression: what to write instead."""


WRITTEN = (
    "*.md", "docs/**/*.md", "docs/*.schema.json", "sandbox/**/*.md", "graders/*.md",
    "task_repos/**/*.md", "task_repos/**/task.yaml", "sandbox/cli/pages/templates/*.html",
    "sandbox/agents/clients/presets/*.yaml", "sandbox/tasks/**/*.yaml",
)  # fmt: skip
"""Files of which all is read by people."""

HELPING = ("sandbox/cli/verbs/*.py", "sandbox/model/action.py")
"""Modules whose docstrings are told to people or agents."""


def docstrings(path: Path) -> Iterator[str]:
    """The docstrings of a module's functions and classes."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield ast.get_docstring(node) or ""


def strings(path: Path) -> Iterator[tuple[int, str]]:
    """All strings of a module but docstrings, f-strings as they are written."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    left_out = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):
            left_out.add(id(node.value))
        elif isinstance(node, ast.JoinedStr):
            left_out |= {id(part) for part in node.values}
            pieces = [
                part.value if isinstance(part, ast.Constant) else "{}" for part in node.values
            ]
            yield node.lineno, "".join(map(str, pieces))
    for node in ast.walk(tree):
        known = id(node) in left_out
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and not known:
            yield node.lineno, node.value


def told() -> Iterator[tuple[str, str]]:
    """Where each sentence stands that reaches a person, and the sentence."""
    for path in itertools.chain.from_iterable(map(ROOT.glob, WRITTEN)):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            yield f"{path.relative_to(ROOT)}:{number}", line
    for path in [*ROOT.glob("sandbox/**/*.py"), *ROOT.glob("graders/*.py")]:
        for number, text in strings(path):
            yield f"{path.relative_to(ROOT)}:{number}", text
    for path in itertools.chain.from_iterable(map(ROOT.glob, HELPING)):
        for text in docstrings(path):
            yield f"{path.relative_to(ROOT)}", text
    for path in ROOT.glob("sandbox/container/supervisor/source/*.c"):
        for text in re.findall(r'"((?:[^"\\\n]|\\.)*)"', path.read_text(encoding="utf-8")):
            yield f"{path.relative_to(ROOT)}", text


def test_no_riddle_comes_back() -> None:
    sentences = list(told())
    assert len(sentences) > 5000
    found = [
        f"{where}: {text.strip()[:160]!r}: {advice}"
        for where, text in sentences
        for phrase, advice in PHRASES.items()
        if re.search(phrase, text)
    ]
    assert found == []
