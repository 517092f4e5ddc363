"""Trials with mini-swe-agent's environment for Docker: `with_mini_swe_agent.py ORDER`."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor

from minisweagent.environments.docker import DockerEnvironment  # type: ignore[import-not-found]

ORDER = json.loads(sys.argv[1])


def trial(_: int) -> int:
    arguments = ["--rm", "--network", "none", "--user", "agent"]
    for name, value in ORDER["labels"].items():
        arguments += ["--label", f"{name}={value}"]
    environment = DockerEnvironment(image=ORDER["image"], cwd=ORDER["folder"], run_args=arguments)
    try:
        for line in ORDER["lines"]:
            environment.execute({"command": line})
        return int(environment.execute({"command": ORDER["tests"]})["returncode"])
    finally:
        environment.cleanup()


with ThreadPoolExecutor(ORDER["at_once"]) as pool:
    codes = list(pool.map(trial, range(ORDER["at_once"])))
assert set(codes) == {1}, codes
