"""Architectures: one processor under the names of the kernel, Docker, Debian and npm."""

import pytest

from sandbox.model.architecture import kernel_name, npm_name


@pytest.mark.parametrize(
    ("names", "kernel", "npm"),
    [
        (("x86_64", "amd64", "AMD64", "x64"), "x86_64", "x64"),
        (("aarch64", "arm64"), "aarch64", "arm64"),
        (("riscv64",), "riscv64", "riscv64"),
    ],
)
def test_all_names_of_one_processor_are_one(names: tuple[str, ...], kernel: str, npm: str) -> None:
    assert {kernel_name(name) for name in names} == {kernel}
    assert {npm_name(name) for name in names} == {npm}
