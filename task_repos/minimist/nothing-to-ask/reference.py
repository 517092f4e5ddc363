"""What the prompt says of negative numbers behind options."""

import re

NEGATIVE = re.compile(r"-(\d+(\.\d*)?|\.\d+)(e[-+]?\d+)?")
NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)(e[-+]?\d+)?")
SETTING = re.compile(r"--([^=]+)=(.*)|-([A-Za-z])=(.*)")
LONG = re.compile(r"--([^=]+)")
SHORT = re.compile(r"-([A-Za-z]+)")


def listed(value):
    return value if isinstance(value, list) else [value]


def is_option(word):
    return word.startswith("-") and not NEGATIVE.fullmatch(word)


class Parsed:
    """What has been read so far."""

    def __init__(self, options):
        alias = options.get("alias", {})
        families = [[name, *listed(others)] for name, others in alias.items()]
        self.families = {member: family for family in families for member in family}
        self.all_boolean = options.get("boolean") is True
        self.booleans = set() if self.all_boolean else self.members(options.get("boolean", []))
        self.strings = self.members(options.get("string", []))
        self.result = {"_": []} | dict.fromkeys(self.booleans, False)

    def family(self, name):
        return self.families.get(name, [name])

    def members(self, names):
        return {member for name in listed(names) for member in self.family(name)}

    def set(self, name, value):
        if isinstance(value, str) and name not in self.strings and NUMBER.fullmatch(value):
            value = float(value)
        for key in self.family(name):
            old = self.result.get(key)
            several = not (old is None or isinstance(old, bool) or key in self.booleans)
            self.result[key] = [*listed(old), value] if several else value


def parse(tokens, options):
    parsed = Parsed(options)
    left = list(tokens)
    while left:
        token = left.pop(0)
        if setting := SETTING.fullmatch(token):
            name, text = (each for each in setting.groups() if each is not None)
            parsed.set(name, text != "false" if name in parsed.booleans else text)
            continue
        long, short = LONG.fullmatch(token), SHORT.fullmatch(token)
        if not long and not short:
            if not token.startswith("-"):
                parsed.result["_"].append(float(token) if NUMBER.fullmatch(token) else token)
            elif len(token) == 2 and (not left or is_option(left[0])):
                parsed.set(token[1], True)
            else:
                return NotImplemented
            continue
        *before, name = [long[1]] if long else short[1]
        for letter in before:
            parsed.set(letter, "" if letter in parsed.strings else True)
        takes = name not in parsed.booleans
        if parsed.all_boolean:
            if short:
                return NotImplemented
            takes = False
        if takes and left and not is_option(left[0]):
            parsed.set(name, left.pop(0))
        else:
            parsed.set(name, "" if name in parsed.strings else True)
    return parsed.result
