"""Let a function act in two tasks, twice each, two at once."""

import sandbox


def agent(world: sandbox.World) -> dict | None:
    """Look, mend nothing, and give no answer."""
    listed = world.step("list_files", recursive=True)
    assert listed.status == "ok"
    return None


outcomes = sandbox.evaluate(["inflection/house*", "humanize/file-sizes"], agent, trials=2, jobs=2)
for outcome in outcomes:
    print(outcome.task, outcome.verdict, outcome.how, outcome.rewards.get("progress"))
counted = [outcome.reward for outcome in outcomes if outcome.reward is not None]
print(sum(counted) / len(counted) if counted else "none counts")
