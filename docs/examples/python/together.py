"""Act in several tasks at once, in one thread of asyncio."""

import asyncio

import sandbox


async def look(task: str) -> float:
    """Run a task's tests and give up."""
    async with sandbox.open_async(task) as world:
        reply = await world.run_tests()
        print(task, reply.result["failed"], "failed")
    assert world.outcome is not None
    return world.outcome.rewards["progress"]


async def agent(world: sandbox.AsyncWorld) -> None:
    """Look, and give no answer."""
    await world.step("list_files")


async def main() -> None:
    """Do both."""
    print(await asyncio.gather(look("humanize/file-sizes"), look("inflection/house-terms")))
    outcomes = await sandbox.evaluate_async("inflection/house*", agent, trials=2, jobs=2)
    print([outcome.verdict for outcome in outcomes])


asyncio.run(main())
