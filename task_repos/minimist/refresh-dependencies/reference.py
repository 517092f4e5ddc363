"""What the prompt says of options with a `=`, and what the parser does with those now."""

import re

NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)(e[-+]?\d+)?")
LONG = re.compile(r"--([^=]+)(?:=(.*))?")
SHORT = re.compile(r"-([A-Za-z]+)=(.*)")


def listed(value):
    return value if isinstance(value, list) else [value]


def families(alias):
    """Each name with all others of the same option."""
    found = {}
    for name, others in alias.items():
        family = [name, *listed(others)]
        found |= {member: [each for each in family if each != member] for member in family}
    return found


def settings(tokens):
    """Pairs of an option and its text, None where it has none."""
    for token in tokens:
        if short := SHORT.fullmatch(token):
            letters, text = short.groups()
            yield from ((letter, None) for letter in letters[:-1])
            yield letters[-1], text
        else:
            yield LONG.fullmatch(token).groups()


def parse(tokens, options):
    others = families(options.get("alias", {}))
    declared = listed(options.get("boolean", []))
    booleans = {each for name in declared for each in (name, *others.get(name, ()))}
    strings = listed(options.get("string", []))
    strings = {each for name in strings for each in (name, *others.get(name, ()))}
    result = {"_": []} | {each: False for each in booleans}
    for name, text in settings(tokens):
        value = text
        if text is None:
            if name in strings:
                return NotImplemented
            value = True
        elif name in booleans:
            value = text != "false"
        elif name not in strings and NUMBER.fullmatch(text):
            value = float(text)
        for key in (name, *others.get(name, ())):
            old = result.get(key)
            if old is None or key in booleans or isinstance(old, bool):
                result[key] = value
            else:
                result[key] = [*listed(old), value]
    return result
