"""What stands for images of others, and which Dockerfiles can be built upon."""

import pytest

from sandbox.model.errors import ImageError
from sandbox.tasks.images.foreign import from_of, standing_for


@pytest.mark.parametrize(
    ("reference", "packages"),
    [
        ("ubuntu:24.04", ()),
        ("debian", ()),
        ("docker.io/library/ubuntu:24.04", ()),
        ("public.ecr.aws/docker/library/python:3.12-slim-bookworm", ("python3-pip",)),
        ("python:3.11-slim@sha256:" + "0" * 64, ("python3-pip",)),
        ("python:3.13-slim-bookworm", ("python3-pip",)),
        ("ghcr.io/laude-institute/t-bench/python-3-13:20250620", ("tmux",)),
        ("buildpack-deps:jammy", ("build-essential",)),
    ],
)
def test_a_known_image_has_a_stand_in(reference: str, packages: tuple[str, ...]) -> None:
    row = standing_for(reference)
    assert row is not None
    assert set(packages) <= set(row.packages)


def test_an_unknown_image_has_none() -> None:
    assert standing_for("swebench/sweb.eval.x86_64.sympy:latest") is None
    assert standing_for("evil.example.org/ubuntu:24.04") is None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("FROM ubuntu:24.04\nRUN true\n", "ubuntu:24.04"),
        ("FROM debian:bookworm AS only\r\nRUN true\r\n", "debian:bookworm"),
        ("# canary\nfrom --platform=linux/amd64 python:3.13\n", "python:3.13"),
    ],
)
def test_the_one_image_that_a_dockerfile_is_from(text: str, found: str) -> None:
    assert from_of(text) == found


@pytest.mark.parametrize("text", ["RUN true\n", "FROM a AS b\nFROM c\n", "", "FROM python:$V\n"])
def test_several_stages_none_or_a_variable_are_refused(text: str) -> None:
    with pytest.raises(ImageError):
        from_of(text)
