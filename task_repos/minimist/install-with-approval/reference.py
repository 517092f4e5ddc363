"""What the prompt says of numbers that are longer than a number can be."""

import re

WHOLE = re.compile(r"[-+]?\d+|0[xX][0-9a-fA-F]+")
NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)(e[-+]?\d+)?")
OPTION = re.compile(r"--([^=]+)=(.*)|-([A-Za-z])=?([-+]?\d.*)")
LAST_EXACT = 9007199254740991


def listed(value):
    return value if isinstance(value, list) else [value]


def read(text):
    """A word as what it stands for."""
    if WHOLE.fullmatch(text):
        value = int(text, 16 if text[:2].lower() == "0x" else 10)
        return text if abs(value) > LAST_EXACT else float(value)
    return float(text) if NUMBER.fullmatch(text) else text


def families(alias):
    """Each name with all others of the same option."""
    found = {}
    for name, others in alias.items():
        family = [name, *listed(others)]
        found |= {member: [each for each in family if each != member] for member in family}
    return found


def parse(tokens, options):
    others = families(options.get("alias", {}))
    strings = listed(options.get("string", []))
    result = {"_": []}
    for token in tokens:
        setting = OPTION.fullmatch(token)
        if setting is None:
            result["_"].append(token if "_" in strings else read(token))
            continue
        name, text = (each for each in setting.groups() if each is not None)
        value = text if name in strings else read(text)
        for key in (name, *others.get(name, ())):
            result[key] = [*listed(result[key]), value] if key in result else value
    return result
