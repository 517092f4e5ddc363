"""What RFC 8259 and RFC 3629 say of escapes: pairs are one code point, in four bytes."""


def bytes_of(arguments: list[str | int]) -> dict[str, object]:
    """Give the UTF-8 bytes of code points in hexadecimal, as the driver prints them."""
    text = "".join(chr(int(point)) for point in arguments[1:])
    return {"exit_code": 0, "stdout": text.encode().hex() + "\n"}
