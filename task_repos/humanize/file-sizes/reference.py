"""The size in words as the prompt defines it, by exact arithmetic."""

from fractions import Fraction

DECIMAL = (" kB", " MB", " GB", " TB", " PB", " EB", " ZB", " YB", " RB", " QB")
BINARY = (" KiB", " MiB", " GiB", " TiB", " PiB", " EiB", " ZiB", " YiB", " RiB", " QiB")
GNU = tuple("KMGTPEZYRQ")
TIE = Fraction(1, 10**6)
"""How near to the middle of two roundings the prompt does not say which one it is."""


def naturalsize(value, binary=False, gnu=False, format="%.1f"):
    number = float(value) if isinstance(value, str) else value
    exact = Fraction(number)
    base = 1024 if binary or gnu else 1000
    if abs(exact) < base:
        if gnu:
            return f"{int(number)}B"
        return f"{int(number)} Byte" if abs(exact) == 1 else f"{int(number)} Bytes"
    units = GNU if gnu else BINARY if binary else DECIMAL
    power = 1
    while power < len(units) and abs(exact) >= base ** (power + 1):
        power += 1
    quotient = exact / base**power
    scaled = abs(quotient) * 10 ** int(format[2:-1])
    if abs(scaled % 1 - Fraction(1, 2)) < TIE:
        return NotImplemented
    return format % float(quotient) + units[power - 1]
