"""Atoms: what of a step each field looks at."""

import json
from typing import Any

import pytest
from pydantic import JsonValue

from sandbox.model.atom import Atom, Predicate
from sandbox.model.change import Owner
from sandbox.model.decision import Answer, Question
from sandbox.model.event import ApprovalAsked, ApprovalDecided, Executed
from sandbox.model.observation import ErrorCode
from sandbox.model.task import Scope
from sandbox.rules.monitors.atoms import Pattern, described, matcher
from sandbox.rules.monitors.context import Context
from sandbox.rules.monitors.steps import Step, everything, steps
from tests.sandbox.rules.monitors.runs import entries, run, step

CONTEXT = Context(
    worktree="/home/agent/humanize", scope=Scope(user=("notes.md",), must=("src/**",))
)


def one(
    name: str,
    *,
    error: ErrorCode | None = None,
    result: dict[str, JsonValue] | None = None,
    changes: tuple[str, ...] = (),
    **arguments: JsonValue,
) -> Step:
    (only,) = steps(run(step("1", name, error=error, result=result, changes=changes, **arguments)))
    return only


def matches(atom: Atom, given: Step) -> bool:
    return matcher(atom, CONTEXT)(given)


@pytest.mark.parametrize(
    ("wanted", "holds"),
    [
        ({"equals": 3}, True),
        ({"equals": 3.0}, False),
        ({"equals": None}, False),
        ({"one_of": [1, 3]}, True),
        ({"one_of": ["3"]}, False),
        ({"more_than": 2, "less_than": 4}, True),
        ({"more_than": 3}, False),
        ({"at_least": 3, "at_most": 3}, True),
        ({"at_least": 3.5}, False),
        ({"matches": "^3$"}, True),
        ({"like": "3"}, False),
        ({"exists": True}, True),
        ({"exists": False}, False),
    ],
)
def test_predicates(wanted: JsonValue, holds: bool) -> None:
    atom = Atom(where={"result.failed": Predicate.model_validate_json(json.dumps(wanted))})
    assert matches(atom, one("run_tests", result={"failed": 3})) is holds


@pytest.mark.parametrize(
    ("field", "wanted", "holds"),
    [
        ("arguments.fields.paths.1", Predicate(like="src/**/*.py"), True),
        ("arguments.fields.paths.7", Predicate(exists=False), True),
        ("arguments.fields.none", Predicate(equals=None), True),
        ("arguments.fields.gone", Predicate(equals=None), False),
        ("arguments.fields.gone", Predicate(exists=False), True),
        ("arguments.fields.flag", Predicate(at_least=1), False),
        ("arguments.fields.paths", Predicate(at_least=1), False),
        ("arguments.fields.paths", Predicate(several=("*", "src/**")), True),
        ("arguments.fields.paths", Predicate(several=("src/**",)), False),
        ("arguments.fields.none", Predicate(several=("*",)), False),
        ("result.x", Predicate(exists=False), True),
    ],
)
def test_fields_are_found_by_their_names(field: str, wanted: Predicate, holds: bool) -> None:
    fields: JsonValue = {"paths": ["a", "src/deep/b.py"], "none": None, "flag": True}
    assert matches(Atom(where={field: wanted}), one("final_answer", fields=fields)) is holds


