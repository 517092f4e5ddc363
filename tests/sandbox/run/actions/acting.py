"""Carry an action out, and say what is expected of it."""

from dataclasses import replace
from typing import cast

from sandbox.model.action import Action
from sandbox.model.observation import ErrorCode
from sandbox.run.actions.registry import perform, prepare
from sandbox.run.actions.workspace import Workspace
from tests.sandbox.worlds import task


def result(action: Action, workspace: Workspace) -> dict[str, object]:
    observation = perform(prepare(action, workspace), workspace).observation
    assert observation.status == "ok", observation.message
    return cast(dict[str, object], observation.result)


def refusal(action: Action, workspace: Workspace) -> tuple[ErrorCode | None, str]:
    performed = perform(prepare(action, workspace), workspace)
    assert performed.observation.status == "error"
    assert performed.changed == ()
    return performed.observation.error_code, performed.observation.message or ""


def limited(workspace: Workspace, **limits: int) -> Workspace:
    return replace(workspace, task=task(limits=dict(limits)))
