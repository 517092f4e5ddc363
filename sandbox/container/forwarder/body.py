"""The body of a request that is to be passed on (RFC 9112, sections 6 and 7.1)."""

import io

from sandbox.container.mirror.http import BadRequestError, Request

BODY_LIMIT = 32 << 20
"""Bytes of a request's body."""
_LINE = 1024
_TRAILERS = 100


class TooLargeError(Exception):
    """There is more than is passed on."""


def read_body(request: Request, reader: io.BufferedReader) -> bytes:
    """Read a body to its end; BadRequestError where there is none, TooLargeError."""
    coding = request.header("Transfer-Encoding").strip().lower()
    if coding == "chunked":
        return _chunks(reader)
    length = request.header("Content-Length", "0").strip()
    if coding or not (length.isascii() and length.isdigit()):
        raise BadRequestError("the length of its body cannot be told")
    if len(length) > 12 or int(length) > BODY_LIMIT:
        raise TooLargeError
    return _exactly(reader, int(length))


def _chunks(reader: io.BufferedReader) -> bytes:
    body = bytearray()
    while True:
        words = reader.readline(_LINE).partition(b";")[0].strip()
        try:
            size = int(words, 16)
        except ValueError as error:
            raise BadRequestError("its body is not in chunks") from error
        if size < 0 or size > BODY_LIMIT - len(body):
            raise TooLargeError
        if size == 0:
            break
        body += _exactly(reader, size)
        if reader.readline(_LINE) not in (b"\r\n", b"\n"):
            raise BadRequestError("a chunk has no end")
    for _ in range(_TRAILERS):
        if reader.readline(_LINE) in (b"\r\n", b"\n", b""):
            return bytes(body)
    raise BadRequestError("its trailer has no end")


def _exactly(reader: io.BufferedReader, size: int) -> bytes:
    data = reader.read(size)
    if len(data) < size:
        raise BadRequestError("its body breaks off")
    return data