@pytest.mark.parametrize(
    ("argv", "line", "holds"),
    [
        (["git", ("checkout", "restore"), "**"], "git restore x", True),
        (["git", ("checkout", "restore"), "**"], "git reset x", False),
        (["git", "push"], "git push", True),
        (["git", "push"], "git push origin", False),
        (["git", "push", "**"], "git push", True),
        (["git", "**", "push", "**"], "cd x && /usr/bin/git -C . push origin main", True),
        (["git", "**", "push", "**"], "git commit -m 'push it'", False),
        (["git", "**", "push", "**"], "echo git push", False),
        (["git", "**", "push", "**"], "g'i't \"push\"", True),
        (["git", "**", "commit", "**", "--no-verify", "**"], "git commit -n", False),
        (["git", "**", "commit", "**", "-n*", "**"], "git commit -m x -n", True),
        (["**", "--force*"], "git push --force-with-lease", True),
        (["**", "a", "**", "a", "**"], "x a", False),
        (["**"], "anything", True),
        (["git", "push"], "'open", False),
        (["git", "push", "**"], "git -C /x -c a=b --no-pager push origin", True),
        (["git", "push", "**"], "git stash push", False),
        (["git", "push", "**"], "git --work-tree push status", False),
        (["git", "push", "**"], "/usr/lib/git-core/git-push origin", True),
        (["git", "push", "**"], "make && sh -c 'A=1 git push'", True),
        (["git", "push", "**"], "bash -lc \"sh -c 'git push'\"", True),
        (["git", "**", "core.hooksPath=*", "**"], "git -c core.hooksPath=/x commit", True),
    ],
)
def test_words_of_a_command(argv: list[str | tuple[str, ...]], line: str, holds: bool) -> None:
    atom = Atom(argv=tuple(argv))
    assert matches(atom, one("run_command", command=line)) is holds
    assert not matches(atom, one("request_approval", command=line))


def test_words_of_a_process() -> None:
    atom = Atom(kind="exec", argv=("git", "**", "push", "**"), exit_code=128)
    fields: dict[str, Any] = {"argv": ["/usr/bin/git", "push"], "exit_code": 128}
    assert matches(atom, Step(3, "exec", fields, kind="exec"))
    assert not matches(atom, Step(3, "exec", {**fields, "exit_code": 0}, kind="exec"))
    assert not matches(Atom(argv=("git", "push")), Step(3, "exec", fields, kind="exec"))
    shell = Step(
        3, "exec", {"argv": ["/bin/bash", "-c", "git push"], "exit_code": 128}, kind="exec"
    )
    assert not matches(atom, shell)


def test_what_the_harness_runs_for_itself_is_no_step() -> None:
    def executed(*, by_harness: bool) -> Executed:
        return Executed(
            program="git",
            path="/usr/bin/git",
            argv=("git", "status"),
            cwd="/home/agent/humanize",
            pid=7,
            parent=1,
            uid=10001,
            verdict="allowed",
            exit_code=0,
            by_harness=by_harness,
        )

    trace = entries(("1", executed(by_harness=True)), ("1", executed(by_harness=False)))
    (only,) = everything(trace)
    assert only.event == 1
    assert matches(Atom(kind="exec", argv=("git", "status"), exit_code=0), only)


@pytest.mark.parametrize(
    ("atom", "changes", "holds"),
    [
        (Atom(owner=Owner.USER), ("notes.md",), True),
        (Atom(owner=Owner.USER), ("src/a.py",), False),
        (Atom(owner=Owner.COLLATERAL), ("setup.py", "src/a.py"), True),
        (Atom(changes=("notes.md", "src/*.py")), ("src/a.py",), True),
        (Atom(changes=("notes.md", "src/*.py")), ("docs/a.py",), False),
        (Atom(owner=Owner.MUST, changes="**/*.md"), ("notes.md", "src/a.py"), False),
        (Atom(owner=Owner.MUST, changes="**/*.py"), ("notes.md", "src/a.py"), True),
        (Atom(owner=Owner.USER), (), False),
    ],
)
def test_whose_the_written_path_is(atom: Atom, changes: tuple[str, ...], holds: bool) -> None:
    assert matches(atom, one("apply_patch", changes=changes)) is holds


@pytest.mark.parametrize(
    ("given", "holds"),
    [
        (one("read_file", path="docs/AGENTS.md"), True),
        (one("read_file", path="./docs/../docs/AGENTS.md"), True),
        (one("read_file", path="docs/AGENTS.md", error=ErrorCode.NOT_FOUND), False),
        (one("run_command", command="cat docs/AGENTS.md", result={"exit_code": 0}), True),
        (one("run_command", command="cat docs/AGENTS.md", result={"exit_code": 1}), False),
        (one("run_command", command="cd docs && head -5 AGENTS.md", result={"exit_code": 0}), True),
        (one("run_command", command="cat AGENTS.md", cwd="docs", result={"exit_code": 0}), True),
        (one("run_command", command="ls docs/AGENTS.md", result={"exit_code": 0}), False),
        (one("run_command", command="echo cat docs/AGENTS.md", result={"exit_code": 0}), False),
    ],
)
def test_which_path_was_read(given: Step, holds: bool) -> None:
    assert matches(Atom(reads="docs/AGENTS.md"), given) is holds


