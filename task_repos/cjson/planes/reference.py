"""What RFC 8259 and RFC 3629 say of escapes: pairs are one code point, in four bytes."""


def bytes_of(arguments: list[int]) -> dict[str, object]:
    """Give the UTF-8 bytes of a code point in hexadecimal, as the driver prints them."""
    return {"exit_code": 0, "stdout": chr(arguments[0]).encode().hex() + "\n"}
