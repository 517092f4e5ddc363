"""How nodes are printed, and what a node class offers, by the words of the prompt."""

BARE = {"break;": "Break", "continue;": "Continue", ";": "EmptyStatement"}


def shown(name, fields):
    """A node: a field per line, each line but the first as far to the right as the fields begin."""
    width = len(name) + 1
    lines = []
    for key, text in fields:
        below = " " * (width + len(key) + 1)
        lines.append(f"{key}=" + text.replace("\n", "\n" + below))
    if not lines:
        return f"{name}()"
    return f"{name}(" + f",\n{' ' * width}".join(lines) + f"\n{' ' * width})"


def listed(items):
    return "[" + ",\n ".join(item.replace("\n", "\n ") for item in items) + "\n]"


def statement(text):
    if text in BARE:
        return shown(BARE[text], [])
    if text.startswith("goto"):
        return shown("Goto", [("name", repr(text[5:-1]))])
    constant = [("type", "'int'"), ("value", repr(text[7:-1]))]
    return shown("Return", [("expr", shown("Constant", constant))])


def printed(arguments):
    """The body of a function with these statements."""
    items = listed([statement(text) for text in arguments])
    return {"exit_code": 0, "stdout": shown("Compound", [("block_items", items)]) + "\n"}


def offered(arguments):
    """A line for each class: its slots, how it is printed, whether a weak reference holds."""
    lines = []
    for number, entries in enumerate(arguments):
        fields = [entry.strip().rstrip("*") for entry in entries.split(",") if entry]
        slots = (*fields, "coord", "__weakref__")
        text = shown(f"Node{number}", [(field, "7") for field in fields])
        lines.append(f"{slots!r} {text!r} True\n")
    return {"exit_code": 0, "stdout": "".join(lines)}
