"""`make machine`: engines that this machine has not, in the virtual machine of machine.yaml.

`python -m tests.machine podman` tries one of them. Each gets the tests of its contract and a run
of the oracle; 1 is the exit code where something failed. Without KVM it takes ten times as long.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

import yaml

from sandbox.container import engines
from sandbox.model import places
from sandbox.tasks import library
from sandbox.tasks.images import Images
from tests.machine.image import EngineSettings, Settings, image, project
from tests.machine.virtual import Machine, running

PYTHON = "/project/.venv/bin/python"


def saved(task: str) -> bytes:
    """Pack the image of a task: the machine reaches nothing that it could be built from."""
    engine = engines.connect()
    try:
        tag = Images(engine, places.cache()).ensure(library.load(task), print).tag
        with tempfile.TemporaryDirectory() as folder:
            engine.save(tag, Path(folder) / "image")
            return (Path(folder) / "image").read_bytes()
    finally:
        engine.close()


def tried(machine: Machine, name: str, engine: EngineSettings, settings: Settings) -> bool:
    """Whether all holds with an engine of the machine's."""
    user = settings.user if engine.as_user else "root"
    print(f"==> {name}", flush=True)
    machine.check(user, engine.begin)
    given = {**engine.environment, "SANDBOX_RUNS": f"/tmp/runs-{name}"}
    here = ("env", "-C", "/project", *(f"{key}={value}" for key, value in given.items()))
    codes = []
    for task in settings.tasks if engine.load else ():
        machine.check(user, engine.load, saved(task))
        run = (PYTHON, "-m", "sandbox", "run", task, "--agent", "oracle")
        codes.append(machine.run(user, *here, *run))
    pytest = (PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not slow")
    codes.append(machine.run(user, *here, *engine.within.split(), *pytest, *engine.tests))
    print(f"==> {name}: {'failed' if any(codes) else 'all holds'}", flush=True)
    return not any(codes)


def main() -> int:
    """Try the engines that are named, else all."""
    place = Path(__file__).with_name("machine.yaml")
    settings = Settings.model_validate(yaml.safe_load(place.read_text()))
    parser = argparse.ArgumentParser(prog="python -m tests.machine", description=__doc__)
    parser.add_argument("engines", nargs="*", metavar="ENGINE", help=", ".join(settings.engines))
    named = parser.parse_args().engines or list(settings.engines)
    if unknown := set(named) - set(settings.engines):
        parser.error(f"machine.yaml has no {', '.join(sorted(unknown))}")
    if os.geteuid():
        parser.error("only root can make the machine's disk")
    with running(image(settings), settings) as machine:
        machine.check("root", "tar xf - -C /project && chmod -R a+rX /project", project())
        results = [tried(machine, name, settings.engines[name], settings) for name in named]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
