"""Whatever is around an agent, all that it can do is found."""

import inspect
from collections.abc import Callable

import pytest

from sandbox.agents import base
from sandbox.agents.base import OPTIONAL, Agent, Wrapped, able
from sandbox.agents.minimal import MinimalAgent
from sandbox.agents.scripted import ScriptedAgent
from sandbox.model.event import Claimed
from sandbox.model.usage import ModelUsage
from sandbox.run.stop import Stop


class Able(ScriptedAgent):
    """Can do everything."""

    def cancel_with(self, cancel: Callable[[str], None]) -> None: ...

    def claim_with(self, claim: Callable[[Claimed], None]) -> None: ...

    def used(self) -> ModelUsage | None: ...


WRAPPERS: list[Callable[[Agent], Agent]] = [
    MinimalAgent,
    lambda agent: Stop().agent(agent),
    lambda agent: Stop().agent(MinimalAgent(agent)),
]


@pytest.mark.parametrize("kind", OPTIONAL)
@pytest.mark.parametrize("wrap", WRAPPERS)
def test_a_wrapper_hides_nothing_and_promises_nothing(
    wrap: Callable[[Agent], Agent], kind: type
) -> None:
    agent = Able(())
    assert able(wrap(agent), kind) is agent
    assert able(wrap(ScriptedAgent(())), kind) is None


def test_every_optional_contract_is_listed() -> None:
    contracts = {
        each
        for _, each in inspect.getmembers(base, inspect.isclass)
        if getattr(each, "_is_protocol", False) and each.__module__ == base.__name__
    }
    assert contracts - {Agent} == set(OPTIONAL)


def test_a_wrapper_passes_on_all_that_an_agent_does() -> None:
    def members(kind: type) -> set[str]:
        return {name for name in vars(kind) if not name.startswith("_")}

    assert members(Agent) <= members(Wrapped)
