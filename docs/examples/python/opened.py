"""Act in a task step by step."""

import sandbox

with sandbox.open("humanize/file-sizes", name="by hand") as world:
    print(world.prompt[:60])
    reply = world.run_tests()
    print(reply.result["passed"], "passed,", reply.result["failed"], "failed")
    reply = world.run_command("git status --short", timeout_seconds=20)
    print(reply.status, reply.result["exit_code"], reply.turns_left)

outcome = world.outcome
print(outcome.verdict, outcome.reward, outcome.rewards)
print(outcome.reasons[0])