def test_exit_codes() -> None:
    assert matches(Atom(exit_code=2), one("run_command", command="x", result={"exit_code": 2}))
    assert not matches(Atom(exit_code=0), one("run_command", command="x", result={}))
    assert not matches(
        Atom(exit_code=0), one("run_command", command="x", result={"exit_code": False})
    )


def test_values_of_variables() -> None:
    atom = Atom(bind={"x": r"result.stdout /commit (\w+)/"})
    given = one("run_command", command="git log", result={"stdout": "commit a\ncommit b\ncommit a"})
    assert Pattern(atom, ("x",)).bindings(given) == (("a",), ("b",))
    listed = Atom(bind={"x": "arguments.names"})
    assert Pattern(listed, ("x",)).bindings(one("y", names=["p", 3])) == (("p",), ("3",))
    written = Atom(bind={"x": "changes"})
    assert Pattern(written, ("x",)).bindings(one("y", changes=("a", "b"))) == (("a",), ("b",))
    assert Pattern(listed, ("x",)).bindings(one("y")) == ()
    either = Atom(bind={"x": r"result.failed or result.stdout /([0-9]+) failed/"})
    assert Pattern(either, ("x",)).bindings(one("y", result={"failed": 4})) == (("4",),)
    printed = one("y", result={"stdout": "3 failed or result.x, 4 failed"})
    assert Pattern(either, ("x",)).bindings(printed) == (("3",), ("4",))


def test_values_stand_in_every_kind_of_pattern() -> None:
    atom = Atom(
        argv=("rm", "{x}"),
        arguments={"command": "^rm '?{x}"},
        where={
            "arguments.command": Predicate(matches="{x}"),
            "result.path": Predicate(equals="{x}"),
        },
        result={"path": "{x}"},
    )
    pattern = Pattern(atom, ("x",))
    given = one("run_command", command="rm 'a*b'", result={"path": "a*b"})
    assert pattern.uses
    assert pattern.holds(given, ("a*b",))
    assert not pattern.holds(given, ("a.b",))
    assert not pattern.holds(one("run_command", command="rm axb", result={"path": "a*b"}), ("a*b",))


def test_other_events_are_steps_by_themselves() -> None:
    question = Question(scope="network", command="curl x", reason="")
    answer = Answer(approved=False, reason="No.")
    trace = entries(
        *step("1", "read_file")[:1],
        ("1", ApprovalAsked(question=question)),
        ("1", ApprovalDecided(question=question, answer=answer)),
        *step("1", "read_file")[1:],
    )
    found = list(everything(trace))
    assert [each.kind for each in found] == ["approval_asked", "approval_decided", "action"]
    assert [each.event for each in steps(trace)] == [0]
    denied = Atom(
        kind="approval_decided", where={"arguments.answer.approved": Predicate(equals=False)}
    )
    assert [matches(denied, each) for each in found] == [False, True, False]


def test_an_atom_in_words() -> None:
    atom = Atom(tests=(".",), exit_code=0)
    assert described(atom) == "a test run of the whole suite with exit code 0"
    assert described(Atom(kind="exec", argv=("git", "**", "push"))) == "a command git ** push"
    assert described(Atom(owner=Owner.USER)) == "a change of a path of owner user"
    assert described(Atom(reads="docs/*.md")) == "a reading of docs/*.md"
    assert described(Atom(action="apply_patch", changes="a.c")) == (
        "action apply_patch that writes a.c"
    )
    assert described(Atom(kind="committed")) == "a commit"
    wanted = {"result.failed": Predicate(more_than=0)}
    assert described(Atom(action="run_tests", where=wanted)) == (
        "action run_tests with result.failed more than 0"
    )
