"""How an action ends: carried out, or refused with a stable code and a sentence."""

import errno
from dataclasses import dataclass

from sandbox.model.base import Record
from sandbox.model.observation import ErrorCode, Observation

_CODES = {
    errno.ENOENT: (ErrorCode.NOT_FOUND, "does not exist"),
    errno.ENOTDIR: (ErrorCode.NOT_A_FOLDER, "is not a folder, or lies below a file"),
    errno.EISDIR: (ErrorCode.NOT_A_FILE, "is not a regular file"),
    errno.ENXIO: (ErrorCode.NOT_A_FILE, "is not a regular file"),
    errno.EINVAL: (ErrorCode.NOT_A_FILE, "is not a regular file"),
    errno.EOPNOTSUPP: (ErrorCode.NOT_A_FILE, "is not a regular file"),
    errno.EACCES: (ErrorCode.PERMISSION_DENIED, "may not be used by the agent's user"),
    errno.EPERM: (ErrorCode.PERMISSION_DENIED, "may not be used by the agent's user"),
    errno.EROFS: (ErrorCode.PERMISSION_DENIED, "lies on a read-only file system"),
    errno.EXDEV: (ErrorCode.FORBIDDEN_PATH, "leads out of the worktree"),
    errno.ELOOP: (ErrorCode.FORBIDDEN_PATH, "leads through symbolic links without end"),
    errno.ENAMETOOLONG: (ErrorCode.BAD_ARGUMENTS, "is too long for a path"),
    errno.EFBIG: (ErrorCode.TOO_LARGE, "is too large"),
    errno.ENOSPC: (ErrorCode.DISK_FULL, "could not be written: the container's disk is full"),
    errno.EDQUOT: (ErrorCode.DISK_FULL, "could not be written: the container's disk is full"),
    errno.EAGAIN: (ErrorCode.NO_PROCESSES, "could not be used: no further process can start"),
    errno.ENOMEM: (ErrorCode.NO_PROCESSES, "could not be used: the container's memory is full"),
}


@dataclass(frozen=True, slots=True)
class Performed:
    """What an action came to."""

    observation: Observation
    changed: tuple[str, ...] = ()
    """Paths that it wrote, relative to the worktree, as text."""


class Refusal(Exception):  # noqa: N818 - it is an answer to the agent, not a defect
    """An action that is not carried out; nothing was changed."""

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def done(result: Record, changed: tuple[str, ...] = ()) -> Performed:
    """Report an action that was carried out."""
    return Performed(Observation(result=result.model_dump(mode="json")), changed)


def refused(code: ErrorCode, message: str) -> Observation:
    """Report an action that was not carried out."""
    return Observation(status="error", error_code=code, message=message)


def refusal(error: OSError, subject: str) -> Refusal:
    """Say what the container's kernel refused, and for which path or program."""
    number = error.errno or 0
    if number in _CODES:
        code, phrase = _CODES[number]
    else:
        code, phrase = ErrorCode.PERMISSION_DENIED, f"was refused by the system: {error.strerror}"
    return Refusal(code, f"{subject} {phrase}.")
