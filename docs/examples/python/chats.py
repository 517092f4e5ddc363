"""Roll out tasks for a trainer; here a script plays the model."""

import json

import sandbox


def model(messages: list[dict], tools: list[dict]) -> dict:
    """Call the first tool, then no other."""
    if len(messages) > 1:
        return {"role": "assistant", "content": "That is all."}
    call = {"name": tools[0]["function"]["name"], "arguments": json.dumps({"path": "."})}
    return {"role": "assistant", "tool_calls": [{"id": "1", "type": "function", "function": call}]}


environment = sandbox.ChatEnvironment("inflection/*")
for rollout in environment.rollouts(model, at_once=2):
    print(rollout["task"], rollout["reward"], len(rollout["completion"]), "messages")
