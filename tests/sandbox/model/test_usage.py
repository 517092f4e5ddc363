"""What a model has used: from an agent's line to a run's sum."""

from sandbox.agents.requests import parse
from sandbox.model.action import Request
from sandbox.model.usage import ModelUsage, total


def test_a_request_may_say_what_its_model_has_used() -> None:
    request = parse(b'{"id": "1", "action": "git_diff", "usage": {"input_tokens": 7, "cost": 0.5}}')
    assert isinstance(request, Request)
    assert request.usage == ModelUsage(input_tokens=7, cost=0.5)


def test_usage_that_is_none_is_refused() -> None:
    line = b'{"id": "1", "action": "git_diff", "usage": {"input_tokens": -1}}'
    assert not isinstance(parse(line), Request)


def test_usage_adds_up_and_a_cost_is_there_where_one_is_named() -> None:
    assert total([]) is None
    first = ModelUsage(input_tokens=1, output_tokens=2, cached_tokens=1)
    assert total([first]) == first
    assert total([first, ModelUsage(input_tokens=3, cost=0.25)]) == ModelUsage(
        input_tokens=4, output_tokens=2, cached_tokens=1, cost=0.25
    )
