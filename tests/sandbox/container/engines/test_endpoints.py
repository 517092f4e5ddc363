import hashlib
import json
from pathlib import Path
from unittest.mock import Mock

import pytest

from sandbox.container.engines import connect
from sandbox.container.engines.endpoints import Certificates, Endpoint, candidates, chosen
from sandbox.model.errors import EngineError


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    """Docker's settings, with the context `far`."""
    folder = tmp_path / "contexts/meta" / hashlib.sha256(b"far").hexdigest()
    folder.mkdir(parents=True)
    described = {"Name": "far", "Endpoints": {"docker": {"Host": "tcp://far:2376"}}}
    (folder / "meta.json").write_text(json.dumps(described))
    (tmp_path / "config.json").write_text(json.dumps({"currentContext": "far"}))
    return tmp_path


def test_the_usual_sockets_are_tried_in_order(tmp_path: Path) -> None:
    environment = {"DOCKER_CONFIG": str(tmp_path), "XDG_RUNTIME_DIR": "/run/user/7"}
    addresses = [each.address for each in candidates(environment)]
    assert addresses[0] == "unix:///var/run/docker.sock"
    assert addresses[-2:] == [
        "unix:///run/user/7/podman/podman.sock",
        "unix:///run/podman/podman.sock",
    ]
    assert chosen(environment) is None


def test_docker_host_is_the_only_one(settings: Path) -> None:
    environment = {"DOCKER_CONFIG": str(settings), "DOCKER_HOST": "tcp://near:2375"}
    assert candidates(environment) == [Endpoint("tcp://near:2375", "DOCKER_HOST")]


def test_docker_host_may_want_certificates() -> None:
    environment = {
        "DOCKER_HOST": "tcp://near:2376",
        "DOCKER_TLS_VERIFY": "1",
        "DOCKER_CERT_PATH": "/keys",
    }
    (only,) = candidates(environment)
    assert only.certificates == Certificates(Path("/keys"), verify=True)


def test_the_current_context_is_the_only_one(settings: Path) -> None:
    (only,) = candidates({"DOCKER_CONFIG": str(settings)})
    assert only == Endpoint("tcp://far:2376", "Docker context 'far'")
    assert candidates({"DOCKER_CONFIG": str(settings), "DOCKER_CONTEXT": "far"}) == [only]
    assert len(candidates({"DOCKER_CONFIG": str(settings), "DOCKER_CONTEXT": "default"})) > 1


def test_a_context_brings_its_certificates(settings: Path) -> None:
    keys = settings / "contexts/tls" / hashlib.sha256(b"far").hexdigest() / "docker"
    keys.mkdir(parents=True)
    (only,) = candidates({"DOCKER_CONFIG": str(settings)})
    assert only.certificates == Certificates(keys, verify=True)


def test_a_context_that_is_missing_is_an_error(settings: Path) -> None:
    with pytest.raises(EngineError, match="'gone'"):
        candidates({"DOCKER_CONFIG": str(settings), "DOCKER_CONTEXT": "gone"})


def test_settings_that_are_no_json_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(EngineError, match=r"config\.json"):
        candidates({"DOCKER_CONFIG": str(tmp_path)})


def test_where_none_answers_the_error_says_where_it_looked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    with pytest.raises(EngineError) as caught:
        connect()
    assert f"unix://{tmp_path}/none.sock (DOCKER_HOST): there is no such socket" in str(
        caught.value
    )
    assert caught.value.next_step == "Run `sandbox doctor --mend`."


def test_a_socket_that_cannot_be_looked_at_is_named_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As a folder of root's for who is not root; root sees into all of those.
    monkeypatch.setattr(Path, "stat", Mock(side_effect=PermissionError(13, "Permission denied")))
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/engine.sock")
    with pytest.raises(EngineError, match="may not look at it: Permission denied"):
        connect()


def test_a_port_that_refuses_is_named_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
    with pytest.raises(EngineError, match=r"127\.0\.0\.1:1 \(DOCKER_HOST\): Connection refused"):
        connect()
