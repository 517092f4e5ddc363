"""An adapter in the shape of gymnasium's `Env`: reset, step, close."""

import sandbox

GUESSES = {"string": "?", "integer": 0, "number": 0.0, "boolean": False, "list": []}


class SandboxEnv:
    """An action is a pair of a name and its arguments; an observation is a reply."""

    def __init__(self, task: str) -> None:
        self.task, self.world = task, None

    def reset(self, seed: int | None = None) -> tuple[object, dict]:
        """Begin anew; of a task with operators, `seed` chooses the variant."""
        self.close()
        self.world = sandbox.open(f"{self.task}@{seed}" if seed else self.task)
        return self.world.briefing, {}

    def step(self, action: tuple[str, dict]) -> tuple[object, float, bool, bool, dict]:
        """Act once; the reward comes at the end."""
        reply = self.world.step(*action)
        over = self.world.over
        outcome = self.world.finish() if over else None
        reward = outcome.reward if outcome else 0.0
        return reply, reward, over, False, {"outcome": outcome}

    def close(self) -> None:
        """End what is open."""
        if self.world is not None:
            self.world.finish()


env = SandboxEnv("qs/guard-once+change-desk.2")
briefing, _ = env.reset(seed=7)
print(env.step(("run_command", {"command": "ls"}))[0].result["exit_code"])
fields = {name: GUESSES[kind] for name, kind in briefing.final.items()}
_, reward, over, _, info = env.step(("final_answer", {"fields": fields}))
print(reward, over, info["outcome"].how)
env.close()
