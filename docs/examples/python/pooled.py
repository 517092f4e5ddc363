"""Many short episodes of one task, from containers that are ready."""

import sandbox

with sandbox.Pool("humanize/file-sizes", 2, name="episodes") as pool:
    for _ in range(2):
        with pool.open() as world:
            print(world.run_command("git log --oneline").result["exit_code"])
