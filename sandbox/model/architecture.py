"""A processor's architecture under its several names: `amd64` is what the kernel calls `x86_64`."""

_NAMES = {"amd64": "x86_64", "x64": "x86_64", "arm64": "aarch64"}
_NPM = {"x86_64": "x64", "aarch64": "arm64"}


def kernel_name(name: str) -> str:
    """Give what `uname -m` says, for a name of Docker's, Debian's or npm's; others as they are."""
    small = name.lower()
    return _NAMES.get(small, small)


def npm_name(name: str) -> str:
    """Give what npm calls it."""
    known = kernel_name(name)
    return _NPM.get(known, known)
