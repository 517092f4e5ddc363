"""machine.yaml names what there is; the machine itself is tried by `make machine`."""

from pathlib import Path

import yaml

from sandbox.tasks import library
from tests import ROOT
from tests.machine.image import Settings

FILE = Path(__file__).with_name("machine.yaml")
SETTINGS = Settings.model_validate(yaml.safe_load(FILE.read_text()))


def test_what_is_tried_there_is_here() -> None:
    for engine in SETTINGS.engines.values():
        assert all((ROOT / each.partition("::")[0]).exists() for each in engine.tests)
    for task in SETTINGS.tasks:
        assert library.load(task)


def test_each_engine_is_reached_by_an_address_of_its_own() -> None:
    loaded = {name: each for name, each in SETTINGS.engines.items() if each.load}
    native = loaded.pop("native-rootless")
    assert native.environment["SANDBOX_ENGINE"] == "native"
    addresses = [engine.environment["DOCKER_HOST"] for engine in loaded.values()]
    assert len(set(addresses)) == len(addresses)
