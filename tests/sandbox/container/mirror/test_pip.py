"""Real pip against the registry, and what its faults make of it."""

import json
import re
import sys
import urllib.request
from pathlib import Path

import pytest
from pydantic import JsonValue

from tests.sandbox.container.mirror.packages import Files, Running, call, running, sdist, wheel


@pytest.fixture
def files(tmp_path: Path) -> Files:
    folder = tmp_path / "files"
    folder.mkdir()
    return {
        **wheel(folder, "Plain.Name", "1.0"),
        **wheel(folder, "plain-name", "1.1", requires="needed >= 2"),
        **wheel(folder, "plain-name", "9.0", python=">=4"),
        **wheel(folder, "needed", "2.0"),
        **sdist(folder, "other", "1.0", python=">=3.8"),
    }


def install(where: Running, folder: Path, *words: str) -> tuple[int, str]:
    pip = (sys.executable, "-m", "pip", "install", "--no-cache-dir", "--disable-pip-version-check")
    return call(*pip, f"--target={folder / 'got'}", f"--index-url={where.index}", *words)


@pytest.mark.slow
def test_it_installs_what_is_needed_and_picks_the_version(files: Files, tmp_path: Path) -> None:
    with running(files) as where:
        code, output = install(where, tmp_path, "plain_name")
    assert code == 0, output
    assert re.search(r"installed needed-2.0 plain.name-1.1$", output, re.MULTILINE)
    assert (tmp_path / "got" / "plain_name.py").read_text().startswith("__version__ = '1.1'")
    assert set(where.statuses) == {200}


@pytest.mark.slow
def test_hashes_are_those_of_the_pins(files: Files, tmp_path: Path) -> None:
    digest = next(each.sha256 for each in files if each.name == "needed")
    requirements = tmp_path / "requirements.txt"
    requirements.write_text(f"needed==2.0 --hash=sha256:{digest}\n")
    with running(files) as where:
        code, output = install(where, tmp_path, "--require-hashes", "-r", str(requirements))
    assert code == 0, output


def test_what_is_not_served_is_not_found(files: Files, tmp_path: Path) -> None:
    with running(files) as where:
        code, output = install(where, tmp_path, "absent")
    assert code == 1
    assert "No matching distribution found for absent" in output
    assert where.statuses == [404]


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("*/*", "text/html"),
        ("text/html", "text/html"),
        ("application/vnd.pypi.simple.v1+html", "application/vnd.pypi.simple.v1+html"),
        ("application/vnd.pypi.simple.v1+json", "application/vnd.pypi.simple.v1+json"),
        (
            "application/vnd.pypi.simple.v1+json;q=0.1, application/vnd.pypi.simple.v1+html",
            "application/vnd.pypi.simple.v1+html",
        ),
        ("application/vnd.pypi.simple.v1+json;q=0..1", "application/vnd.pypi.simple.v1+json"),
    ],
)
def test_both_forms_of_the_index_say_the_same(files: Files, accept: str, kind: str) -> None:
    with running(files) as where:
        for path in ("simple/", "simple/plain-name/", "simple/Plain_Name"):
            asked = urllib.request.Request(f"{where.address}/{path}", headers={"Accept": accept})
            with urllib.request.urlopen(asked) as answer:
                assert answer.headers["Content-Type"] == kind
                text = answer.read().decode()
                address = answer.url
            if path == "simple/":
                assert [name for name in ("needed", "other", "plain-name") if name in text]
                continue
            assert address.endswith("/simple/plain-name/")
            for artifact in files:
                listed = artifact.filename in text and artifact.sha256 in text
                assert listed == (artifact.name in ("Plain.Name", "plain-name"))
            if kind.endswith("json"):
                found = {file["filename"]: file for file in json.loads(text)["files"]}
                assert found["plain_name-9.0-py3-none-any.whl"]["requires-python"] == ">=4"
            else:
                assert 'data-requires-python="&gt;=4"' in text


def fault(effect: str, **fields: JsonValue) -> dict[str, JsonValue]:
    return {"id": effect.replace("_", "-"), "effect": effect, **fields}


@pytest.mark.slow
def test_a_registry_that_is_unavailable_at_first_is_tried_again(
    files: Files, tmp_path: Path
) -> None:
    with running(files, fault("unavailable", package="needed", times=2)) as where:
        code, output = install(where, tmp_path, "needed")
    assert code == 0, output
    assert where.statuses == [503, 503, 200, 200]
    assert where.struck == [("unavailable", 1), ("unavailable", 2)]


def test_one_that_stays_unavailable_is_given_up(files: Files, tmp_path: Path) -> None:
    with running(files, fault("unavailable", path="simple/*")) as where:
        code, output = install(where, tmp_path, "--retries=1", "needed")
    assert code == 1, output
    assert where.statuses == [503, 503]


@pytest.mark.slow
@pytest.mark.parametrize("effect", ["wrong_hash", "truncated"])
def test_a_damaged_archive_is_refused_and_the_next_one_is_whole(
    files: Files, tmp_path: Path, effect: str
) -> None:
    with running(files, fault(effect, path="files/needed-*", times=1)) as where:
        code, output = install(where, tmp_path, "--retries=0", "needed")
        assert code == 1, output
        assert not (tmp_path / "got").exists()
        assert where.struck == [(effect.replace("_", "-"), 1)]
        if effect == "wrong_hash":
            assert "THESE PACKAGES DO NOT MATCH THE HASHES" in output
        code, output = install(where, tmp_path, "needed")
        assert code == 0, output


@pytest.mark.slow
def test_a_delay_is_longer_than_a_client_waits(files: Files, tmp_path: Path) -> None:
    late = fault("delay", package="needed", seconds=600, times=1)
    with running(files, late) as where:
        code, output = install(where, tmp_path, "--timeout=0.3", "--retries=0", "needed")
        assert code == 1, output
        assert where.struck == [("delay", 1)]
        assert install(where, tmp_path, "needed")[0] == 0
