"""Trials with nothing but docker-py: `with_docker_py.py ORDER`, the order as JSON."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor

import docker

ORDER = json.loads(sys.argv[1])


def trial(_: int) -> int | None:
    client = docker.from_env()
    container = client.containers.run(
        ORDER["image"], ["sleep", "600"], detach=True, network_mode="none", labels=ORDER["labels"]
    )
    try:
        for line in ORDER["lines"]:
            container.exec_run(["bash", "-c", line], user="agent", workdir=ORDER["folder"])
        tests = ["bash", "-c", ORDER["tests"]]
        return container.exec_run(tests, user="agent", workdir=ORDER["folder"]).exit_code
    finally:
        container.remove(force=True)
        client.close()


with ThreadPoolExecutor(ORDER["at_once"]) as pool:
    codes = list(pool.map(trial, range(ORDER["at_once"])))
assert set(codes) == {1}, codes
