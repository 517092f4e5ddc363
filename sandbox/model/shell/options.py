"""The words of a program: where its options end, and which value an option has."""

from sandbox.model.shell.table import Program


def after_options(words: tuple[str, ...], program: Program) -> tuple[str, ...]:
    """Leave out the options in front of the first operand, with the values that they take."""
    place = 0
    while place < len(words) and words[place][:1] in ("-", "+") and len(words[place]) > 1:
        if words[place] == "--":
            return words[place + 1 :]
        place += 2 if words[place] in program.value_options else 1
    return words[place:]


def option_value(letter: str, words: tuple[str, ...], program: Program) -> tuple[str, ...] | None:
    """Return what follows `-c` among the leading options: its value, then the other words.

    The letter may end a cluster (`-lc`), or its value stand in the same word (`-mpip`).
    """
    place = 0
    taken = {option[1] for option in program.value_options if len(option) == len("-x")}
    taken |= {program.text_option or "", program.module_option or ""} - {letter}
    while place < len(words) and words[place][:1] in ("-", "+") and len(words[place]) > 1:
        word, rest = words[place], words[place + 1 :]
        if word == "--":
            return None
        if word[0] == "-" and word[1] != "-" and word not in program.value_options:
            before, found, after = word[1:].partition(letter)
            if found and not set(before) & taken:
                return (after, *rest) if after and not program.shell else rest or None
        place += 2 if word in program.value_options else 1
    return None
