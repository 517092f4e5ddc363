"""Whether the value of a field of the final answer is as a task expects it."""

from pydantic import JsonValue

from sandbox.model.final import TYPES, FinalField, plain_text, quantity
from sandbox.rules.monitors.atoms import equal


def problem(field: FinalField, value: JsonValue) -> str:
    """Say what is wrong with a value, as the rest of a sentence; empty where it is as expected."""
    # A boolean is an integer to Python and not to JSON, hence the exact type.
    if type(value) not in TYPES[field.type]:
        return f"is {value!r}, which is no {field.type}"
    if field.expect is None:
        return ""
    return "" if same(field, value) else f"is {value!r}, not {field.expect!r}"


def same(field: FinalField, value: JsonValue) -> bool:
    """Compare as the field says, never by parts."""
    wanted = field.expect
    match field.compare, value, wanted:
        case "text", str(), str():
            return plain_text(value) == plain_text(wanted)
        case "quantity", str(), str():
            return quantity(value) == quantity(wanted)
        case "unordered", list(), list():
            left = list(wanted)
            for each in value:
                found = next((place for place, one in enumerate(left) if equal(each, one)), None)
                if found is None:
                    return False
                left.pop(found)
            return not left
    # 3 and 3.0 are the same number; everywhere else the type counts too.
    return value == wanted if field.type == "number" else equal(value, wanted)
