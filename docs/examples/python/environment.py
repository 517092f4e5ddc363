"""An adapter in the shape of gymnasium's `Env`; the seed chooses one of a task's variants."""

import sandbox


class SandboxEnv:
    """An action is a pair of a name and its arguments; an observation is a reply."""

    def __init__(self, task: str) -> None:
        self.task = task

    def reset(self, seed: int) -> tuple[object, dict]:
        """Begin anew."""
        self.world = sandbox.open(f"{self.task}@{seed}")
        return self.world.briefing, {}

    def step(self, action: tuple[str, dict]) -> tuple[object, float, bool, bool, dict]:
        """Act once; the reward comes at the end."""
        reply, over = self.world.step(*action), self.world.over
        reward = self.world.finish().reward if over else 0.0
        return reply, reward, over, False, {"outcome": self.world.outcome}


env = SandboxEnv("qs/guard-once+change-desk.2")
briefing, _ = env.reset(seed=7)
print(env.step(("run_command", {"command": "ls"}))[0].result["exit_code"])
print(env.world.finish().reward)
