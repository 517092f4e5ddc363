"""What parameters are parsed to, given as a dictionary from key to text."""

import re

INHERITED = {
    *("__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__", "__proto__"),
    *("constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable"),
    *("toLocaleString", "toString", "valueOf"),
}


def parse(parameters, options=None):
    options = options or {}
    result = {}
    for key, text in parameters.items():
        names, rest = taken_apart(key, options.get("depth", 5))
        if INHERITED.intersection(names):
            if not options.get("allowPrototypes", False):
                continue
            if "__proto__" in names:
                return NotImplemented
        if not laid(result, [*names, *rest], text):
            return NotImplemented
    return result


def taken_apart(key, depth):
    """The names of a key down to a depth, and what is left of it as one more name."""
    if depth == 0:
        return [key], []
    first, *inner = re.findall(r"[^\[\]]+", key)
    left = "".join(f"[{name}]" for name in inner[depth:])
    return [first, *inner[:depth]], [left] if left else []


def laid(result, names, text):
    """Lay a text into a tree; where something else is in the way, the prompt says nothing of it."""
    *folders, last = names
    for name in folders:
        result = result.setdefault(name, {})
        if not isinstance(result, dict):
            return False
    if last in result:
        return False
    result[last] = text
    return True
