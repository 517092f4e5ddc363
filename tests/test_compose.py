"""docker-compose.yml gives away nothing of the host, and names what is there."""

from typing import Any

import yaml

from tests import ROOT

FILE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES: dict[str, dict[str, Any]] = FILE["services"]


def test_nothing_is_published_and_nothing_is_privileged() -> None:
    for name, service in SERVICES.items():
        assert not {"ports", "expose", "privileged", "pid", "ipc"} & set(service), name
        assert service["init"] is True, "who stops it would wait for a first process that is deaf"


def test_of_the_host_only_this_folder_is_seen_and_only_by_the_harness() -> None:
    mounts = {name: set(service["volumes"]) for name, service in SERVICES.items()}
    of_host = {
        name: {each for each in each_of if each.split(":")[0] not in FILE["volumes"]}
        for name, each_of in mounts.items()
    }
    assert of_host == {"engine": set(), "sandbox": {".:/project"}, "worker": {".:/project"}}


def test_the_socket_is_where_both_look_for_it() -> None:
    for service in SERVICES.values():
        assert service["environment"]["DOCKER_HOST"] == "unix:///run/sandbox/docker.sock"
        assert "socket:/run/sandbox" in service["volumes"]
    assert SERVICES["sandbox"]["depends_on"]["engine"] == {"condition": "service_healthy"}


def test_what_is_started_is_in_the_image() -> None:
    folder = ROOT / SERVICES["engine"]["build"]["context"]
    copied = (folder / "Dockerfile").read_text()
    for program in (*SERVICES["engine"]["command"], *SERVICES["sandbox"]["entrypoint"]):
        assert program in copied
        assert (folder / program).stat().st_mode & 0o111
