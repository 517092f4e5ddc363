"""The loop of a model with tools; here a script plays the model."""

import json

import sandbox

SCRIPT = [("run_tests", {}), ("read_file", {"path": "src/humanize/filesize.py"})]


def agent(world: sandbox.World) -> dict | None:
    """Ask the model, do what it calls for, tell it what came of that."""
    tools = world.tools("openai")  # or "anthropic"
    messages = [{"role": "user", "content": world.prompt}]
    for name, arguments in SCRIPT:  # model.complete(messages, tools)
        assert name in {tool["function"]["name"] for tool in tools}
        reply = world.step(name, arguments)
        messages.append({"role": "tool", "content": json.dumps(reply.result)[:4000]})
    return None


print(sandbox.evaluate("humanize/file-sizes", agent, name="scripted")[0].verdict)
